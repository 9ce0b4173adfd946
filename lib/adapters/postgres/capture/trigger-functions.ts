import { ENDINGS } from "../../../model/record/long-id.ts";
import { qualify } from "../session/qualify.ts";
import { differs, type Layout, literal, type MappedTable, metadata, name, qualified, textOf } from "../session/sql.ts";
import { keyByName, objectByName, statementByName } from "./by-name.ts";
import type { CatalogColumn } from "./catalog.ts";
import { BEGAN, beginFunction, END_STATEMENT, NOTE_LOGGED, orderNested, READ_NOTE } from "./nested-writes.ts";
import { functionName, UNLESS_OWN_TABLE } from "./own-functions.ts";

/**
 * Condition of a trigger: whether a row of this transaction may have got another key. It finds nothing to do in a
 * statement that changed none.
 */
export const IS_REKEYED = "current_setting('bridge.rekeyed', true) = 'yes'";

const REKEYED = "PERFORM pg_catalog.set_config('bridge.rekeyed', 'yes', true);";

/**
 * The functions of a mapped table's triggers, for the columns that it has. An application may change its table before
 * they are created again: then they use the names of the columns that are left, and never fail a write.
 */
export function captureFunctions(mapped: MappedTable, columns: readonly CatalogColumn[]): string {
  const whole = isWhole(mapped, columns);
  const seen = capturedColumns(mapped, columns);
  return [
    beginFunction(mapped),
    captureFunction(mapped, "insert", whole, insertedRows(mapped, seen)),
    captureFunction(mapped, "update", whole, updatedRows(mapped, seen)),
    captureFunction(mapped, "delete", whole, deletedRows(mapped, seen)),
    truncateFunction(mapped),
    rekeyFunction(mapped),
    markFunction(mapped, seen),
  ].join("\n");
}

/** The mapped columns that triggers see: what PostgreSQL computes when it is read (VIRTUAL) is always NULL in them. */
function capturedColumns({ shape }: MappedTable, columns: readonly CatalogColumn[]): readonly string[] {
  const virtual = new Set(columns.filter(({ isVirtual }) => isVirtual).map(({ column }) => column));
  return shape.columns.map(({ column }) => column).filter((column) => !virtual.has(column));
}

/**
 * Runs as its owner, so that writing the table takes no right on the log; with a fixed search path, so that no other
 * role's functions are called. Values are logged as text in one zone and style. A plan made for one row would join the
 * two sides of a later 50,000-row statement by nested loops, hence no such plan.
 */
const SETTINGS = `LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET enable_nestloop = 'off'`;

/**
 * How a function that logs begins: in a copy of the database without Bridge's tables, and on a table that gave its name
 * to another one, it logs nothing. A view that has the name instead shows the table under its new one.
 */
function unlessElsewhere({ shape }: MappedTable): string {
  const mapped = `to_regclass(${literal(qualified(shape.schema, shape.table))})`;
  return `${UNLESS_OWN_TABLE}
    IF to_regclass(${literal(metadata(shape.schema).meta)}) IS NULL THEN RETURN NULL; END IF;
    IF ${mapped} <> TG_RELID THEN
      IF EXISTS (SELECT FROM pg_class c WHERE c.oid = ${mapped} AND c.relkind = 'r') THEN RETURN NULL; END IF;
    END IF;`;
}

/**
 * Whether each column that is captured, the key and `sfid` are there by name, with the types that the statement was
 * written for. One query of the catalog; false as well in a copy of the schema without its data, which maps nothing.
 */
function isWhole({ shape, layout }: MappedTable, columns: readonly CatalogColumn[]): string {
  const wanted = new Set([layout.key, "sfid", ...shape.columns.map(({ column }) => column)]);
  const byType = Map.groupBy(
    columns.filter(({ column }) => wanted.has(column)),
    ({ typeOid }) => typeOid,
  );
  const found = [...byType].map(
    ([oid, ofType]) =>
      `a.atttypid = ${oid} AND a.attname = ANY (ARRAY[${ofType.map(({ column }) => literal(column)).join(", ")}]::name[])`,
  );
  return `(SELECT count(*) FROM pg_attribute a WHERE a.attrelid = TG_RELID AND a.attnum > 0 AND (${found.join(" OR ")})
      AND EXISTS (SELECT FROM ${metadata(shape.schema).meta})) = ${wanted.size}`;
}

type Kind = "insert" | "update" | "delete";

function captureFunction(mapped: MappedTable, kind: Kind, whole: string, rows: string): string {
  const { shape } = mapped;
  const { log } = metadata(shape.schema);
  return `CREATE OR REPLACE FUNCTION ${qualified(shape.schema, functionName(kind, shape.table))}() RETURNS trigger ${SETTINGS}
  AS $bridge$ BEGIN ${unlessElsewhere(mapped)}
    DECLARE captured bigint; notes text; BEGIN
      IF ${whole} THEN
        INSERT INTO ${log} (action, table_name, record_id, sfid, old, "values") ${rows};
        GET DIAGNOSTICS captured = ROW_COUNT;
      ELSE
        ${statementByName(mapped, kind)}
      END IF;
      ${orderNested(mapped, kind)}
      ${END_STATEMENT}
    END;
    RETURN NULL;
  END $bridge$;`;
}

function insertedRows({ shape, layout }: MappedTable, columns: readonly string[]): string {
  return `SELECT 'INSERT', ${literal(shape.table)}, n.${name(layout.key)}, n.sfid, NULL, ${wholeRow(columns, layout, "n")}
    FROM new_rows n`;
}

function deletedRows({ shape, layout }: MappedTable, columns: readonly string[]): string {
  return `SELECT 'DELETE', ${literal(shape.table)}, o.${name(layout.key)}, o.sfid, ${wholeRow(columns, layout, "o")}, NULL
    FROM old_rows o`;
}

function updatedRows({ shape, layout }: MappedTable, columns: readonly string[]): string {
  const key = name(layout.key);
  return `SELECT 'UPDATE', ${literal(shape.table)}, n.${key}, n.sfid, ${changedOnly(columns, layout, "o")}, ${changedOnly(columns, layout, "n")}
    FROM old_rows o JOIN new_rows n ON n.${key} = o.${key}
    WHERE ${differs(layout, columns, "o", "n")}`;
}

/** All mapped columns as one JSON object of texts: the fastest way that PostgreSQL has to build one. */
export function wholeRow(columns: readonly string[], layout: Layout, alias: string): string {
  if (columns.length === 0) return "'{}'::jsonb";
  const names = columns.map(literal).join(", ");
  const values = columns.map((column) => textOf(layout, column, alias)).join(", ");
  return `jsonb_object(ARRAY[${names}], ARRAY[${values}])`;
}

function changedOnly(columns: readonly string[], layout: Layout, alias: string): string {
  if (columns.length === 0) return "'{}'::jsonb";
  const parts = columns.map((column) => {
    const member = literal(`${JSON.stringify(column)}:`);
    const value = `coalesce(to_json(${textOf(layout, column, alias)})::text, 'null')`;
    return `CASE WHEN ${differs(layout, [column], "o", "n")} THEN ${member} || ${value} END`;
  });
  return `('{' || array_to_string(ARRAY[${parts.join(", ")}], ',') || '}')::jsonb`;
}

function truncateFunction({ shape }: MappedTable): string {
  return `CREATE OR REPLACE FUNCTION ${qualified(shape.schema, functionName("truncate", shape.table))}() RETURNS trigger ${SETTINGS}
  AS $bridge$ BEGIN
    RAISE WARNING 'TRUNCATE of % deletes nothing in Salesforce', ${literal(shape.table)}
      USING HINT = 'The records stay there. Use DELETE to delete them, or reload the mapping to get the rows back.';
    RETURN NULL;
  END $bridge$;`;
}

/**
 * A row that gets another key takes its waiting changes along, and is logged whole. The two sides of a statement have
 * their rows in the same order. Keys that move up are logged from the largest on, so that none meets a later one.
 */
function rekeyFunction(mapped: MappedTable): string {
  const { shape } = mapped;
  const { log } = metadata(shape.schema);
  const table = literal(shape.table);
  const follow = `UPDATE ${log} SET record_id = one.now WHERE table_name = ${table} AND record_id = one.was`;
  return `CREATE OR REPLACE FUNCTION ${qualified(shape.schema, functionName("rekey", shape.table))}() RETURNS trigger ${SETTINGS}
  AS $bridge$ BEGIN ${unlessElsewhere(mapped)}
    DECLARE key name := ${keyByName(mapped)}; by_name text := ${objectByName(mapped, "n")}; one record;
      captured bigint := 0; notes text; BEGIN
      IF key IS NULL OR by_name IS NULL THEN RETURN NULL; END IF;
      ${READ_NOTE}
      FOR one IN EXECUTE format($pairs$
        SELECT o.key AS was, n.%1$I AS now, %2$s AS content
        FROM (SELECT row_number() OVER () AS _bridge_place, %1$I AS key FROM old_rows) o
          JOIN (SELECT row_number() OVER () AS _bridge_place, new_rows.* FROM new_rows) n USING (_bridge_place)
        WHERE n.%1$I <> o.key ORDER BY CASE WHEN n.%1$I > o.key THEN o.key END DESC NULLS LAST, o.key $pairs$, key, by_name)
      LOOP
        ${follow} AND processed_at IS NULL AND (txid = txid_current() AND id > ${BEGAN}) IS NOT TRUE;
        ${follow} AND last_operation = 'FAILED';
        ${follow} AND row_owed;
        INSERT INTO ${log} (action, table_name, record_id, sfid, old, "values")
          VALUES ('UPDATE', ${table}, one.now, one.content ->> 0, '{}', one.content -> 1);
        captured := captured + 1;
      END LOOP;
      ${orderNested(mapped, "update")}
      notes := ${NOTE_LOGGED};
    END;
    RETURN NULL;
  END $bridge$;`;
}

/** An expression of the id of 18 characters (`longId`) of one of 15. */
export const longIdOf = (id: string): string => `${id} || (
      SELECT string_agg(substr(${literal(ENDINGS)}, 1 + third.bits::int, 1), '' ORDER BY third.n)
      FROM (SELECT (place - 1) / 5 AS n, sum(CASE WHEN ascii(substr(${id}, place, 1)) BETWEEN 65 AND 90 THEN 1 << (place - 1) % 5 ELSE 0 END) AS bits
        FROM generate_series(1, 15) AS place GROUP BY 1) AS third)`;

/**
 * Of a row that lacks a column, or whose types have changed since this session has made its plans, nothing is marked. The
 * subtransaction writes nothing, so it takes no transaction id. It runs for each row as the one who writes, so it has no
 * settings of its own, which would cost as much again.
 */
function markFunction({ shape, layout }: MappedTable, columns: readonly string[]): string {
  const key = name(layout.key);
  const stored = columns.filter((column) => !layout.generated.includes(column));
  return `CREATE OR REPLACE FUNCTION ${qualified(shape.schema, functionName("mark", shape.table))}() RETURNS trigger
  LANGUAGE plpgsql
  AS $bridge$ BEGIN
    IF pg_catalog.length(NEW.sfid::text) = 15 THEN NEW.sfid := ${qualify(longIdOf("NEW.sfid::text"))}; END IF;
    IF TG_OP = 'INSERT' THEN
      IF NEW._ab_lastop::text = 'PENDING' AND NEW._ab_err IS NULL THEN RETURN NEW; END IF;
    ELSE
      IF OLD.${key} <> NEW.${key} THEN ${REKEYED} END IF;
      IF NOT ${differs(layout, stored, "OLD", "NEW")} THEN RETURN NEW; END IF;
    END IF;
    NEW._ab_lastop := 'PENDING';
    NEW._ab_err := NULL;
    RETURN NEW;
  EXCEPTION WHEN undefined_column OR undefined_function OR datatype_mismatch OR string_data_right_truncation THEN
    IF TG_OP = 'UPDATE' THEN ${REKEYED} END IF;
    RETURN NEW;
  END $bridge$;`;
}
