/**
 * How much of a mapping one read asks for: how often its records were halved. An org answers no query that takes it longer
 * than two minutes, and no answer may be longer than is read; neither is known before.
 */
export interface ReadSize {
  readonly rows: number;
  /** Versions up to 0.3.1 read it in what is kept; 0 since. */
  readonly fields: number;
  /** When it last changed, in epoch milliseconds. */
  readonly since: number;
}

/** As much as a page takes. */
export const WHOLE: ReadSize = { rows: 0, fields: 0, since: 0 };

/** A read is asked for more again after this long; where the org has not changed its mind, that costs one read. */
const GROWS_AFTER_MILLISECONDS = 15 * 60_000;

/** What takes too long is not halved below this; a page that is too long an answer is once, for its records' texts. */
const SMALLEST_PAGE = 10;
const LONGEST_RECORDS = 2;

/** Halvings of the largest page to the smallest. */
const MOST_HALVINGS = 8;

const TOO_MUCH = new Set(["TIMEOUT", "QUERY_TIMEOUT", "TOO_LARGE", "OPERATION_TOO_LARGE"]);

/**
 * What to ask for after a read of so many records, unless they were halved, was refused, took too long or had too long an
 * answer; null: its size was not the reason, or nothing is left to halve.
 */
export function smaller(
  size: ReadSize,
  { code }: { readonly code: string },
  records: number,
  now: number,
): ReadSize | null {
  const isSmallest = halved(records, size) <= SMALLEST_PAGE;
  if (!TOO_MUCH.has(code) || (isSmallest && (code !== "TOO_LARGE" || size.rows > MOST_HALVINGS))) return null;
  return { rows: isSmallest ? MOST_HALVINGS + 1 : size.rows + 1, fields: 0, since: now };
}

/** The size that holds at this time. */
export function grown(size: ReadSize, now: number): ReadSize {
  if (size.rows === 0 || now - size.since < GROWS_AFTER_MILLISECONDS) return size;
  return { rows: size.rows - 1, fields: 0, since: now };
}

/** What there is to say of reads that are smaller than a page. */
export const reportReadSize = ({ rows }: Pick<ReadSize, "rows">, sfObject: string) => ({
  message: `Salesforce takes too long to read ${sfObject}, calls it too large, or answers with more than 8 MiB: a call asks for a ${2 ** rows}th of a page's records`,
  remedy:
    "give the connected user View All Data where Salesforce calls it too large; else map fewer fields, long texts, formulas and fields of parents above all, or ask Salesforce for an index on SystemModstamp or a " +
    "skinny table; nothing is left out meanwhile, and each quarter of an hour more is asked for again",
});

/** So many records instead of so many. */
export const halved = (records: number, { rows }: Pick<ReadSize, "rows">): number =>
  Math.max(Math.min(records, rows > MOST_HALVINGS ? LONGEST_RECORDS : SMALLEST_PAGE), records >> rows);
