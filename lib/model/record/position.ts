/** Seconds by which the fast lane reads again what it has read: so long a transaction may commit after its stamp. */
export const OVERLAP_SECONDS = 60;

/**
 * Up to which stamp every record was read again when the second of its stamp was over: two saves in one second share a
 * stamp. `position` is where the next pull starts.
 */
export const settledUntil = (position: Date): Date => new Date(position.getTime() + (OVERLAP_SECONDS - 2) * 1000);

/** One page of the fast lane: the last stamp in it, null for the last page, and the org's time when it was asked. */
export interface ReadPage {
  readonly lastStamp: Date | null;
  readonly readAt: Date;
}

/**
 * Where the next pull starts: everything stamped before it was read at least the overlap after its stamp. Fed page by
 * page; goes back only with the org's clock.
 */
export function createPosition(start: Date): { after(page: ReadPage): Date } {
  let position = start;
  let live = false;
  return {
    after({ lastStamp, readAt }) {
      const settledUntil = new Date(readAt.getTime() - OVERLAP_SECONDS * 1000);
      if (readAt < position) {
        live = true;
        position = settledUntil;
      }
      if (live) return position;
      // A page that reaches into the last minute, or to the end, is where late commits can still fall behind.
      live = lastStamp === null || lastStamp > settledUntil;
      const reached = live ? settledUntil : (lastStamp ?? settledUntil);
      if (reached > position) position = reached;
      return position;
    },
  };
}
