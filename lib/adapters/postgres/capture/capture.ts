import { pushes } from "../../../model/mapping/mapping.ts";
import { differs, type Layout, literal, type MappedTable, metadata, name, qualified, textOf } from "../session/sql.ts";
import { functionName, UNLESS_OWN_TABLE } from "./own-functions.ts";

/** The triggers that capture puts on a table; there were never others. */
export const CAPTURE_TRIGGERS = [
  "_bridge_insert",
  "_bridge_update",
  "_bridge_delete",
  "_bridge_truncate",
  "_bridge_rekey",
  "zz_bridge_insert",
  "zz_bridge_update",
] as const;

/**
 * The statements that make capture what this version of the mapping asks for: per statement one insert into the log
 * with what the statement changed, and the row's `_ab_lastop` set to PENDING. A mapping that only reads from
 * Salesforce captures nothing.
 */
export function captureStatements(mapped: MappedTable): string {
  const { shape } = mapped;
  const table = qualified(shape.schema, shape.table);
  if (!pushes(shape.direction)) return endCapture(shape.schema, shape.table);
  return [
    endCapture(shape.schema, shape.table),
    endCaptureOfOthers(shape.schema, shape.table),
    // Costs a user's INSERT nothing, where a trigger per row would.
    `ALTER TABLE ${table} ALTER COLUMN _ab_lastop SET DEFAULT 'PENDING';`,
    captureFunction(mapped, "insert", insertedRows(mapped)),
    captureFunction(mapped, "update", updatedRows(mapped)),
    captureFunction(mapped, "delete", deletedRows(mapped)),
    truncateFunction(mapped),
    rekeyFunction(mapped),
    markFunction(mapped),
    triggers(mapped),
    ...(shape.capture === "always" ? CAPTURE_TRIGGERS.map((trigger) => enableAlways(table, trigger)) : []),
  ].join("\n");
}

/** Makes a trigger fire for a session that asks for none (`session_replication_role = replica`), too. */
const enableAlways = (table: string, trigger: string) => `ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${name(trigger)};`;

/** Ends capture on a table; harmless where there is none. */
export function endCapture(schema: string, table: string): string {
  const on = qualified(schema, table);
  const drops = CAPTURE_TRIGGERS.map((trigger) => `DROP TRIGGER IF EXISTS ${name(trigger)} ON ${on};`);
  return [...drops, `ALTER TABLE ${on} ALTER COLUMN _ab_lastop DROP DEFAULT;`].join("\n");
}

/** A table that had the name before has kept the triggers: what is written to it is no change of this one. */
function endCaptureOfOthers(schema: string, table: string): string {
  const functions = FUNCTIONS.map((kind) => literal(functionName(kind, table))).join(", ");
  return `DO $bridge$ DECLARE one record; BEGIN
    FOR one IN SELECT t.tgname, t.tgrelid::regclass AS on_table
      FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid
      WHERE p.pronamespace = ${literal(name(schema))}::regnamespace AND p.proname IN (${functions})
        AND t.tgrelid <> ${literal(qualified(schema, table))}::regclass AND c.relpersistence <> 't'
        AND pg_has_role(c.relowner, 'USAGE')
    LOOP EXECUTE format('DROP TRIGGER IF EXISTS %I ON %s', one.tgname, one.on_table); END LOOP;
  END $bridge$;`;
}

const FUNCTIONS = ["insert", "update", "delete", "truncate", "rekey", "mark"];

/** Takes capture's functions away, once no trigger calls them. */
export function dropCaptureFunctions(schema: string, table: string): string {
  return FUNCTIONS.map((kind) => `DROP FUNCTION IF EXISTS ${qualified(schema, functionName(kind, table))}();`).join(
    "\n",
  );
}

/**
 * Runs as its owner, so that writing the table takes no right on the log; with a fixed search path, so that nobody
 * slips it other functions. Values are logged as text in one zone and style. A plan made for one row would join the
 * two sides of a later 50,000-row statement by nested loops, hence no such plan.
 */
const SETTINGS = `LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET enable_nestloop = 'off'`;

function captureFunction({ shape }: MappedTable, kind: string, rows: string): string {
  const { log } = metadata(shape.schema);
  return `CREATE OR REPLACE FUNCTION ${qualified(shape.schema, functionName(kind, shape.table))}() RETURNS trigger ${SETTINGS}
  AS $bridge$ BEGIN ${UNLESS_OWN_TABLE}
    INSERT INTO ${log} (action, table_name, record_id, sfid, old, "values") ${rows};
    RETURN NULL;
  END $bridge$;`;
}

function insertedRows({ shape, layout }: MappedTable): string {
  return `SELECT 'INSERT', ${literal(shape.table)}, n.${name(layout.key)}, n.sfid, NULL, ${wholeRow(
    shape.columns.map(({ column }) => column),
    layout,
    "n",
  )}
    FROM new_rows n`;
}

function deletedRows({ shape, layout }: MappedTable): string {
  return `SELECT 'DELETE', ${literal(shape.table)}, o.${name(layout.key)}, o.sfid, ${wholeRow(
    shape.columns.map(({ column }) => column),
    layout,
    "o",
  )}, NULL
    FROM old_rows o`;
}

function updatedRows({ shape, layout }: MappedTable): string {
  const columns = shape.columns.map(({ column }) => column);
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

/** A row that gets another key takes its waiting changes along, and is logged whole. */
function rekeyFunction({ shape, layout }: MappedTable): string {
  const { log } = metadata(shape.schema);
  const key = name(layout.key);
  const values = wholeRow(
    shape.columns.map(({ column }) => column),
    layout,
    "NEW",
  );
  return `CREATE OR REPLACE FUNCTION ${qualified(shape.schema, functionName("rekey", shape.table))}() RETURNS trigger ${SETTINGS}
  AS $bridge$ BEGIN ${UNLESS_OWN_TABLE}
    UPDATE ${log} SET record_id = NEW.${key}
      WHERE table_name = ${literal(shape.table)} AND record_id = OLD.${key} AND processed_at IS NULL;
    UPDATE ${log} SET record_id = NEW.${key}
      WHERE table_name = ${literal(shape.table)} AND record_id = OLD.${key} AND last_operation = 'FAILED';
    UPDATE ${log} SET record_id = NEW.${key}
      WHERE table_name = ${literal(shape.table)} AND record_id = OLD.${key} AND row_owed;
    INSERT INTO ${log} (action, table_name, record_id, sfid, old, "values")
      VALUES ('UPDATE', ${literal(shape.table)}, NEW.${key}, NEW.sfid, '{}', ${values});
    RETURN NULL;
  END $bridge$;`;
}

function markFunction({ shape }: MappedTable): string {
  return `CREATE OR REPLACE FUNCTION ${qualified(shape.schema, functionName("mark", shape.table))}() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  AS $bridge$ BEGIN
    NEW._ab_lastop := 'PENDING';
    NEW._ab_err := NULL;
    RETURN NEW;
  END $bridge$;`;
}

function triggers({ shape, layout }: MappedTable): string {
  const table = qualified(shape.schema, shape.table);
  const run = (kind: string) => `EXECUTE FUNCTION ${qualified(shape.schema, functionName(kind, shape.table))}()`;
  // Silent for our own statements alone: what a customer's trigger writes to this table meanwhile is deeper, and after
  // a pooled transaction the setting reads '' instead of NULL.
  const heard = `(current_setting('bridge.in_sync', true) IS DISTINCT FROM ${literal(shape.table)} OR pg_trigger_depth() > 0)`;
  const stored = shape.columns.map(({ column }) => column).filter((column) => !layout.generated.includes(column));
  return `
    CREATE TRIGGER _bridge_insert AFTER INSERT ON ${table} REFERENCING NEW TABLE AS new_rows
      FOR EACH STATEMENT WHEN (${heard}) ${run("insert")};
    CREATE TRIGGER _bridge_update AFTER UPDATE ON ${table} REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
      FOR EACH STATEMENT WHEN (${heard}) ${run("update")};
    CREATE TRIGGER _bridge_delete AFTER DELETE ON ${table} REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT WHEN (${heard}) ${run("delete")};
    CREATE TRIGGER _bridge_truncate AFTER TRUNCATE ON ${table} FOR EACH STATEMENT ${run("truncate")};
    CREATE TRIGGER _bridge_rekey AFTER UPDATE OF ${name(layout.key)} ON ${table}
      FOR EACH ROW WHEN (OLD.${name(layout.key)} IS DISTINCT FROM NEW.${name(layout.key)}) ${run("rekey")};
    CREATE TRIGGER zz_bridge_insert BEFORE INSERT ON ${table}
      FOR EACH ROW WHEN ((NEW._ab_lastop IS DISTINCT FROM 'PENDING' OR NEW._ab_err IS NOT NULL) AND ${heard}) ${run("mark")};
    CREATE TRIGGER zz_bridge_update BEFORE UPDATE ON ${table}
      FOR EACH ROW WHEN (${differs(layout, stored, "OLD", "NEW")} AND ${heard}) ${run("mark")};`;
}
