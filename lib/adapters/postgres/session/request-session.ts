import type { PostgresConnection } from "../../../model/workspace/workspace.ts";
import { DatabaseUnavailable, type SilentDatabases } from "../../../monitoring/ports.ts";
import { retry } from "../../retry.ts";
import { closeQuietly, createIdleSessions, type IdleSessions, isBroken } from "./idle-sessions.ts";
import { ProtocolViolation } from "./protocol-violation.ts";
import { openOnSchema } from "./schema-version.ts";
import { DeadlinePassed } from "./session.ts";
import { NoConnectionFree } from "./session-limit.ts";
import { type SingleProbe, singleProbe } from "./single-probe.ts";
import type { Row, Session, TransactionSettings } from "./sql.ts";
import { isClash, sqlState } from "./sql-errors.ts";

/**
 * A session for one request, its errors thrown as `DatabaseUnavailable`; the first query opens it. One query at a time.
 * What a deadlock or a serialization failure has undone is done again, once: a request locks in the order of cycles
 * (`fence.ts`), but the customer's own transactions have theirs.
 */
export interface KeptSession {
  /** Takes a session without a question. */
  connect(): Promise<void>;
  query(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** As `Session` has it, with the session that `work` asks. */
  transaction<T>(
    settings: TransactionSettings,
    first: string,
    work: (session: Session, rows: readonly Row[]) => Promise<T>,
  ): Promise<T>;
  /** Until the next question, if there is one. */
  giveBack(): void;
}

export interface KeptSessions {
  take(connection: PostgresConnection): KeptSession;
}

/** How long an idle session is kept for the next request. */
const KEPT_MILLISECONDS = 1_000;
/** How long one request may leave its session silent; then the server ends it, for the function may be frozen. */
const SILENT_MILLISECONDS = 5_000;
/** How long a request waits that finds all in use: until the server has ended those that frozen functions left. */
const WAIT_MILLISECONDS = SILENT_MILLISECONDS + 1_000;

/** Sessions of this process, used again by the next request for the same database. */
export function keepSessions(now: () => Date, silent?: SilentDatabases): KeptSessions {
  const watch = silent && singleProbe(silent, now);
  const byUrl = new Map<string, IdleSessions>();
  const idleOf = (url: string): IdleSessions => {
    const idle = byUrl.get(url) ?? createIdleSessions(now, KEPT_MILLISECONDS);
    byUrl.set(url, idle);
    return idle;
  };
  return {
    take: (connection) => {
      const idle = idleOf(connection.url);
      let session: Session | null = null;
      let wasKept = false;
      const take = async (): Promise<Session> => {
        if (session === null) {
          session = idle.take()?.session ?? null;
          wasKept = session !== null;
        }
        session ??= await open(connection, watch);
        return session;
      };
      const once = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
        try {
          return await work(await take());
        } catch (error) {
          if (!isBroken(error, session)) throw error;
          closeQuietly(session);
          session = null;
          if (!wasKept || error instanceof DeadlinePassed) throw error;
        }
        // The server closed it while it was idle.
        wasKept = false;
        session = await open(connection, watch);
        return await work(session);
      };
      const ask = <T>(work: (session: Session) => Promise<T>): Promise<T> =>
        retry(2, isClash, () => once(work)).catch((error: unknown) => {
          throw asUnavailable(error);
        });
      return {
        connect: async () => void (await take()),
        query: (text, values = []) => ask((of) => of.query(text, values)),
        transaction: (settings, first, work) => ask((of) => of.transaction(settings, first, (rows) => work(of, rows))),
        giveBack: () => {
          if (session) idle.keep(session);
          session = null;
        },
      };
    },
  };
}

async function open(connection: PostgresConnection, watch: SingleProbe | undefined): Promise<Session> {
  try {
    return await openOnSchema(connection, {
      idleMilliseconds: SILENT_MILLISECONDS,
      waitMilliseconds: WAIT_MILLISECONDS,
      watch,
    });
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    throw new DatabaseUnavailable("connect", whyNoConnection(error), error, sqlState(error) === "53300");
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens at its address",
  ENOTFOUND: "its host name is unknown",
  EAI_AGAIN: "its host name could not be resolved now",
  EHOSTUNREACH: "its host cannot be reached",
  EHOSTREFUSED: "its host points to an address that this service does not connect to",
  ENETUNREACH: "its network cannot be reached",
  ETIMEDOUT: "it did not answer in time",
  ECONNRESET: "it broke off the connection",
  "28P01": "it refuses the password",
  "28000": "it refuses the user",
  "3D000": "there is no database of this name",
  "53300": "it has no connection left",
  "57P03": "it is starting or stopping",
};

function whyNoConnection(error: unknown): string {
  if (error instanceof NoConnectionFree || error instanceof ProtocolViolation) return error.message;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = REFUSALS[code];
  if (known !== undefined) return known;
  if (/timeout/i.test(String(error))) return "it did not answer in time";
  if (/certificate|self.signed|SSL|TLS/i.test(`${code} ${String(error)}`))
    return "its TLS certificate was not accepted";
  return code === "" ? "the connection failed" : `the connection failed (${code})`;
}

/** What PostgreSQL itself refused for a reason of our own making stays a fault; the rest is the database's trouble. */
function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  if (error instanceof DeadlinePassed) return new DatabaseUnavailable("query", "it did not answer in time", error);
  if (error instanceof ProtocolViolation) return new DatabaseUnavailable("query", error.message, error);
  const state = sqlState(error);
  if (state === null) return new DatabaseUnavailable("query", "the connection broke", error);
  if (state === "42501") return new DatabaseUnavailable("query", "its user may not read the service's tables", error);
  if (state.startsWith("22"))
    return new DatabaseUnavailable("query", `the service's tables hold what it has not written (${state})`, error);
  if (/^(08|53|57)/.test(state)) return new DatabaseUnavailable("query", `it refused the query (${state})`, error);
  return error;
}
