import type { Column } from "../../../model/mapping/shape.ts";
import type { Merge } from "../../../model/record/judge-image.ts";
import type { Image } from "../../../model/record/record.ts";
import { isSameValue } from "../../../model/record/same-value.ts";
import { differingColumns } from "../../../model/record/uncaptured-values.ts";
import { hasFailed } from "../log/change-states.ts";
import {
  cut,
  differs,
  exactText,
  literal,
  type MappedTable,
  metadata,
  name,
  qualified,
  type StoreContext,
  textOf,
  typed,
} from "../session/sql.ts";
import { giveUpUpsertValues } from "./give-up-upsert-values.ts";
import { readSides } from "./page-context.ts";
import { type RowToWrite, rowOf } from "./row-to-write.ts";

/** Writes what differs and the stamps of the rest, in bulk; answers the keys of the rows that differed. */
export async function updateRows(
  { session, tables }: StoreContext,
  mapped: MappedTable,
  rows: readonly RowToWrite[],
): Promise<Set<number>> {
  const differing = new Set<number>();
  for (const [columns, group] of byColumns(mapped, rows)) {
    const changed = await session.query<{ key: number }>(updateStatement(tables.log, mapped, columns), [
      mapped.shape.table,
      ...inputs(group, columns),
    ]);
    for (const { key } of changed) differing.add(key);
  }
  return differing;
}

/** A further part: what each row held before, and what it holds now. It sees the rows as they were before the statement. */
function history(columns: readonly string[], { shape, layout }: MappedTable): string {
  const { history } = metadata(shape.schema);
  const values = columns.map((column, index) => {
    const [was, is] = [textOf(layout, column, "t"), exactText(layout, column, `j.v${index}`)];
    const isOther = differs(layout, [column], "t", () => `j.v${index}`);
    return `(${literal(column)}, ${cut(was)}, ${cut(is)}, ${isOther})`;
  });
  return `kept AS (
      INSERT INTO ${history} (mapping_id, record_id, at, fields)
      SELECT ${literal(shape.mappingId)}, j.key, ${exactText(layout, "systemmodstamp", "j.stamp")}::timestamptz, (
        SELECT jsonb_object_agg(name, jsonb_build_array(was, is_now)) FROM (VALUES ${values.join(", ")}) AS v (name, was, is_now, is_other)
        WHERE is_other)
      FROM judged j JOIN ${qualified(shape.schema, shape.table)} t ON t.${name(layout.key)} = j.key WHERE j.differs AND j.sure
    )`;
}

function updateStatement(log: string, mapped: MappedTable, columns: readonly string[]): string {
  const { shape, layout } = mapped;
  const table = qualified(shape.schema, shape.table);
  const key = name(layout.key);
  const isOther = differs(layout, columns, "t", (_, index) => `i.v${index}`);
  return `
    WITH image AS MATERIALIZED (
      SELECT i.key, i.sfid, ${typed(layout, "systemmodstamp", "i.stamp")} AS stamp, i.sure, i.waits
        ${columns.map((column, index) => `, ${typed(layout, column, `i.c${index}`)} AS v${index}`).join("")}
      FROM ${unnested(columns, 1)}
    ), judged AS (
      SELECT i.*, ${isOther} AS differs FROM image i JOIN ${table} t ON t.${key} = i.key
    ), written AS (
      UPDATE ${table} t SET sfid = j.sfid, systemmodstamp = j.stamp, isdeleted = false
        ${columns.map((column, index) => `, ${name(column)} = j.v${index}`).join("")},
        _ab_lastop = CASE WHEN j.waits OR (t._ab_lastop IS NOT NULL AND NOT j.differs) THEN t._ab_lastop ELSE 'SYNCED' END,
        _ab_err = CASE WHEN j.waits OR NOT j.differs THEN t._ab_err END
      FROM judged j
      WHERE t.${key} = j.key AND j.sure
        AND (j.differs OR t.systemmodstamp IS DISTINCT FROM j.stamp OR t.sfid::text IS DISTINCT FROM j.sfid)
    ), superseded AS (
      -- What failed of a row that Salesforce has overwritten since is not tried again, unless a newer change carries it.
      UPDATE ${log} l SET superseded = true
      FROM judged j WHERE j.differs AND j.sure AND l.table_name::text = $1 AND l.record_id = j.key AND ${hasFailed("l")}
        AND NOT l.superseded AND NOT j.waits
    )${mapped.keepsHistory && columns.length > 0 ? `, ${history(columns, mapped)}` : ""}
    SELECT key FROM judged WHERE differs`;
}

/** Inserts rows in bulk; a row that comes back gets the key that it had. */
export async function insertRows(
  { session }: StoreContext,
  mapped: MappedTable,
  rows: readonly RowToWrite[],
): Promise<void> {
  for (const keyed of [false, true]) {
    const alike = rows.filter(({ key }) => (key !== null) === keyed);
    for (const [columns, group] of byColumns(mapped, alike)) {
      await session.query(insertStatement(mapped, columns, keyed), inputs(group, columns));
    }
  }
}

function insertStatement({ shape, layout }: MappedTable, columns: readonly string[], keyed: boolean): string {
  const into = [...(keyed ? [layout.key] : []), "sfid", "systemmodstamp", "isdeleted", "_ab_lastop", ...columns];
  const values = [
    ...(keyed ? ["i.key"] : []),
    "i.sfid",
    typed(layout, "systemmodstamp", "i.stamp"),
    "false",
    "'SYNCED'",
    ...columns.map((column, index) => typed(layout, column, `i.c${index}`)),
  ];
  return `INSERT INTO ${qualified(shape.schema, shape.table)} (${into.map(name).join(", ")})
    ${keyed ? "OVERRIDING SYSTEM VALUE" : ""} SELECT ${values.join(", ")} FROM ${unnested(columns, 0)}`;
}

/** One array parameter for each column, so that the statement is the same for any number of rows. */
function unnested(columns: readonly string[], after: number): string {
  const types = ["bigint", "text", "timestamptz", "boolean", "boolean", ...columns.map(() => "text")];
  const names = ["key", "sfid", "stamp", "sure", "waits", ...columns.map((_, index) => `c${index}`)];
  return `unnest(${types.map((type, index) => `$${after + index + 1}::${type}[]`).join(", ")}) AS i (${names.join(", ")})`;
}

function inputs(rows: readonly RowToWrite[], columns: readonly string[]): unknown[] {
  return [
    rows.map(({ key }) => key),
    rows.map(({ sfid }) => sfid),
    rows.map(({ stamp }) => stamp),
    rows.map(({ isSure }) => isSure),
    rows.map(({ waits }) => waits),
    ...columns.map((column) => rows.map(({ values }) => values[column] ?? null)),
  ];
}

/** Rows that write the same columns go together; a page nearly always is one group. */
function byColumns({ shape, layout }: MappedTable, rows: readonly RowToWrite[]): [string[], RowToWrite[]][] {
  const writable = shape.columns.map(({ column }) => column).filter((column) => !layout.generated.includes(column));
  const groups: { readonly has: readonly boolean[]; readonly rows: RowToWrite[] }[] = [];
  for (const row of rows) {
    const group = groups.find(({ has }) => writable.every((column, index) => column in row.values === has[index]));
    if (group) group.rows.push(row);
    else groups.push({ has: writable.map((column) => column in row.values), rows: [row] });
  }
  return groups.map((group) => [writable.filter((_, index) => group.has[index]), group.rows]);
}

/** The columns of rows, by key, that hold what the application wrote without a trigger seeing it. */
export type LateColumns = ReadonlyMap<number, readonly Column[]>;

/** How long a decided field is left alone: where both sides change it automatically, that goes round once. */
const DECIDED_HOURS = 1;

interface Meeting extends Merge {
  readonly image: Image;
}

/**
 * Which differences of rows from records that Salesforce has not changed are late. A parent's key follows its parent
 * without a newer stamp. What a trigger of the application changes in our own write is no change either: the write is
 * tried, and undone. A NULL counts for nothing, because a column that was dropped and added again holds nothing else.
 */
export async function lateColumns(
  store: StoreContext,
  mapped: MappedTable,
  meetings: readonly Meeting[],
  makesRoom: boolean,
): Promise<LateColumns> {
  if (meetings.length === 0) return new Map();
  const { session } = store;
  const columns = mapped.shape.columns.filter(({ updateable, parent }) => updateable && !parent);
  const names = columns.map(({ column }) => column);
  const before = await readSides(store, mapped, meetings, names);
  const images = meetings.map(({ key, image }) => rowOf(image, { key }));
  await session.script("SAVEPOINT try");
  if (makesRoom) await giveUpUpsertValues(store, mapped, images);
  await updateRows(store, mapped, images);
  const after = await readSides(store, mapped, meetings, names);
  await session.script("ROLLBACK TO SAVEPOINT try; RELEASE SAVEPOINT try");
  const known = await knownValues(store, mapped, meetings);
  return new Map(
    meetings.map(({ key, image }, index) => {
      const [row = {}, written = {}] = [before[index]?.row, after[index]?.row];
      const shown = before[index]?.image ?? {};
      const late = differingColumns(columns, row, shown).filter((column) => {
        const [mine, theirs, kept] = [row, shown, written].map((side) => side[column.column] ?? null);
        const isTaken = column.column in image.values && isSameValue(column, kept ?? null, theirs ?? null);
        return isTaken && !known.get(key)?.some((one) => isKnown(one, column, mine ?? null));
      });
      return [key, late];
    }),
  );
}

/** A value of a row that is already listed; `value` null: any of the column. */
interface KnownValue {
  readonly column: string;
  readonly value: string | null;
}

const isKnown = ({ column, value }: KnownValue, of: Column, text: string | null): boolean =>
  column === of.column && (value === null || isSameValue(of, value, text));

/** What failed changes of these rows hold, and the fields that were decided lately. */
async function knownValues(
  { session, tables, now }: StoreContext,
  { shape }: MappedTable,
  meetings: readonly Meeting[],
): Promise<ReadonlyMap<number, readonly KnownValue[]>> {
  const rows = await session.query<{ key: number; column: string; value: string | null }>(
    `SELECT l.record_id AS key, v.key AS "column", v.value FROM ${tables.log} l CROSS JOIN LATERAL jsonb_each_text(l."values") v
     WHERE l.table_name::text = $1 AND l.record_id = ANY ($2::bigint[]) AND ${hasFailed("l")} AND v.value IS NOT NULL
     UNION ALL
     SELECT record_id, field, NULL FROM ${tables.conflicts}
     WHERE mapping_id = $3 AND at > $4 AND record_id = ANY ($2::bigint[]) AND field IS NOT NULL`,
    [
      shape.table,
      meetings.map(({ key }) => key),
      shape.mappingId,
      new Date(now().getTime() - DECIDED_HOURS * 3_600_000),
    ],
  );
  return Map.groupBy(rows, ({ key }) => Number(key));
}
