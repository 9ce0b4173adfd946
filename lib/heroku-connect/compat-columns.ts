import { functionName } from "../adapters/postgres/capture/own-functions.ts";
import { type MappedTable, name, qualified } from "../adapters/postgres/session/sql.ts";

/** Fires after every other trigger of a row, for triggers fire in the order of their names. */
const TRIGGERS = ["zzz_bridge_hc_insert", "zzz_bridge_hc_update"] as const;

/**
 * The statements by which `_hc_lastop` and `_hc_err`, where Heroku Connect has created them, continue to say what
 * `_ab_lastop` and `_ab_err` say, in its words; where they are not, nothing is done. `_hc_err` is a JSON object, the
 * error under `msg`.
 */
export function keepCompatColumns({ shape, layout }: MappedTable): string {
  const { schema, table } = shape;
  const statements = [dropCompatColumns(schema, table)];
  if ("_hc_lastop" in layout.types && "_hc_err" in layout.types) statements.push(serving(schema, table));
  return statements.join("\n");
}

/** Takes the triggers away again; harmless where there are none. */
export function dropCompatColumns(schema: string, table: string): string {
  return TRIGGERS.map((trigger) => `DROP TRIGGER IF EXISTS ${name(trigger)} ON ${qualified(schema, table)};`).join(
    "\n",
  );
}

function serving(schema: string, table: string): string {
  const on = qualified(schema, table);
  const run = `${qualified(schema, functionName("serve", table))}()`;
  return `
    CREATE OR REPLACE FUNCTION ${run} RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $bridge$ BEGIN
      NEW._hc_lastop := NEW._ab_lastop;
      NEW._hc_err := CASE WHEN NEW._ab_err IS NOT NULL THEN json_build_object('msg', NEW._ab_err) END;
      RETURN NEW;
    EXCEPTION WHEN undefined_column THEN
      RETURN NEW; -- The application has dropped Heroku Connect's columns, or renamed ours.
    END $bridge$;
    CREATE TRIGGER ${TRIGGERS[0]} BEFORE INSERT ON ${on} FOR EACH ROW EXECUTE FUNCTION ${run};
    CREATE TRIGGER ${TRIGGERS[1]} BEFORE UPDATE ON ${on} FOR EACH ROW
      WHEN (OLD._ab_lastop::text IS DISTINCT FROM NEW._ab_lastop::text OR OLD._ab_err IS DISTINCT FROM NEW._ab_err)
      EXECUTE FUNCTION ${run};`;
}
