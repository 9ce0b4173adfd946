import type { Session } from "./sql.ts";
import { sqlState } from "./sql-errors.ts";

/** Sessions of one database that wait for their next use. */
export interface IdleSessions {
  /** The one used last that is alive and not too old, and for how long it was silent; null: there is none. */
  take(): { readonly session: Session; readonly silentMilliseconds: number } | null;
  /** Keeps a session that nothing is under way on, or closes it when it is of no use any more. */
  keep(session: Session): void;
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
  return {
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
    keep(session) {
      if (!session.isAlive) return;
      session.holdProcess(false);
      const end = setTimeout(() => drop(entry), keptMilliseconds).unref();
      const entry: Idle = { session, since: now().getTime(), end };
      idle.push(entry);
    },
  };
}

/** Whether the session is of no use any more: its connection is gone, or the server ends it (SQLSTATE 57P01 to 57P05). */
export function isBroken(error: unknown, session: Session | null): boolean {
  return session?.isAlive === false || /^(08|57P)/.test(sqlState(error) ?? "");
}

/** A session that ends badly has ended all the same. */
export function closeQuietly(session: Session | null | undefined): void {
  session?.close().catch(() => undefined);
}
