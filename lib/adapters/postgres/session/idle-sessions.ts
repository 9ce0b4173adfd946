import { codeOf } from "../../../model/fault.ts";
import type { Session } from "./sql.ts";
import { sqlState } from "./sql-errors.ts";

/** Sessions of one database, which are used again and again. */
export interface IdleSessions {
  /** The one used last that is alive and not too old, and for how long it was silent; null: there is none. */
  take(): { readonly session: Session; readonly silentMilliseconds: number } | null;
  /** Keeps a session that nothing is under way on, or closes it when it is of no use any more. */
  keep(session: Session): void;
  /** Works with a session, and keeps it then; one that broke is closed. */
  use<T>(session: Session, work: (session: Session) => Promise<T>): Promise<T>;
}

interface Idle {
  readonly session: Session;
  readonly since: number;
  /** Ends the idle time; cleared by the next use, of which there can be a thousand in a second. */
  readonly end: NodeJS.Timeout;
}

/**
 * Opening a session costs several trips and a password check. A function that is frozen meanwhile finds its sessions
 * too old, or closed by the server, and opens others. Idle sessions keep no process from ending.
 */
export function createIdleSessions(now: () => Date, keptMilliseconds: number): IdleSessions {
  const idle: Idle[] = [];
  const drop = (entry: Idle) => {
    const at = idle.indexOf(entry);
    if (at >= 0) closeQuietly(idle.splice(at, 1)[0]?.session);
  };
  const keep = (session: Session) => {
    if (!session.isAlive) return;
    session.holdProcess(false);
    const end = setTimeout(() => drop(entry), keptMilliseconds).unref();
    const entry: Idle = { session, since: now().getTime(), end };
    idle.push(entry);
  };
  return {
    keep,
    take() {
      for (;;) {
        const found = idle.pop();
        if (found === undefined) return null;
        clearTimeout(found.end);
        found.session.holdProcess(true);
        const { session, since } = found;
        const silentMilliseconds = now().getTime() - since;
        if (session.isAlive && silentMilliseconds < keptMilliseconds) return { session, silentMilliseconds };
        closeQuietly(session);
      }
    },
    async use(session, work) {
      try {
        const answer = await work(session);
        keep(session);
        return answer;
      } catch (error) {
        if (isBroken(error, session)) closeQuietly(session);
        else keep(session);
        throw error;
      }
    },
  };
}

/**
 * Whether the session is of no use any more: its connection is gone, or the server ends it (SQLSTATE 57P01 to 57P05); also
 * where its end is not known yet: the system's own codes are longer than a SQLSTATE.
 */
export const isBroken = (error: unknown, session: Session | null): boolean =>
  session?.isAlive === false || /^(08|57P)/.test(sqlState(error) ?? "") || /^E[A-Z]{4,}$/.test(codeOf(error));

/** A session that ends badly has ended all the same. */
export function closeQuietly(session: Session | null | undefined): void {
  session?.close().catch(() => undefined);
}
