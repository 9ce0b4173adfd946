import { ROW_STATES, type RowState } from "../../../model/record/row-state.ts";
import type { BrowsedRow, BrowsedRows, RowsAsked } from "../../../settings/row-ports.ts";
import { BEGINNING } from "../log/change-states.ts";
import type { KeptSession } from "../session/request-session.ts";
import { refusalOf } from "../session/savepoint.ts";
import {
  cut,
  literal,
  type MappedTable,
  type Metadata,
  mappedOf,
  metadata,
  name,
  qualified,
  type Session,
  textOf,
} from "../session/sql.ts";
import { sqlState, unlessUnprovisioned } from "../session/sql-errors.ts";
import { OPEN } from "./failed-changes.ts";

/** How long a page may take; a search through millions of rows takes longer. */
const LONGEST_MILLISECONDS = 5_000;

/** Conflicts that make a state, the latest. */
const LATEST_CONFLICTS = 10_000;

/** A page of a mapping's rows by their keys, with their states; null: there is no table yet. No table is counted. */
export async function browseRows(
  kept: KeptSession,
  schema: string,
  mappingId: string,
  asked: RowsAsked,
): Promise<BrowsedRows | "tooLong" | "unknownColumn" | null> {
  const tables = metadata(schema);
  const known = kept.query(`SELECT shape, layout FROM ${tables.state} WHERE mapping_id = $1`, [mappingId]);
  const [found] = await unlessUnprovisioned(known);
  if (!found) return null;
  const mapped = mappedOf(found);
  if (asked.column !== null && mapped.shape.columns.every(({ column }) => column !== asked.column))
    return "unknownColumn";
  const limits = `SELECT set_config('statement_timeout', '${LONGEST_MILLISECONDS}', true)`;
  return kept.transaction({}, limits, async (session) => {
    const rows: BrowsedRow[] = [];
    const refusal = await refusalOf(
      session,
      async () => {
        rows.length = 0;
        rows.push(...(await readPage(session, tables, mapped, asked)));
      },
      (error) => sqlState(error) === "57014",
    );
    return refusal === null ? { shape: mapped.shape, types: mapped.layout.exactTypes, rows } : "tooLong";
  });
}

/** One state after the other where they are in order of their states. */
async function readPage(session: Session, tables: Metadata, mapped: MappedTable, asked: RowsAsked) {
  const { state, sortsByState, after, limit } = asked;
  const rows: BrowsedRow[] = [];
  const from = sortsByState && after?.state ? ROW_STATES.indexOf(after.state) : 0;
  const states: readonly (RowState | null)[] = state || !sortsByState ? [state] : ROW_STATES.slice(from);
  for (const [at, one] of states.entries()) {
    const key = at === 0 ? (after?.key ?? String(BEGINNING)) : String(BEGINNING);
    const values = [key, `%${(asked.find ?? "").replace(/[\\%_]/g, "\\$&")}%`, limit - rows.length];
    rows.push(
      ...(await session.query<BrowsedRow & Record<string, unknown>>(pageOf(tables, mapped, asked, one), values)),
    );
    if (rows.length >= limit) break;
  }
  return rows;
}

/** Parameters: the key before, the pattern, how many. */
function pageOf(tables: Metadata, mapped: MappedTable, { find, column }: RowsAsked, state: RowState | null): string {
  const { shape, layout } = mapped;
  const key = `t.${name(layout.key)}`;
  const of = (condition: string) =>
    `FROM ${tables.log} l WHERE l.table_name::text = ${literal(shape.table)} AND ${condition}`;
  const [waits, fails] = [of("l.processed_at IS NULL"), of(OPEN)];
  const conflicts = `(SELECT record_id FROM ${tables.conflicts} WHERE mapping_id = ${literal(shape.mappingId)} ORDER BY id DESC LIMIT ${LATEST_CONFLICTS})`;
  const isIn = (rows: string) => `EXISTS (SELECT ${rows} AND l.record_id = ${key})`;
  const isContested = `${key} IN ${conflicts}`;
  const is: Record<RowState, string> = {
    waiting: isIn(waits),
    failed: `${isIn(fails)} AND NOT ${isIn(waits)}`,
    no_record: `t.sfid IS NULL AND NOT ${isIn(fails)} AND NOT ${isIn(waits)}`,
    conflict: `t.sfid IS NOT NULL AND ${isContested} AND NOT ${isIn(fails)} AND NOT ${isIn(waits)}`,
    synced: `t.sfid IS NOT NULL AND NOT ${isContested} AND NOT ${isIn(fails)} AND NOT ${isIn(waits)}`,
  };
  const table = `${qualified(shape.schema, shape.table)} t`;
  const some = state === "waiting" ? waits : state === "failed" ? fails : null;
  // The keys of the few rows of such a state, in their order by an index of the log.
  const from = some
    ? `(SELECT DISTINCT l.record_id ${some} AND l.record_id > $1::bigint ORDER BY 1) few JOIN ${table} ON ${key} = few.record_id`
    : table;
  const texts = shape.columns.map((one) => [one.column, textOf(layout, one.column, "t")] as const);
  const searched = column
    ? textOf(layout, column, "t")
    : `concat_ws(chr(31), t.sfid, ${texts.map(([, text]) => text).join(", ")})`;
  const pairs = texts.map(([of, text]) => `(${literal(of)}, ${cut(text)})`).join(", ");
  return `SELECT ${key} AS "recordId", t.sfid, t._ab_err AS error,
      CASE ${ROW_STATES.map((one) => `WHEN ${is[one]} THEN ${literal(one)}`).join(" ")} END AS state,
      (SELECT jsonb_object_agg(c, v) FROM (VALUES ${pairs || "(NULL, NULL)"}) AS of (c, v) WHERE c IS NOT NULL) AS "values"
    FROM ${from} WHERE ${key} > $1::bigint AND ${find === null ? "$2::text IS NOT NULL" : `${searched} ILIKE $2::text`}
      AND ${state === null ? "true" : is[state]} ORDER BY ${key} LIMIT $3::bigint`;
}
