import { longId } from "../../../model/record/long-id.ts";
import { toCamelCase } from "../../../model/snake-case.ts";
import { type RowStory, rowStory } from "../../../settings/row-ports.ts";
import {
  type Ask,
  cut,
  iso,
  literal,
  type MappedTable,
  type Metadata,
  mappedOf,
  name,
  qualified,
  textOf,
} from "../session/sql.ts";
import { CHANGE_COLUMNS, CONFLICT_COLUMNS } from "./change-history.ts";
import { isKey } from "./row-activity.ts";

/** The latest ones of each kind, at most so many. */
const MOST = 200;

/** A row by its record's id, its key or the value of its upsert field; of one that is gone by what is left of it. */
export async function readStory(ask: Ask, tables: Metadata, mappingId: string, key: string): Promise<RowStory | null> {
  const [state] = await ask(
    `SELECT shape, layout, (SELECT json_agg(attname) FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped
       AND attrelid = to_regclass(format('%I.%I', shape ->> 'schema', shape ->> 'table'))::oid) AS columns
     FROM ${tables.state} WHERE mapping_id = $1`,
    [mappingId],
  );
  if (!state) return null;
  const mapped = withColumns(mappedOf(state), (state["columns"] ?? []) as readonly string[]);
  const { there, gone } = waysTo(tables, mapped, key);
  const [present] = await ask(firstOf(there), [key, mappingId]);
  const [found] = present ? [present] : await ask(firstOf(gone), [key, mappingId]);
  if (!found) return null;
  const [story] = await ask(storyOf(tables, mapped), [
    mappingId,
    mapped.shape.table,
    found["record_id"],
    found["sfid"],
  ]);
  const shown = toCamelCase(rowStory, { ...story, ...found });
  return { ...shown, shape: mapped.shape };
}

/** Without those that are gone from the table. */
const withColumns = ({ shape, ...mapped }: MappedTable, there: readonly string[]): MappedTable => ({
  ...mapped,
  shape: { ...shape, columns: shape.columns.filter(({ column }) => there.includes(column)) },
});

/** SELECTs of a row by its record, its key or its upsert value, and of one that is gone. Parameters: what was given, mapping. */
function waysTo({ tombstones, inboundErrors, log }: Metadata, { shape, layout }: MappedTable, given: string) {
  const table = qualified(shape.schema, shape.table);
  const there: string[] = [];
  const gone: string[] = [];
  let ways = there;
  const way = (from: string, where: string, recordId: string, order = "") =>
    ways.push(
      `(SELECT ${ways.length} AS way, ${recordId}::bigint AS record_id, t.sfid::text AS sfid FROM ${from} WHERE ${where} ${order} LIMIT 1)`,
    );
  const latest = "ORDER BY t.id DESC";
  const key = `t.${name(layout.key)}`;
  const isNumber = /^\d{1,18}$/.test(given);
  if (RECORD_ID.test(given)) way(`${table} t`, `t.sfid::text = ${literal(longId(given))}`, key);
  if (isNumber) way(`${table} t`, `${key} = $1::text::bigint`, key);
  const upsert = shape.columns.find(({ field }) => field === shape.upsertField);
  if (upsert) way(`${table} t`, isKey(upsert.column, "$1"), key);
  ways = gone;
  if (RECORD_ID.test(given)) {
    way(`${tombstones} t`, `t.mapping_id = $2 AND t.sfid::text = ${literal(longId(given))}`, "t.record_id", latest);
    way(`${inboundErrors} t`, `t.mapping_id = $2 AND t.sfid::text = ${literal(longId(given))}`, "NULL");
  }
  if (isNumber) {
    for (const is of ["NULL", "NOT NULL"])
      way(
        `${log} t`,
        `t.table_name::text = ${literal(shape.table)} AND t.record_id = $1::text::bigint AND t.processed_at IS ${is}`,
        "t.record_id",
        latest,
      );
    way(`${tombstones} t`, "t.mapping_id = $2 AND t.record_id = $1::text::bigint", "t.record_id", latest);
  }
  if (upsert) {
    const last = `SELECT * FROM ${tombstones} WHERE mapping_id = $2 ORDER BY deleted_at DESC LIMIT ${LATEST_DELETES}`;
    const wanted = `t.table_name::text = ${literal(shape.table)} AND t.action::text = 'DELETE' AND t.old ->> ${literal(upsert.column)} = $1`;
    way(`${log} t`, `${wanted} AND t.processed_at IS NULL`, "t.record_id", latest);
    way(
      `(${last}) d JOIN ${log} t ON t.record_id = d.record_id`,
      `${wanted} AND t.processed_at IS NOT NULL`,
      "t.record_id",
      latest,
    );
  }
  return { there, gone };
}

const firstOf = (ways: readonly string[]): string =>
  `SELECT record_id, sfid FROM (${ways.join(" UNION ALL ") || NO_WAY}) AS found
    WHERE $1::text IS NOT NULL AND $2::text IS NOT NULL ORDER BY way LIMIT 1`;

const NO_WAY = "SELECT 0 AS way, NULL::bigint AS record_id, NULL::text AS sfid WHERE false";

/** Deletes whose rows' upsert values are looked at, the latest. */
const LATEST_DELETES = 10_000;

const RECORD_ID = /^[A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?$/;

/** Parameters: mapping, table, key of the row, id of the record. */
function storyOf(tables: Metadata, { shape, layout }: MappedTable): string {
  const list = (rows: string) => `(SELECT coalesce(json_agg(listed), '[]') FROM (${rows}) AS listed)`;
  const ofRow = (table: string) => `FROM ${table} WHERE mapping_id = $1 AND record_id = $3::bigint`;
  const pairs = shape.columns
    .map(({ column }) => `(${literal(column)}, ${cut(textOf(layout, column, "t"))})`)
    .join(", ");
  const changes = ["NULL", "NOT NULL"].map(
    (is) =>
      `(SELECT * FROM ${tables.log} WHERE table_name::text = $2 AND record_id = $3::bigint AND processed_at IS ${is} ORDER BY id DESC LIMIT ${MOST})`,
  );
  const refused = `(SELECT coalesce(json_agg(json_build_object('at', ${iso("h.at")}, 'message', ${cut("h.message")}) ORDER BY h.id), '[]')
        FROM ${tables.history} h WHERE h.mapping_id = $1 AND h.record_id = $3::bigint AND h.change_id = l.id)`;
  return `SELECT
    (SELECT (SELECT jsonb_object_agg(c, v) FROM (VALUES ${pairs || "(NULL, NULL)"}) AS of (c, v) WHERE c IS NOT NULL)
      FROM ${qualified(shape.schema, shape.table)} t WHERE t.${name(layout.key)} = $3::bigint) AS "row",
    ${list(`SELECT ${CHANGE_COLUMNS}, actor, ${refused} AS attempts_refused
      FROM (${changes.join(" UNION ALL ")}) AS l ORDER BY id DESC LIMIT ${MOST}`)} AS changes,
    ${list(`SELECT ${CONFLICT_COLUMNS} ${ofRow(tables.conflicts)} ORDER BY id DESC LIMIT ${MOST}`)} AS conflicts,
    ${list(`SELECT ${iso("at")} AS at, fields ${ofRow(tables.history)} AND change_id IS NULL ORDER BY id DESC LIMIT ${MOST}`)} AS pulled,
    ${list(`SELECT ${iso("deleted_at")} AS at, by_salesforce, reason FROM ${tables.tombstones} WHERE mapping_id = $1 AND sfid::text = $4::text ORDER BY id DESC LIMIT ${MOST}`)} AS deletions,
    (SELECT json_build_object('mapping_id', mapping_id, 'sfid', sfid, 'error', ${cut("error")}, 'attempts', attempts, 'first_at', ${iso("first_at")}, 'last_at', ${iso("last_at")})
      FROM ${tables.inboundErrors} WHERE mapping_id = $1 AND sfid::text = $4::text) AS inbound`;
}
