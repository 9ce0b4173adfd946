import type { TableShape } from "../mapping/shape.ts";

/**
 * How much of a mapping one read asks for: how often its records, and the fields of each, were halved. An org answers no
 * query that takes it longer than two minutes, nor one that selects too much, and says neither before.
 */
export interface ReadSize {
  readonly rows: number;
  readonly fields: number;
  /** When it last changed, in epoch milliseconds. */
  readonly since: number;
}

/** As much as a page takes. */
export const WHOLE: ReadSize = { rows: 0, fields: 0, since: 0 };

/** A read is asked for more again after this long; where the org has not changed its mind, that costs one read. */
const GROWS_AFTER_MILLISECONDS = 15 * 60_000;

/** Where so few records are too much, it is for their fields. */
const SMALLEST_PAGE = 10;

/** Halves of halves of this depth have a field or two of the widest object. */
const MOST_HALVINGS = 8;

const TOO_MUCH = new Set(["TIMEOUT", "QUERY_TIMEOUT", "TOO_LARGE"]);
const TOO_MANY = "OPERATION_TOO_LARGE";
const TOO_COMPLICATED = "QUERY_TOO_COMPLICATED";

/**
 * What to ask for after a read of so many records, unless they were halved, was refused, took too long or had too long an answer; null: its
 * size was not the reason, or nothing is left to halve. Records are halved first, then fields; if too complicated, both
 * alternately; of too many records, fields are not the reason.
 */
export function smaller(
  size: ReadSize,
  { code }: { readonly code: string },
  records: number,
  now: number,
): ReadSize | null {
  if (!TOO_MUCH.has(code) && code !== TOO_COMPLICATED && code !== TOO_MANY) return null;
  const { rows, fields } = size;
  const halvesRows = halved(records, size) > SMALLEST_PAGE && (code !== TOO_COMPLICATED || rows <= fields);
  if (halvesRows) return { rows: rows + 1, fields, since: now };
  return fields < MOST_HALVINGS && code !== TOO_MANY ? { rows, fields: fields + 1, since: now } : null;
}

/** The size that holds at this time: it grows in the order in which it does the least harm. */
export function grown(size: ReadSize, now: number): ReadSize {
  if (size.rows + size.fields === 0 || now - size.since < GROWS_AFTER_MILLISECONDS) return size;
  const { rows, fields } = size;
  return fields > 0 ? { rows, fields: fields - 1, since: now } : { rows: rows - 1, fields, since: now };
}

/** What there is to say of reads that are smaller than a page. */
export function reportReadSize({ rows, fields }: ReadSize, sfObject: string) {
  const part = (halvings: number) => (halvings === 0 ? "all" : `a ${2 ** halvings}th`);
  return {
    message: `Salesforce takes too long to read ${sfObject}, calls it too large or too complicated, or answers with more than 8 MiB: a call asks for ${part(rows)} of a page's records and ${part(fields)} of their fields`,
    remedy:
      "give the connected user View All Data where Salesforce calls it too large; else map fewer fields, long texts, formulas and fields of parents above all, or ask Salesforce for an index on SystemModstamp or a " +
      "skinny table; nothing is left out meanwhile, and each quarter of an hour more is asked for again",
  };
}

/** So many records instead of so many. */
export const halved = (records: number, { rows }: ReadSize): number =>
  Math.max(Math.min(records, SMALLEST_PAGE), records >> rows);

/**
 * What is queried of the mapping with the first of its parts, and the parts that are read by id after it: none where
 * nothing is cut, or where the query does not name the mapping's fields.
 */
export function firstPart<Query>(size: ReadSize, shape: TableShape, query: (shape: TableShape) => Query) {
  const [first = shape, ...others] = partsOf(size, shape);
  const asked = query(first);
  const isCut = others.length > 0 && JSON.stringify(asked) !== JSON.stringify(query(shape));
  return { asked, others: isCut ? others : [] };
}

/** The mapping with some of its columns at a time; together they are all. */
function partsOf({ fields }: ReadSize, shape: TableShape): readonly TableShape[] {
  if (fields === 0) return [shape];
  const columns = Math.max(1, Math.ceil(shape.columns.length / 2 ** fields));
  return Array.from({ length: Math.ceil(shape.columns.length / columns) }, (_, at) => ({
    ...shape,
    columns: shape.columns.slice(at * columns, (at + 1) * columns),
  }));
}

type Found = Readonly<Record<string, unknown>>;

/** A record of two reads; a parent may have fields in both. */
export function joined(one: Found, other: Found): Found {
  const parents = Object.entries(one).flatMap(([name, value]) => {
    const more = other[name];
    return isParent(value) && isParent(more) ? [[name, { ...value, ...more }]] : [];
  });
  return { ...one, ...other, ...Object.fromEntries(parents) };
}

const isParent = (value: unknown): value is Found => typeof value === "object" && value !== null;
