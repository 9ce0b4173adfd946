import { literal, type MappedTable, metadata } from "../session/sql.ts";

/** `timestamp without time zone`: such columns hold UTC without saying so. */
const ZONELESS = 1114;

/** What an expression of PL/pgSQL finds in the catalog of the table that its trigger fires for. */
const OF_TABLE = "FROM pg_attribute a WHERE a.attrelid = TG_RELID AND a.attnum > 0";

/** The mapped columns that are there, other than those that triggers do not see. */
const isMapped = ({ shape }: MappedTable): string =>
  `a.attname = ANY (ARRAY[${shape.columns.map(({ column }) => literal(column)).join(", ")}]::name[]) AND a.attgenerated <> 'v'`;

/** The name of the integer key; where the application has renamed it, that of the primary key. NULL: there is none. */
export const keyByName = ({ layout }: MappedTable): string => `(
        SELECT a.attname ${OF_TABLE} AND a.atttypid IN ('int8'::regtype, 'int4'::regtype, 'int2'::regtype)
          AND (a.attname = ${literal(layout.key)} OR a.attnum = (SELECT i.indkey[0] FROM pg_index i
            WHERE i.indrelid = TG_RELID AND i.indisprimary AND i.indnkeyatts = 1))
        ORDER BY a.attname = ${literal(layout.key)} DESC LIMIT 1)`;

const sfidByName = (alias: string): string =>
  `coalesce((SELECT '${alias}.sfid::varchar(18)' ${OF_TABLE} AND a.attname = 'sfid'), 'NULL')`;

/** SQL for a list about the mapped columns that are there, in their order; an empty text where none is left. */
const listByName = (mapped: MappedTable, each: string): string =>
  `coalesce((SELECT string_agg(${each}, ', ' ORDER BY a.attnum) ${OF_TABLE} AND ${isMapped(mapped)}), '')`;

const namesByName = (mapped: MappedTable): string =>
  `'ARRAY[' || ${listByName(mapped, "quote_literal(a.attname)")} || ']::text[]'`;

const textsByName = (mapped: MappedTable, alias: string): string =>
  `'ARRAY[' || ${listByName(
    mapped,
    `format(CASE a.atttypid WHEN ${ZONELESS} THEN '(${alias}.%I AT TIME ZONE ''UTC'')::text' ELSE '${alias}.%I::text' END, a.attname)`,
  )} || ']::text[]'`;

/** SQL of a row's `[sfid, {column: text}]` by the columns that are there; NULL in a copy of the schema without its data. */
export const objectByName = (mapped: MappedTable, alias: string): string =>
  `(SELECT 'jsonb_build_array(' || ${sfidByName(alias)} || ', jsonb_object(' || ${namesByName(mapped)} || ', ' || ${textsByName(mapped, alias)} || '))'
        FROM ${metadata(mapped.shape.schema).meta})`;

/**
 * PL/pgSQL that logs a statement's rows by the mapped columns that are there now, with any types. It is planned at each
 * call, so it serves only between a change of the table and the next cycle, or until the table is repaired. For a table
 * `contact` with the columns `name` and `at`, which has no zone, it executes at an insert:
 *
 *     INSERT INTO "s"."_trigger_log" (action, table_name, record_id, sfid, old, "values")
 *     SELECT 'INSERT', 'contact', n.id, n.sfid::varchar(18), NULL, jsonb_object(ARRAY['name', 'at']::text[],
 *       ARRAY[n.name::text, (n.at AT TIME ZONE 'UTC')::text]::text[]) FROM new_rows n
 */
export function statementByName(mapped: MappedTable, kind: "insert" | "update" | "delete"): string {
  const { log, meta } = metadata(mapped.shape.schema);
  const side = kind === "delete" ? "o" : "n";
  const [names, old, now] = [namesByName(mapped), textsByName(mapped, "o"), textsByName(mapped, "n")];
  const into = `INSERT INTO ${log} (action, table_name, record_id, sfid, old, "values")
        SELECT ${literal(kind.toUpperCase())}, ${literal(mapped.shape.table)}, ${side}.`;
  const rows = {
    insert: "%I, %s, NULL, jsonb_object(%s, %5$s) FROM new_rows n",
    delete: "%I, %s, jsonb_object(%s, %4$s), NULL FROM old_rows o",
    update: `%I, %s, c.old, c.now FROM old_rows o JOIN new_rows n ON n.%1$I = o.%1$I
        CROSS JOIN LATERAL (SELECT jsonb_object_agg(name, was) AS old, jsonb_object_agg(name, is_now) AS now
          FROM unnest(%3$s, %4$s, %5$s) AS v (name, was, is_now) WHERE was IS DISTINCT FROM is_now) c
        WHERE c.old IS NOT NULL`,
  };
  return `DECLARE key name := ${keyByName(mapped)}; BEGIN
        IF key IS NOT NULL AND EXISTS (SELECT FROM ${meta}) THEN
          EXECUTE ${literal(into)} || format(${literal(rows[kind])}, key, ${sfidByName(side)}, ${names}, ${old}, ${now});
          GET DIAGNOSTICS captured = ROW_COUNT;
        END IF;
      END;`;
}
