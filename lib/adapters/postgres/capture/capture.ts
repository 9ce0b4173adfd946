import { pushes } from "../../../model/mapping/mapping.ts";
import type { SchemaChanges } from "../../../model/workspace/workspace.ts";
import { literal, type MappedTable, name, qualified } from "../session/sql.ts";
import type { CatalogColumn } from "./catalog.ts";
import { functionName, ownFunctions } from "./own-functions.ts";
import { captureFunctions, IS_REKEYED } from "./trigger-functions.ts";

/** Raised with each change of triggers or functions: the daily check then replaces older ones. */
export const CAPTURE_VERSION = 4;

/** The triggers that capture cannot do without. */
export const CAPTURE_TRIGGERS = [
  "_bridge_insert",
  "_bridge_update",
  "_bridge_delete",
  "_bridge_truncate",
  "_bridge_rekey",
  "zz_bridge_insert",
  "zz_bridge_update",
] as const;

/** All that capture puts on a table. Those of versions up to 0.3 lack the first, by which nested writes are put in order. */
const OWN_TRIGGERS = ["_bridge_begin", ...CAPTURE_TRIGGERS];

/**
 * The statements that make capture what this version of the mapping asks for: per statement one insert into the log
 * with what the statement changed, and the row's `_ab_lastop` set to PENDING. A mapping that only reads from
 * Salesforce captures nothing.
 */
export function captureStatements(
  mapped: MappedTable,
  columns: readonly CatalogColumn[],
  schemaChanges: SchemaChanges,
): string {
  const { shape } = mapped;
  const table = qualified(shape.schema, shape.table);
  if (!pushes(shape.direction)) return endCapture(shape.schema, shape.table, schemaChanges);
  return [
    endCapture(shape.schema, shape.table, schemaChanges),
    endCaptureOfOthers(shape.schema, shape.table),
    // Saves the trigger of each row an assignment.
    ...(schemaChanges === "apply" ? [`ALTER TABLE ${table} ALTER COLUMN _ab_lastop SET DEFAULT 'PENDING';`] : []),
    captureFunctions(mapped, columns),
    triggers(mapped),
    ...(shape.capture === "always" ? OWN_TRIGGERS.map((trigger) => enableAlways(table, trigger)) : []),
  ].join("\n");
}

/** Makes a trigger fire for a session that asks for none (`session_replication_role = replica`), too. */
const enableAlways = (table: string, trigger: string) => `ALTER TABLE ${table} ENABLE ALWAYS TRIGGER ${name(trigger)};`;

/** Ends capture on a table; harmless where there is none. A default is the application's where it changes its tables itself. */
export function endCapture(
  schema: string,
  table: string,
  schemaChanges: SchemaChanges,
  triggers: readonly string[] = OWN_TRIGGERS,
): string {
  const on = qualified(schema, table);
  const drops = triggers.map((trigger) => `DROP TRIGGER IF EXISTS ${name(trigger)} ON ${on};`);
  if (schemaChanges === "propose") return drops.join("\n");
  // The application may have dropped the column.
  const unmark = `DO $bridge$ BEGIN ALTER TABLE ${on} ALTER COLUMN _ab_lastop DROP DEFAULT;
    EXCEPTION WHEN undefined_column THEN NULL; END $bridge$;`;
  return [...drops, unmark].join("\n");
}

/** A table that had the name before has kept the triggers: what is written to it is no change of this one. */
function endCaptureOfOthers(schema: string, table: string): string {
  const functions = ownFunctions(table).map(literal).join(", ");
  return `DO $bridge$ DECLARE one record; BEGIN
    FOR one IN SELECT t.tgname, t.tgrelid::regclass AS on_table
      FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid
      WHERE p.pronamespace = ${literal(name(schema))}::regnamespace::oid AND p.proname IN (${functions})
        AND t.tgrelid <> ${literal(qualified(schema, table))}::regclass::oid AND c.relpersistence <> 't'
        AND pg_has_role(c.relowner, 'USAGE')
    LOOP EXECUTE format('DROP TRIGGER IF EXISTS %I ON %s', one.tgname, one.on_table); END LOOP;
  END $bridge$;`;
}

/** Takes a table's functions away, once no trigger calls them. */
export const dropFunctions = (schema: string, table: string): string =>
  ownFunctions(table)
    .map((own) => `DROP FUNCTION IF EXISTS ${qualified(schema, own)}();`)
    .join("\n");

/**
 * No trigger names a mapped column, in its WHEN or as `UPDATE OF`: PostgreSQL would refuse to change or drop the column.
 * What a trigger needs to know of columns its function looks up.
 */
function triggers({ shape }: MappedTable): string {
  const table = qualified(shape.schema, shape.table);
  const run = (kind: string) => `EXECUTE FUNCTION ${qualified(shape.schema, functionName(kind, shape.table))}()`;
  // Silent for our own statements alone: what a customer's trigger writes to this table meanwhile is deeper, and after
  // a pooled transaction the setting reads '' instead of NULL.
  const isCaptured = `(current_setting('bridge.in_sync', true) IS DISTINCT FROM ${literal(shape.table)} OR pg_trigger_depth() > 0)`;
  const bothSides = "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows";
  return `
    CREATE TRIGGER _bridge_begin BEFORE INSERT OR UPDATE OR DELETE ON ${table} FOR EACH STATEMENT ${run("begin")};
    CREATE TRIGGER _bridge_insert AFTER INSERT ON ${table} REFERENCING NEW TABLE AS new_rows
      FOR EACH STATEMENT WHEN (${isCaptured}) ${run("insert")};
    CREATE TRIGGER _bridge_update AFTER UPDATE ON ${table} ${bothSides}
      FOR EACH STATEMENT WHEN (${isCaptured}) ${run("update")};
    CREATE TRIGGER _bridge_delete AFTER DELETE ON ${table} REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT WHEN (${isCaptured}) ${run("delete")};
    CREATE TRIGGER _bridge_truncate AFTER TRUNCATE ON ${table} FOR EACH STATEMENT ${run("truncate")};
    CREATE TRIGGER _bridge_rekey AFTER UPDATE ON ${table} ${bothSides}
      FOR EACH STATEMENT WHEN (${IS_REKEYED}) ${run("rekey")};
    CREATE TRIGGER zz_bridge_insert BEFORE INSERT ON ${table} FOR EACH ROW WHEN (${isCaptured}) ${run("mark")};
    CREATE TRIGGER zz_bridge_update BEFORE UPDATE ON ${table} FOR EACH ROW WHEN (${isCaptured}) ${run("mark")};`;
}
