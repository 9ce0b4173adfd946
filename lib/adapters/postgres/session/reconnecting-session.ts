import { closeQuietly, isBroken } from "./idle-sessions.ts";
import type { Session } from "./sql.ts";

/** A session that another one may take the place of. */
export interface Renewable extends Session {
  /** The one that it has come to: what is to be kept for the next use. */
  readonly current: Session;
  /** Takes another one, unless the present one answers; for whoever has no transaction open. */
  reopen(): Promise<void>;
}

/**
 * A session that was kept: should its first statement show that the connection was lost meanwhile, the statement is
 * asked again on a new one. A statement that did run without answering us is one that took the lease, at worst.
 */
export function renewable(kept: Session, open: () => Promise<Session>): Renewable {
  let session = kept;
  let isProven = false;
  const replace = async () => {
    closeQuietly(session);
    session = await open();
  };
  const first: Session["query"] = async (text, values) => {
    isProven = true;
    try {
      return await session.query(text, values);
    } catch (error) {
      if (!isBroken(error, session)) throw error;
      await replace();
      return await session.query(text, values);
    }
  };
  return {
    get current() {
      return session;
    },
    async reopen() {
      try {
        await session.query("SELECT 1");
      } catch (error) {
        if (!isBroken(error, session)) throw error;
        await replace();
      }
    },
    get query() {
      return isProven ? session.query : first;
    },
    get script() {
      return session.script;
    },
    get copy() {
      return session.copy;
    },
    get transaction() {
      return session.transaction;
    },
    get isAlive() {
      return session.isAlive;
    },
    holdProcess: (holds) => session.holdProcess(holds),
    close: () => session.close(),
  };
}
