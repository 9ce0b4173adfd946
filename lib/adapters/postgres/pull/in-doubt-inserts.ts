import { BATCH_OF_ANOTHER } from "../../../model/change/change.ts";
import { creationWindow, IN_DOUBT } from "../../../model/change/in-doubt.ts";
import { isOfRewind } from "../../../model/change/rewound.ts";
import type { ColumnValues } from "../../../model/mapping/shape.ts";
import type { Image } from "../../../model/record/record.ts";
import type { Applied, Page } from "../../../sync/ports/pull-ports.ts";
import { hasFailed, isCarried, isClaimed } from "../log/change-states.ts";
import { idArray, literal, type MappedTable, name, qualified, type StoreContext } from "../session/sql.ts";
import { type LockedRow, readSides } from "./page-context.ts";

/** Records without a row that get none as long as inserts of ours are under way or in doubt: else these would have two. */
export interface HeldImages {
  readonly sfids: ReadonlySet<string>;
  /** Those of them that only their creator distinguishes from other users' records. */
  readonly suspects: Applied["suspects"];
}

/** A change that ended FAILED because the result of its insert stayed unknown, as an SQL condition. */
export const endedInDoubt = (alias: string): string =>
  `(${hasFailed(alias)} AND ${alias}.sent_at IS NOT NULL AND starts_with(${alias}.sf_message, ${literal(IN_DOUBT)}))`;

/**
 * Which of a page's records without a row may be inserts of ours. One that we sent with an upsert value, or that
 * another product sent, is known by its values. Any other is known by its creator alone, for other users may have
 * changed it since: until the creator is known, whatever could have been created at that time is held.
 */
export async function imagesInDoubt(
  store: StoreContext,
  mapped: MappedTable,
  images: readonly Image[],
  { lane, areStrangers }: Pick<Page, "lane" | "areStrangers">,
): Promise<HeldImages> {
  const sfids = images.map(({ sfid }) => sfid);
  const { open, ended, held } = await readSent(store, mapped, sfids);
  const { plain = [], known = [] } = Object.groupBy(open, (sent) => (isPlain(mapped, sent) ? "plain" : "known"));
  const equal = await equalImages(store, mapped, images, known);
  if (areStrangers) return { sfids: equal, suspects: null };

  const first = (sent: readonly Sent[]) => new Date(Math.min(...sent.map(({ since }) => since.getTime())));
  const last = (sent: readonly Sent[]) => new Date(Math.max(...sent.map(({ sentAt }) => sentAt.getTime())));
  const couldBe = (image: Image, sent: readonly Sent[]) =>
    sent.length > 0 && image.systemModstamp >= creationWindow(first(sent), last(sent)).from;
  const suspicious = images.filter(
    (image) => !equal.has(image.sfid) && couldBe(image, held.has(image.sfid) ? [...plain, ...ended] : plain),
  );
  // What is held already was asked for, and is again when it is read again.
  const unasked = suspicious.filter(({ sfid }) => lane === "reread" || !held.has(sfid)).map(({ sfid }) => sfid);
  const all = [...plain, ...ended];
  return {
    sfids: new Set([...equal, ...suspicious.map(({ sfid }) => sfid)]),
    suspects: unasked.length === 0 ? null : { sfids: unasked, firstSentAt: first(all), lastSentAt: last(all) },
  };
}

/** What one insert sent to Salesforce, later changes that were sent with it included. */
interface Sent {
  readonly values: ColumnValues;
  readonly sentAt: Date;
  /** It was not sent before. */
  readonly since: Date;
  readonly batchId: string;
}

/** Sent by us, and without an upsert value. */
function isPlain({ shape }: MappedTable, { values, batchId }: Sent): boolean {
  const key = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  return batchId !== BATCH_OF_ANOTHER && (key === undefined || (values[key] ?? null) === null);
}

/** Records that hold everything that an insert sent: most likely they are its result. */
async function equalImages(
  store: StoreContext,
  mapped: MappedTable,
  images: readonly Image[],
  sent: readonly Sent[],
): Promise<ReadonlySet<string>> {
  if (sent.length === 0) return new Set();
  // A parent's key may come back in another case than it was sent, and says little about the record.
  const identifying = mapped.shape.columns.filter(({ createable, parent }) => createable && !parent);
  const columns = identifying.map(({ column }) => column);
  const pairs = images.map((image) => ({ key: null, image }));
  const shown = await readSides(store, mapped, pairs, columns);
  const inserts = sent.map(({ values }) => values);
  const candidates = byRarestValue(inserts, columns);
  const equal = images.filter((_, index) => {
    const image = shown[index]?.image ?? {};
    const some = columns.flatMap((column) => candidates.get(keyOf(column, image[column] ?? null)) ?? []);
    return [...some, ...(candidates.get(NOTHING_TOLD) ?? [])].some((values) => isOf(values, image));
  });
  return new Set(equal.map(({ sfid }) => sfid));
}

const NOTHING_TOLD = "";
const keyOf = (column: string, value: string | null) => `${column} ${value}`;

/**
 * Inserts by the one of their values that the fewest others have, so that each record is compared with few of them, also
 * while a job of the Bulk API has thousands under way.
 */
function byRarestValue(sent: readonly ColumnValues[], columns: readonly string[]): Map<string, ColumnValues[]> {
  const keysOf = (values: ColumnValues) =>
    columns
      .filter((column) => (values[column] ?? null) !== null)
      .map((column) => keyOf(column, values[column] ?? null));
  const counts = new Map<string, number>();
  for (const key of sent.flatMap(keysOf)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const rarer = (one: string, other: string) => (counts.get(one) ?? 0) - (counts.get(other) ?? 0);
  return Map.groupBy(sent, (values) => keysOf(values).toSorted(rarer)[0] ?? NOTHING_TOLD);
}

/**
 * Which of these rows got an sfid after their insert had ended in doubt: until it is retried they take nothing from their
 * record, for what they hold was never merged with it. Their sfids.
 */
export async function rowsInDoubt(
  { session, tables }: StoreContext,
  { shape }: MappedTable,
  rows: readonly LockedRow[],
): Promise<ReadonlySet<string>> {
  if (rows.length === 0) return new Set();
  const doubtful = await session.query<{ record_id: number }>(
    `SELECT DISTINCT record_id FROM ${tables.log} l
     WHERE table_name::text = $1 AND record_id = ANY ($2::bigint[]) AND NOT superseded AND ${endedInDoubt("l")}`,
    [shape.table, rows.map(({ key }) => key)],
  );
  const keys = new Set(doubtful.map(({ record_id }) => Number(record_id)));
  return new Set(rows.flatMap(({ key, sfid }) => (sfid !== null && keys.has(key) ? [sfid] : [])));
}

interface SentRow {
  readonly record_id: number;
  readonly values: ColumnValues;
  readonly sent_at: Date;
  readonly created_at: Date;
  readonly batch_id: string;
  readonly is_open: boolean;
}

/**
 * Inserts that were sent and not answered; those that ended in doubt, until an operator retries them or gives their row
 * an sfid; and which of these records are held.
 */
async function readSent(
  { session, tables }: StoreContext,
  { shape, layout }: MappedTable,
  sfids: readonly string[],
): Promise<{ readonly open: readonly Sent[]; readonly ended: readonly Sent[]; readonly held: ReadonlySet<string> }> {
  const insertOf = (when: string) => `EXISTS (SELECT FROM ${tables.log} i
         WHERE i.table_name = $1 AND i.record_id = l.record_id AND ${when} AND i.action = 'INSERT')`;
  const changes = await session.query<SentRow>(
    `SELECT id, record_id, "values", sent_at, created_at, batch_id, true AS is_open FROM ${tables.log} l
     WHERE table_name::text = $1 AND ${isClaimed(tables, "l", "table_name::text = $1")} AND sent_at IS NOT NULL AND action::text <> 'DELETE'
       AND NOT ${endedInDoubt("l")} AND (${insertOf("i.processed_at IS NULL AND i.state = 'PENDING'")} OR ${insertOf(isCarried("i"))})
     UNION ALL
     SELECT id, record_id, "values", sent_at, created_at, batch_id, false FROM ${tables.log} l
     WHERE table_name::text = $1 AND NOT superseded AND ${endedInDoubt("l")} AND EXISTS (
       SELECT FROM ${qualified(shape.schema, shape.table)} t WHERE t.${name(layout.key)} = l.record_id AND t.sfid IS NULL)
     ORDER BY id`,
    [shape.table],
  );
  const held = await session.query<{ sfid: string }>(
    `SELECT sfid FROM ${tables.inboundErrors} WHERE mapping_id = $1 AND sfid::text = ANY ($2::text[]) AND starts_with(error, $3)`,
    [shape.mappingId, idArray(sfids), IN_DOUBT],
  );
  const { open = [], ended = [] } = Object.groupBy(changes, ({ is_open }) => (is_open ? "open" : "ended"));
  return { open: byRow(open), ended: byRow(ended), held: new Set(held.map(({ sfid }) => sfid)) };
}

function byRow(changes: readonly SentRow[]): Sent[] {
  return [...Map.groupBy(changes, ({ record_id }) => record_id).values()].flatMap((ofRow) => {
    const [first] = ofRow;
    const values: ColumnValues = Object.assign({}, ...ofRow.map((change) => change.values));
    if (!first) return [];
    const { sent_at: sentAt, created_at: capturedAt, batch_id: batchId } = first;
    return [{ values, sentAt, since: isOfRewind(batchId) ? capturedAt : sentAt, batchId }];
  });
}

/** Whether a record shows everything that was sent. */
function isOf(sent: ColumnValues, image: ColumnValues): boolean {
  return Object.entries(sent).every(
    ([column, value]) => value === null || !(column in image) || image[column] === value,
  );
}
