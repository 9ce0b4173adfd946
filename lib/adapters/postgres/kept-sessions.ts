import type { PostgresConnection } from "../../model/workspace.ts";
import { DatabaseUnavailable } from "../../monitoring/ports.ts";
import { closeQuietly, createIdleSessions, isBroken } from "./idle-sessions.ts";
import { sqlState } from "./patience.ts";
import { DeadlinePassed, openSession, type Row, type Session } from "./session.ts";

/** A session for one request, its troubles told as `DatabaseUnavailable`. */
export interface KeptSession {
  query(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  giveBack(): Promise<void>;
}

export interface KeptSessions {
  take(connection: PostgresConnection): Promise<KeptSession>;
}

/** How long an idle session is kept for the next request. */
const KEPT_MILLISECONDS = 5000;

/** Sessions of this process, used again by the next request for the same database. */
export function keepSessions(now: () => Date): KeptSessions {
  const idle = createIdleSessions(now, KEPT_MILLISECONDS);
  return {
    take: async (connection) => {
      let session = idle.take(connection.url);
      let wasKept = session !== null;
      session ??= await open(connection);
      return {
        query: async (text, values = []) => {
          try {
            session ??= await open(connection);
            return await session.query(text, values);
          } catch (error) {
            if (!isBroken(error, session)) throw asUnavailable(error);
            closeQuietly(session);
            session = null;
            if (!wasKept) throw asUnavailable(error);
          }
          // The server closed it while nobody used it.
          wasKept = false;
          session = await open(connection);
          return session.query(text, values).catch((error: unknown) => {
            throw asUnavailable(error);
          });
        },
        giveBack: async () => {
          if (session) idle.keep(connection.url, session);
        },
      };
    },
  };
}

async function open(connection: PostgresConnection): Promise<Session> {
  try {
    return await openSession(connection);
  } catch (error) {
    throw new DatabaseUnavailable("connect", whyNoConnection(error), error);
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
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = REFUSALS[code];
  if (known !== undefined) return known;
  if (/timeout/i.test(String(error))) return "it did not answer in time";
  if (/certificate|self.signed|SSL|TLS/i.test(`${code} ${String(error)}`))
    return "its TLS certificate was not accepted";
  return code === "" ? "no connection could be made" : `no connection could be made (${code})`;
}

/** What PostgreSQL itself refused for a reason of our own making stays a fault; the rest is the database's trouble. */
function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error;
  if (error instanceof DeadlinePassed) return new DatabaseUnavailable("query", "it did not answer in time", error);
  const state = sqlState(error);
  if (state === null) return new DatabaseUnavailable("query", "the connection broke", error);
  if (state === "42501") return new DatabaseUnavailable("query", "its user may not read the service's tables", error);
  if (/^(08|53|57)/.test(state)) return new DatabaseUnavailable("query", `it refused the query (${state})`, error);
  return error;
}
