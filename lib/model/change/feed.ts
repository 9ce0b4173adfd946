/**
 * How far a reader of the log is. Ids are given in the order of writing and become visible in the order of commits, so a
 * row can appear below one that was read. Ids up to `decided` cannot: all transactions that took them have ended. Those up
 * to `seen` are decided once every transaction before `xid` has ended.
 */
export interface FeedPlace {
  /** The last id that was read. */
  readonly after: number;
  readonly decided: number;
  readonly seen: number;
  readonly xid: number;
  /** Nothing after the place was settled before: once the log forgets what was settled then, rows may be missing. */
  readonly at: Date;
}

/** The log at one moment. */
export interface LogSnapshot {
  /** The highest id of a visible row, 0 without any. */
  readonly highest: number;
  /** The highest id that was ever given. */
  readonly given: number;
  /** Every transaction before `oldest` has ended; `next` follows the highest that has. */
  readonly oldest: number;
  readonly next: number;
}

/** A change as the feed shows it, in the words of the API. */
export interface FeedChange {
  readonly id: number;
  readonly created_at: string;
}

export interface FeedQuery {
  /** Null: from the oldest row on. */
  readonly place: FeedPlace | null;
  readonly table: string | null;
  readonly limit: number;
  readonly at: Date;
}

export interface FeedPage {
  /** In the order of their ids. */
  readonly changes: readonly FeedChange[];
  readonly next: FeedPlace;
  /** Whether more can be read at once. */
  readonly more: boolean;
  /** Whether rows are visible that wait for open transactions. */
  readonly waiting: boolean;
}

/** The beginning of the log, as a place that was reached at a time. */
export const beginning = (at: Date): FeedPlace => ({ after: 0, decided: 0, seen: 0, xid: 0, at });

/** Whether a transaction's number is worth taking: there are new rows, and what was seen before is decided. */
export const wantsXid = ({ seen, xid }: FeedPlace, { highest, oldest }: LogSnapshot): boolean =>
  highest > seen && oldest >= xid;

/** The place once every transaction before `oldest` has ended. */
export const decide = (place: FeedPlace, oldest: number): FeedPlace =>
  oldest >= place.xid ? { ...place, decided: place.seen } : place;

/** Whether the place is of this database's past: one that was restored or replaced has fewer ids, or begins again. */
export const isOfLog = ({ seen, xid }: FeedPlace, log: LogSnapshot): boolean => seen <= log.given && xid <= log.next;

/** The page of the rows that were read after a place, up to `limit` of those that are decided. */
export function feedPage(
  place: FeedPlace,
  { highest }: LogSnapshot,
  changes: readonly FeedChange[],
  { limit, at }: Pick<FeedQuery, "limit" | "at">,
): FeedPage {
  const more = changes.length === limit;
  const last = changes.at(-1);
  const waiting = highest > place.decided;
  const captured = last === undefined ? place.at : new Date(Math.max(Date.parse(last.created_at), place.at.getTime()));
  const next = more && last ? { after: last.id, at: captured } : { after: place.decided, at: waiting ? captured : at };
  return { changes, next: { ...place, ...next }, more, waiting };
}

/** A place as the text that a client hands back. */
export const cursorOf = ({ after, decided, seen, xid, at }: FeedPlace): string =>
  [after, decided, seen, xid, at.getTime()].map((number) => number.toString(36)).join(".");

/** And back; null where no feed has given this text. */
export function readCursor(text: string): FeedPlace | null {
  const numbers = /^([0-9a-z]{1,10}\.){4}[0-9a-z]{1,9}$/.test(text)
    ? text.split(".").map((part) => parseInt(part, 36))
    : [];
  const [after, decided, seen, xid, at] = numbers as [number, number, number, number, number];
  const isRight = numbers.length === 5 && after <= decided && decided <= seen && at < 8.64e15;
  return isRight ? { after, decided, seen, xid, at: new Date(at) } : null;
}
