import { setTimeout as pause } from "node:timers/promises";
import type { PostgresConnection } from "../../../model/workspace/workspace.ts";
import { DatabaseUnavailable, type SilentDatabases } from "../../../monitoring/ports.ts";
import { retry } from "../../retry.ts";
import { connectionTrouble } from "./connection-trouble.ts";
import { createIdleSessions, type IdleSessions, isBroken } from "./idle-sessions.ts";
import { ProtocolViolation } from "./protocol-violation.ts";
import { openOnSchema } from "./schema-version.ts";
import { DeadlinePassed } from "./session.ts";
import { NoConnectionFree } from "./session-limit.ts";
import { type SingleProbe, singleProbe } from "./single-probe.ts";
import type { Row, Session, TransactionSettings, Values } from "./sql.ts";
import { isClash, sqlState } from "./sql-errors.ts";

/**
 * A database for one request, its errors thrown as `DatabaseUnavailable`; a query opens a session where none is idle, and
 * leaves it to the next. What a deadlock or a serialization failure has undone is done again, at most three times: a request
 * locks in the order of cycles (`fence.ts`), but the customer's own transactions have theirs.
 */
export interface KeptSession {
  /** Opens a session, where none is idle, without a question. */
  connect(): Promise<void>;
  query(text: string, values?: Values): Promise<readonly Row[]>;
  /** As `Session` has it, with the session that `work` asks. */
  transaction<T>(
    settings: TransactionSettings,
    first: string,
    work: (session: Session, rows: readonly Row[]) => Promise<T>,
  ): Promise<T>;
}

export interface KeptSessions {
  take(connection: PostgresConnection): KeptSession;
}

const ATTEMPTS = 4;
/** Before each further attempt, times its number: a new one at once can lock before the transaction that it made wait. */
const AWAY_MILLISECONDS = 100;

/** How long an idle session is kept for the next query. */
const KEPT_MILLISECONDS = 1_000;
/** How long a session may be silent; then the server ends it, for the function may be frozen. */
const SILENT_MILLISECONDS = 5_000;
/** How long a request waits that finds all in use: until the server has ended those that frozen functions left. */
const WAIT_MILLISECONDS = SILENT_MILLISECONDS + 1_000;

/** Sessions of this process, used again by the next query of the same database. */
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
      const once = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
        const kept = idle.take()?.session;
        try {
          if (kept) return await idle.use(kept, work);
        } catch (error) {
          // Else the server closed it while it was idle.
          if (!isBroken(error, kept ?? null) || error instanceof DeadlinePassed) throw error;
        }
        return await idle.use(await open(connection, watch), work);
      };
      const ask = <T>(work: (session: Session) => Promise<T>): Promise<T> =>
        retry(
          ATTEMPTS,
          isClash,
          () => once(work),
          (attempt) => pause(attempt * AWAY_MILLISECONDS),
        ).catch((error: unknown) => {
          throw asUnavailable(error);
        });
      return {
        connect: () => once(async () => undefined),
        query: (text, values = []) => ask((of) => of.query(text, values)),
        transaction: (settings, first, work) => ask((of) => of.transaction(settings, first, (rows) => work(of, rows))),
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
    const isNamed = error instanceof NoConnectionFree || error instanceof ProtocolViolation;
    const message = isNamed ? error.message : connectionTrouble(error).message;
    throw new DatabaseUnavailable("connect", message, error, sqlState(error) === "53300");
  }
}

/** What PostgreSQL itself refused for a reason of our own making stays a fault; the rest is the database's trouble. */
function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  if (error instanceof DeadlinePassed) return new DatabaseUnavailable("query", "it did not answer in time", error);
  if (error instanceof ProtocolViolation) return new DatabaseUnavailable("query", error.message, error);
  const state = sqlState(error);
  if (isClash(error))
    return new DatabaseUnavailable("query", "other transactions were in its way each time", error, true);
  if (state === null) return new DatabaseUnavailable("query", "the connection broke", error);
  if (state === "42501") return new DatabaseUnavailable("query", "its user may not read the service's tables", error);
  if (state.startsWith("22"))
    return new DatabaseUnavailable("query", `the service's tables hold what it has not written (${state})`, error);
  if (/^(08|53|57)/.test(state)) return new DatabaseUnavailable("query", `it refused the query (${state})`, error);
  return error;
}
