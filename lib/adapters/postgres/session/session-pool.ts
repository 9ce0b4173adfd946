import pLimit from "p-limit";
import { retry } from "../../retry.ts";
import { closeQuietly, createIdleSessions, isBroken } from "./idle-sessions.ts";
import type { Session } from "./sql.ts";
import { sqlState } from "./sql-errors.ts";

/** Sessions of one database at work at once, in one process. */
const AT_ONCE = 2;

/** A session that was silent for longer is asked whether it still answers, before anything that must not be asked twice. */
const PROVEN_MILLISECONDS = 2_000;

/** Does one thing at a time, in the order in which it was asked for. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** A store's view of the pool: a session, and slots in its queue. The session may be asked within a slot alone. */
export interface Pooled {
  readonly session: Session;
  readonly inTurn: InTurn;
}

/** Sessions of one database that many stores share, so that a hundred cycles at once open two and not a hundred. */
export interface SessionPool {
  /** For one store, which does one thing at a time; each thing has a session for itself as long as it takes. */
  share(): Pooled;
}

/**
 * A session is opened when none is free, and kept for its next use as long as `keptMilliseconds` says; one that broke is
 * replaced. `open` waits for a connection of the database only where the pool has none: else the one that it has comes
 * free sooner.
 */
export function createSessionPool(
  open: (waits: boolean) => Promise<Session>,
  keptMilliseconds: number,
  now: () => Date,
): SessionPool {
  const limit = pLimit(AT_ONCE);
  const idle = createIdleSessions(now, keptMilliseconds);
  const take = async (mayRepeat: boolean): Promise<Session> => {
    for (let kept = idle.take(); kept !== null; kept = idle.take()) {
      if (mayRepeat || kept.silentMilliseconds < PROVEN_MILLISECONDS || (await answers(kept.session)))
        return kept.session;
    }
    return await open(limit.activeCount === 1);
  };
  return {
    share: () => {
      limit.concurrency = AT_ONCE;
      const inOrder = pLimit(1);
      let current: Session | null = null;
      const once = async <T>(work: () => Promise<T>, mayRepeat: boolean): Promise<T> => {
        const done = await limit(async () => {
          try {
            current = await take(mayRepeat);
          } catch (error) {
            // The database has none left for us: after who has the one that we have.
            const kept = isFull(error) ? idle.take() : null;
            if (kept === null) {
              if (!isFull(error) || limit.activeCount === 1) throw error;
              limit.concurrency = 1;
              return null;
            }
            current = kept.session;
          }
          return { answer: await idle.use(current, work) };
        });
        return done === null ? await once(work, mayRepeat) : done.answer;
      };
      // What a store asks first takes the lease, or only looks: should it have run without answering us, no harm is done.
      let isFirst = true;
      const inTurn: InTurn = (work) =>
        inOrder(async () => {
          const mayRepeat = isFirst;
          isFirst = false;
          return await retry(
            mayRepeat ? 2 : 1,
            (error) => isBroken(error, current),
            () => once(work, mayRepeat),
          );
        });
      return { session: behind(() => current), inTurn };
    },
  };
}

/** No connection is left, of the server or of the workspace. */
const isFull = (error: unknown): boolean => sqlState(error) === "53300";

async function answers(session: Session): Promise<boolean> {
  try {
    await session.query("SELECT 1");
    return true;
  } catch (error) {
    closeQuietly(session);
    if (isBroken(error, session)) return false;
    throw error;
  }
}

/** The session of the moment. */
function behind(current: () => Session | null): Session {
  const now = (): Session => {
    const session = current();
    if (session === null) throw new Error("a session was used outside of its slot");
    return session;
  };
  return {
    query: (text, values) => now().query(text, values),
    script: (text) => now().script(text),
    copy: (text, pieces) => now().copy(text, pieces),
    transaction: (settings, first, work) => now().transaction(settings, first, work),
    get isAlive() {
      return now().isAlive;
    },
    holdProcess: (holds) => now().holdProcess(holds),
    close: async () => undefined, // it is the pool's
  };
}
