import type { Image } from "../../../model/record/record.ts";
import type { Lease } from "../../../sync/ports/lease-ports.ts";
import type { Compared, SweepStore } from "../../../sync/ports/sweep-ports.ts";
import { hasFailed, isOfTable } from "../log/change-states.ts";
import {
  differs,
  idArray,
  isZoneless,
  type MappedTable,
  name,
  qualified,
  type StoreContext,
  typed,
} from "../session/sql.ts";
import { isRefusedValue } from "../session/sql-errors.ts";

/** Rows that one statement looks at: some tenths of a second. */
const ROWS_AT_ONCE = 100_000;

/** Looks at rows for sweeps without locking any: what is equal is not written, and leaves no WAL. */
export const sweepStore = (store: StoreContext): SweepStore => ({
  lastRow: async (lease) => {
    const mapped = store.mapped(lease);
    const [row] = await store.session.query(`SELECT max(${name(mapped.layout.key)}) AS last FROM ${tableOf(mapped)}`);
    return Number(row?.["last"] ?? 0);
  },
  compareRows: (lease, images, lastRow) => compareRows(store, lease, images, lastRow),
  keepComparison: async (lease, comparison, lastRow = Number.MAX_SAFE_INTEGER) => {
    const mapped = store.mapped(lease);
    const { state, log } = store.tables;
    // Rows without a record are on no other side; a cycle says of those that Salesforce refused why.
    await store.session.query(
      `UPDATE ${state} s SET compared = $2::jsonb || jsonb_build_object(
         'unsent', (SELECT count(*) FROM ${tableOf(mapped)} t WHERE t.sfid IS NULL AND t.${name(mapped.layout.key)} <= $3::bigint),
         'refused', (SELECT count(DISTINCT l.record_id) FROM ${log} l JOIN ${tableOf(mapped)} t ON t.${name(mapped.layout.key)} = l.record_id
           WHERE ${isOfTable("l", "s.table_name")} AND ${hasFailed("l")} AND NOT l.superseded AND t.sfid IS NULL AND l.record_id <= $3::bigint))
       WHERE s.mapping_id = $1`,
      [lease.mappingId, JSON.stringify(comparison), lastRow],
    );
  },
  countRows: async (lease, { afterRow, lastRow = null }) => {
    const [row] = await store.session.query(
      `${spanOf(store.mapped(lease))} SELECT max(key) AS looked, (SELECT coalesce(jsonb_object_agg(bucket, rows), '{}')
         FROM (SELECT ${BUCKET} AS bucket, count(*) AS rows FROM span GROUP BY 1) AS counted) AS met
       FROM span`,
      [afterRow, lastRow, ROWS_AT_ONCE],
    );
    return { met: (row?.["met"] ?? {}) as Record<string, number>, looked: keyIn(row) };
  },
  rowsAfter: async (lease, { afterRow, lastRow = null, buckets, limit }) => {
    const [row] = await store.session.query(
      `${spanOf(store.mapped(lease))} SELECT max(key) AS looked, (SELECT coalesce(jsonb_agg(sfid ORDER BY key), '[]') FROM span
         WHERE ($4::text[] IS NULL OR ${BUCKET} IN (SELECT unnest($4::text[])))) AS sfids FROM span`,
      [afterRow, lastRow, buckets === null ? limit : ROWS_AT_ONCE, buckets],
    );
    return { sfids: (row?.["sfids"] ?? []) as string[], looked: keyIn(row) };
  },
});

const keyIn = (row: Readonly<Record<string, unknown>> | undefined) =>
  row?.["looked"] == null ? null : Number(row["looked"]);

const tableOf = ({ shape }: MappedTable) => qualified(shape.schema, shape.table);

/** As a sweep counts its records. */
const BUCKET = `substr(sfid, 14, 2) COLLATE "C"`;

/** Parameters: after which key, up to which (null: the last), how many. */
function spanOf(mapped: MappedTable): string {
  const key = name(mapped.layout.key);
  return `WITH span AS MATERIALIZED (SELECT ${key} AS key, sfid::text AS sfid FROM ${tableOf(mapped)}
    WHERE sfid IS NOT NULL AND ${key} > $1::bigint AND ($2::bigint IS NULL OR ${key} <= $2::bigint) ORDER BY ${key} LIMIT $3::bigint)`;
}

/** Which records differ from their rows, or have none up to the row `lastRow`. */
export async function compareRows(
  store: StoreContext,
  lease: Lease,
  images: readonly Image[],
  lastRow: number,
): Promise<Compared> {
  const [first] = images;
  if (!first) return { differing: new Set(), rowless: new Set() };
  const mapped = store.mapped(lease);
  const columns = comparedColumns(mapped, first);
  try {
    const rows = await store.session.query<{ sfid: string; differs: boolean; rowless: boolean }>(
      compareStatement(store, mapped, columns),
      {
        sfids: idArray(images.map(({ sfid }) => sfid)),
        stamps: images.map(({ systemModstamp }) => systemModstamp.toISOString()),
        ...{ table: mapped.shape.table, mapping: mapped.shape.mappingId, lastRow },
        ...Object.fromEntries(
          columns.map((column, index) => [`c${index}`, images.map(({ values }) => values[column] ?? null)]),
        ),
      },
    );
    const sfids = (which: "differs" | "rowless") => new Set(rows.filter((row) => row[which]).map(({ sfid }) => sfid));
    return { differing: sfids("differs"), rowless: sfids("rowless") };
  } catch (error) {
    // A value that the column cannot hold: who applies these records finds out which.
    if (!isRefusedValue(error)) throw error;
    const all = new Set(images.map(({ sfid }) => sfid));
    return { differing: all, rowless: all };
  }
}

const comparedColumns = ({ shape, layout }: MappedTable, { values }: Image): string[] =>
  shape.columns.map(({ column }) => column).filter((column) => column in values && !layout.generated.includes(column));

/**
 * Those of the records that differ, or have no row among those that the sweep compares. A row that is newer than the
 * record's image is left. What is kept back, or held, is met again, for its end may be known by now. By the LIMIT each
 * row is looked up by index: of a table of some gigabytes the planner would rather read all, for each page.
 */
function compareStatement({ tables }: StoreContext, mapped: MappedTable, columns: readonly string[]): string {
  const { layout } = mapped;
  const stamp = isZoneless(layout, "systemmodstamp") ? "t.systemmodstamp AT TIME ZONE 'UTC'" : "t.systemmodstamp";
  const hasOthers = differs(layout, columns, "t", (column, index) => typed(layout, column, `i.c${index}`));
  const ofMapping = (table: string) => `i.sfid IN (SELECT sfid FROM ${table} WHERE mapping_id = :mapping)`;
  const types = [":sfids::text[]", ":stamps::timestamptz[]", ...columns.map((_, index) => `:c${index}::text[]`)];
  const names = ["sfid", "stamp", ...columns.map((_, index) => `c${index}`)];
  return `SELECT * FROM (
      SELECT i.sfid, t.key IS NULL OR t.key > :lastRow AS rowless,
        CASE WHEN t.key IS NULL THEN NOT EXISTS (SELECT FROM ${tables.log} l WHERE l.table_name::text = :table AND l.sfid::text = i.sfid
            AND l.action::text = 'DELETE' AND l.processed_at IS NULL)
          WHEN t.stamp IS NULL OR t.stamp < i.stamp THEN true
          WHEN t.stamp = i.stamp AND (t.differs) THEN true
          ELSE ${ofMapping(tables.inboundErrors)} OR ${ofMapping(tables.heldDeletes)} END AS differs
      FROM unnest(${types.join(", ")}) AS i (${names.join(", ")})
      LEFT JOIN LATERAL (SELECT t.${name(layout.key)} AS key, ${stamp} AS stamp, ${hasOthers} AS differs
        FROM ${tableOf(mapped)} t WHERE t.sfid::text = i.sfid LIMIT 1) AS t ON true) AS compared
    WHERE differs OR rowless`;
}
