import type { ColumnValues } from "../../../model/mapping/shape.ts";
import type { Deletion, WaitingChange } from "../../../model/record/merge.ts";
import type { Image } from "../../../model/record/record.ts";
import type { Page } from "../../../sync/ports/pull-ports.ts";
import { changeOf, sendable } from "../log/change-rows.ts";
import { hasFailed, isClaimed, isRecordless } from "../log/change-states.ts";
import {
  equal,
  heldText,
  idArray,
  type MappedTable,
  type Metadata,
  name,
  qualified,
  type Row,
  readInstant,
  type Session,
  type StoreContext,
  textOf,
  typed,
} from "../session/sql.ts";

/** A row that belongs to a record of the page, locked for us. */
export interface LockedRow {
  readonly key: number;
  /** Null: it was matched by the upsert field. */
  readonly sfid: string | null;
  readonly stamp: Date | null;
}

/** What is known of a page's records beside their rows. */
export interface Around {
  readonly waitingByKey: ReadonlyMap<number, readonly WaitingChange[]>;
  readonly deletionBySfid: ReadonlyMap<string, Deletion>;
  /** Records that we pushed after, or in the same second as, the page was read. */
  readonly pushedLater: ReadonlyMap<string, Date>;
  /** Records that we pushed at all, as long as that is known; of a page that asks for it. */
  readonly pushedBefore: ReadonlyMap<string, Date>;
  /** When records were deleted, by the org's time. */
  readonly tombstones: ReadonlyMap<string, Date>;
  /** Records that could not be applied before. */
  readonly inboundErrors: readonly string[];
  /** Records whose deletion the breaker holds. */
  readonly heldDeletes: readonly string[];
  /** Records whose sfid is not written to their rows yet, and when that is tried again; null: at once. */
  readonly unwritten: ReadonlyMap<string, Date | null>;
  /** Whether an insert is under way or in doubt. */
  readonly hasSentInserts: boolean;
}

/** Whether nothing at all is known beside the rows. */
export const isUntouched = (around: Around): boolean =>
  !around.hasSentInserts &&
  [around.waitingByKey, around.deletionBySfid, around.pushedLater, around.tombstones, around.unwritten].every(
    ({ size }) => size === 0,
  ) &&
  around.inboundErrors.length + around.heldDeletes.length === 0;

/**
 * Locks the rows that have the page's sfids, in their order. With SKIP LOCKED rows that a transaction of the customer
 * holds are left out and listed; without a clause the rows are only read.
 */
export async function lockRows(
  { session }: StoreContext,
  mapped: MappedTable,
  images: readonly Image[],
  lock: "FOR UPDATE" | "FOR UPDATE SKIP LOCKED" | "",
): Promise<{ readonly rows: LockedRow[]; readonly busy: ReadonlySet<string> }> {
  const table = qualified(mapped.shape.schema, mapped.shape.table);
  const sfids = idArray(images.map(({ sfid }) => sfid));
  const found = await session.query(
    // The planner would weigh each of some thousand values; what comes from a subquery it takes as it is.
    `SELECT t.${name(mapped.layout.key)} AS key, t.sfid, t.systemmodstamp::timestamptz AS stamp FROM ${table} t
     WHERE t.sfid::text = ANY ((SELECT $1::text[])::text[]) ORDER BY t.sfid ${lock}`,
    [sfids],
  );
  const rows = found.map(lockedRow);
  if (lock !== "FOR UPDATE SKIP LOCKED") return { rows, busy: new Set() };
  const mine = new Set(rows.map(({ sfid }) => sfid));
  const existing = await session.query<{ sfid: string }>(
    `SELECT sfid FROM ${table} WHERE sfid::text = ANY ($1::text[])`,
    [sfids],
  );
  return { rows, busy: new Set(existing.map(({ sfid }) => sfid).filter((sfid) => !mine.has(sfid))) };
}

const lockedRow = (row: Row): LockedRow => ({
  key: Number(row["key"]),
  sfid: (row["sfid"] as string | null) ?? null,
  stamp: (row["stamp"] as Date | null) ?? null,
});

/** Locks, or reads, rows that have no sfid yet and hold the upsert value of one of these images; by the image's sfid. */
export async function lockByUpsertField(
  { session }: StoreContext,
  { shape, layout }: MappedTable,
  images: readonly Image[],
  lock: "FOR UPDATE OF t SKIP LOCKED" | "" = "FOR UPDATE OF t SKIP LOCKED",
): Promise<ReadonlyMap<string, LockedRow>> {
  const column = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  if (column === undefined || images.length === 0) return new Map();
  const table = qualified(shape.schema, shape.table);
  // A first load has none. In an order that only the index of sfids has, or it would look through the table.
  const lacking = await session.query(`SELECT FROM ${table} WHERE sfid IS NULL ORDER BY sfid LIMIT 1`);
  if (lacking.length === 0) return new Map();
  const shared = shape.repeatsUpsertValues
    ? await ambiguousValues(session, { shape, layout }, column, images)
    : NOT_SHARED;
  const candidates = images.filter(
    ({ values }) => (values[column] ?? null) !== null && !shared.has(values[column] ?? ""),
  );
  if (candidates.length === 0) return new Map();
  const rows = await session.query(
    `SELECT t.${name(layout.key)} AS key, t.sfid, t.systemmodstamp::timestamptz AS stamp, i.place
     FROM unnest($1::text[]) WITH ORDINALITY AS i (value, place)
     JOIN ${table} t ON ${equal(layout, column, `t.${name(column)}`, typed(layout, column, "i.value"))}
     WHERE t.sfid IS NULL ORDER BY t.${name(layout.key)} ${lock}`,
    [candidates.map(({ values }) => values[column])],
  );
  const byImage = new Map<string, LockedRow>();
  const taken = new Set<number>();
  for (const row of rows) {
    const image = candidates[Number(row["place"]) - 1]?.sfid;
    const locked = lockedRow(row);
    if (image === undefined || byImage.has(image) || taken.has(locked.key)) continue;
    byImage.set(image, locked);
    taken.add(locked.key);
  }
  return byImage;
}

const NOT_SHARED: ReadonlySet<string> = new Set();

/** Values of the upsert field that several of these records, or several rows, have: they identify none. */
async function ambiguousValues(
  session: Session,
  { shape, layout }: MappedTable,
  column: string,
  images: readonly Image[],
): Promise<ReadonlySet<string>> {
  const values = images.map(({ values }) => values[column] ?? null);
  const rows = await session.query<{ value: string }>(
    `SELECT v.value FROM (SELECT value, count(*) AS records FROM unnest($1::text[]) AS u (value) WHERE value IS NOT NULL GROUP BY 1) AS v
     WHERE v.records > 1 OR (SELECT count(*) FROM (SELECT FROM ${qualified(shape.schema, shape.table)} t
       WHERE ${equal(layout, column, `t.${name(column)}`, typed(layout, column, "v.value"))} LIMIT 2) AS two) > 1`,
    [values],
  );
  return new Set(rows.map(({ value }) => value));
}

/**
 * Reads, after the rows are locked, what else is known: waiting changes, and FAILED ones that a newer change will
 * carry, our later pushes, tombstones, sent inserts.
 */
export async function readAround(
  { session, tables }: StoreContext,
  mapped: MappedTable,
  page: Page,
  keys: readonly number[],
  asksForPushes: boolean,
): Promise<Around> {
  const { shape } = mapped;
  const log = `${tables.log} l WHERE l.table_name::text = :table AND l.processed_at IS NULL`;
  const columns = `l.id, l.record_id, l.sfid, l.action, l.state, l.fence, l.sent_at, ${isRecordless("l")} AS is_recordless, ${sendable(mapped, "l.old")} AS old,
    ${sendable(mapped, 'l."values"')} AS "values", l.created_at, l.attempts`;
  const [row] = await session.query<{
    waiting: Row[];
    deletions: Row[];
    pushed: { sfid: string; at: string }[];
    pushed_before: { sfid: string; at: string }[];
    tombstones: { sfid: string; at: string }[];
    errors: string[];
    held: string[];
    unwritten: { sfid: string; at: string | null }[];
    sent_inserts: boolean;
  }>(
    // From a subquery, as above, for every part.
    // Deletes by a table of hashes of what is asked for (IS TRUE keeps it one): of thousands that wait, each would be held
    // against all of them.
    `WITH asked AS MATERIALIZED (SELECT :keys::bigint[] AS keys, :sfids::text[] AS sfids),
     deleted AS MATERIALIZED (
       SELECT l.* FROM ${log} AND l.action::text = 'DELETE' AND (l.sfid::text IN (SELECT unnest(sfids) FROM asked)) IS TRUE)
     SELECT
       (SELECT coalesce(jsonb_agg(to_jsonb(w) ORDER BY w.id), '[]') FROM
         (SELECT ${columns} FROM ${log} AND l.record_id = ANY (${ASKED_KEYS})
          UNION ALL SELECT ${columns} FROM ${tables.log} l
          WHERE l.table_name::text = :table AND l.record_id = ANY (${ASKED_KEYS}) AND ${hasFailed("l")} AND NOT l.superseded) w) AS waiting,
       (SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.id), '[]') FROM
         (SELECT ${columns},
            (SELECT coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'isSent', e.state::text = 'PENDING', 'old', coalesce(e.old, '{}'), 'values', coalesce(e.values, '{}')) ORDER BY e.id), '[]')
             FROM ${tables.log} e WHERE e.table_name::text = :table AND e.processed_at IS NULL AND e.record_id = l.record_id AND e.id < l.id) AS earlier
          FROM deleted l) d) AS deletions,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('sfid', p.sfid, 'at', p.at)), '[]') FROM
         (${lastPushes(tables, "answered_at >= :readAt")}) p) AS pushed,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('sfid', p.sfid, 'at', p.at)), '[]') FROM
         (${lastPushes(tables, "(:asksForPushes OR EXISTS (SELECT FROM deleted))")}) p) AS pushed_before,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('sfid', t.sfid, 'at', t.at)), '[]') FROM
         (SELECT sfid, max(stamp) AS at FROM ${tables.tombstones} WHERE mapping_id = :mapping AND sfid::text = ANY (${ASKED_SFIDS})
          GROUP BY sfid) t WHERE t.at IS NOT NULL) AS tombstones,
       (SELECT coalesce(jsonb_agg(e.sfid), '[]') FROM ${tables.inboundErrors} e
         WHERE e.mapping_id = :mapping AND e.sfid::text = ANY (${ASKED_SFIDS})) AS errors,
       (SELECT coalesce(jsonb_agg(h.sfid), '[]') FROM ${tables.heldDeletes} h
         WHERE h.mapping_id = :mapping AND h.sfid::text = ANY (${ASKED_SFIDS})) AS held,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('sfid', o.sfid, 'at', o.due_at)), '[]') FROM ${tables.log} o
         WHERE o.table_name::text = :table AND o.row_owed AND o.state::text = 'SUCCESS' AND (o.sfid::text IN (SELECT unnest(sfids) FROM asked)) IS TRUE) AS unwritten,
       EXISTS (SELECT FROM ${tables.log} l WHERE l.table_name::text = :table AND ${isClaimed(tables, "l", "table_name::text = :table")} AND l.action::text = 'INSERT'
         AND l.sent_at IS NOT NULL) AS sent_inserts`,
    {
      ...{ table: shape.table, mapping: shape.mappingId, readAt: page.readAt, keys, asksForPushes },
      sfids: idArray(page.images.map(({ sfid }) => sfid)),
    },
  );
  if (!row) throw new Error("a SELECT without FROM gave no row");
  const pushedBefore = instantsBySfid(row.pushed_before);
  return {
    waitingByKey: Map.groupBy(row.waiting.map(waitingChange), ({ recordId }) => recordId),
    deletionBySfid: new Map(row.deletions.map((change) => [String(change["sfid"]), deletionOf(change, pushedBefore)])),
    pushedLater: instantsBySfid(row.pushed),
    pushedBefore,
    tombstones: instantsBySfid(row.tombstones),
    inboundErrors: row.errors,
    heldDeletes: row.held,
    unwritten: new Map(row.unwritten.map(({ sfid, at }) => [sfid, at === null ? null : readInstant(at)])),
    hasSentInserts: row.sent_inserts,
  };
}

const ASKED_KEYS = "(SELECT keys FROM asked)::bigint[]";
const ASKED_SFIDS = "(SELECT sfids FROM asked)::text[]";

/**
 * When Salesforce last answered a push of each of the page's records; the sfids of each answer are gone through once.
 * IS TRUE keeps the asked ones a table of hashes, instead of a list that each of them is held against.
 */
const lastPushes = (tables: Metadata, condition: string): string =>
  `SELECT one.sfid, max(p.answered_at) AS at FROM ${tables.pushed} p CROSS JOIN LATERAL unnest(p.sfids) AS one (sfid)
          WHERE p.mapping_id = :mapping AND ${condition} AND (one.sfid IN (SELECT unnest(sfids) FROM asked)) IS TRUE GROUP BY one.sfid`;

const instantsBySfid = (rows: readonly { readonly sfid: string; readonly at: string }[]): ReadonlyMap<string, Date> =>
  new Map(rows.map(({ sfid, at }) => [sfid, readInstant(at)]));

function deletionOf(row: Row, pushedBefore: ReadonlyMap<string, Date>): Deletion {
  const earlier = row["earlier"] as Deletion["earlier"];
  return { ...waitingChange(row), earlier, lastPushAt: pushedBefore.get(String(row["sfid"])) ?? null };
}

function waitingChange(row: Row): WaitingChange {
  const change = changeOf({ ...row, captured_at: row["created_at"] });
  const isFailed = row["state"] === "FAILED";
  const isSent = row["state"] === "PENDING" || (isFailed && row["fence"] !== null);
  return { ...change, isSent, isFailed, isRecordless: row["is_recordless"] === true };
}

/** The rows with these keys, and these images, column by column as the table gives them back. */
export async function readSides(
  { session }: StoreContext,
  { shape, layout }: MappedTable,
  pairs: readonly { readonly key: number | null; readonly image: Image }[],
  columns: readonly string[],
): Promise<readonly { readonly row: ColumnValues; readonly image: ColumnValues }[]> {
  if (pairs.length === 0) return [];
  const build = (text: (column: string, index: number) => string) =>
    columns.length === 0
      ? "'{}'::jsonb"
      : `jsonb_object(ARRAY[${columns.map((column) => `'${column.replaceAll("'", "''")}'`).join(", ")}], ARRAY[${columns.map(text).join(", ")}])`;
  const inputs = columns.map((_, index) => `$${index + 3}::text[]`);
  const rows = await session.query<{ row: ColumnValues | null; image: ColumnValues }>(
    `SELECT ${build((column) => textOf(layout, column, "t"))} AS row,
       ${build((column, index) => heldText(layout, column, `i.c${index}`))} AS image
     FROM unnest(${["$1::int[]", "$2::bigint[]", ...inputs].join(", ")})
       AS i (${["n", "key", ...columns.map((_, index) => `c${index}`)].join(", ")})
     LEFT JOIN ${qualified(shape.schema, shape.table)} t ON t.${name(layout.key)} = i.key ORDER BY i.n`,
    [
      pairs.map((_, index) => index),
      pairs.map(({ key }) => key),
      ...columns.map((column) => pairs.map(({ image }) => image.values[column] ?? null)),
    ],
  );
  return rows.map(({ row, image }) => ({ row: row ?? {}, image }));
}
