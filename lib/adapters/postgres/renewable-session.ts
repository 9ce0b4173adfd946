import { closeQuietly, isBroken } from "./idle-sessions.ts";
import type { Session } from "./session.ts";

/** A session that another one may take the place of. */
export interface Renewable extends Session {
  /** The one that it has come to: what is to be kept for the next use. */
  readonly current: Session;
}

/**
 * A session that was kept: should its first statement show that the connection was lost meanwhile, the statement is
 * asked again on a new one. A statement that did run without answering us is one that took the lease, at worst.
 */
export function renewable(kept: Session, open: () => Promise<Session>): Renewable {
  let session = kept;
  let isProven = false;
  const query: Session["query"] = async (text, values) => {
    if (isProven) return session.query(text, values);
    isProven = true;
    try {
      return await session.query(text, values);
    } catch (error) {
      if (!isBroken(error, session)) throw error;
      closeQuietly(session);
      session = await open();
      return await session.query(text, values);
    }
  };
  return {
    get current() {
      return session;
    },
    query,
    script: (text) => session.script(text),
    copy: (text, pieces) => session.copy(text, pieces),
    transaction: (settings, first, work) => session.transaction(settings, first, work),
    get isAlive() {
      return session.isAlive;
    },
    holdProcess: (holds) => session.holdProcess(holds),
    close: () => session.close(),
  };
}
