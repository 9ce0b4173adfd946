import { metadata, qualified, type Session } from "../adapters/postgres/session/sql.ts";
import { sqlState } from "../adapters/postgres/session/sql-errors.ts";
import { Failure } from "../model/failure.ts";
import { type HerokuConnectTrigger, herokuConnectTriggers } from "./heroku-connect-triggers.ts";

/**
 * Heroku Connect's log of a schema gets another name, so that ours can have its own, and its triggers continue to write
 * to it: until a table of theirs is adopted, with its waiting changes, they capture. In the caller's transaction.
 */
export async function archiveLog(session: Session, schema: string): Promise<void> {
  await refuseStrangers(session, schema);
  try {
    await holdWriters(session, schema, await herokuConnectTriggers(session, schema));
    await session.script(renames(schema));
    await redirectFunctions(session, schema);
    await session.script(afterwards(schema));
  } catch (error) {
    if (sqlState(error) !== NOT_THE_OWNER) throw error;
    const words = error instanceof Error ? error.message : "";
    throw new Failure(
      "CONFLICT",
      `Bridge cannot adopt the schema ${schema}: ${words}; connect as the role that owns it, and grant that role what it lacks`,
    );
  }
}

const NOT_THE_OWNER = "42501";

/** What Heroku Connect's log has beyond any table of that name (heroku-connect-facts 2.2). */
const ITS_COLUMNS = [
  "action",
  "created_at",
  "id",
  "old",
  "record_id",
  "sf_message",
  "sfid",
  "state",
  "table_name",
  "values",
];

async function refuseStrangers(session: Session, schema: string): Promise<void> {
  const [found] = await session.query<{ known: number }>(
    `SELECT count(*) AS known FROM pg_attribute WHERE attrelid = to_regclass($1)::oid AND attname = ANY ($2::text[])`,
    [metadata(schema).log, ITS_COLUMNS],
  );
  if (found?.known === ITS_COLUMNS.length) return;
  throw new Failure(
    "CONFLICT",
    `the _trigger_log in the schema ${schema} is not Heroku Connect's; rename it, or choose another schema`,
  );
}

/** A writer in the middle of a write would continue with a trigger that writes to the log by its old name. */
async function holdWriters(session: Session, schema: string, triggers: readonly HerokuConnectTrigger[]): Promise<void> {
  const tables = [...new Set(triggers.map(({ table }) => table))].map((table) => qualified(schema, table));
  if (tables.length > 0) await session.script(`LOCK TABLE ${tables.join(", ")} IN SHARE ROW EXCLUSIVE MODE`);
}

function renames(schema: string): string {
  const { log, archive, theirLog, theirArchive } = metadata(schema);
  return `
    ALTER TABLE ${log} RENAME TO _hc_trigger_log;
    ALTER TABLE IF EXISTS ${archive} RENAME TO _hc_trigger_log_archive;
    CREATE TABLE IF NOT EXISTS ${theirArchive} (LIKE ${theirLog});
    ALTER SEQUENCE IF EXISTS ${qualified(schema, "_trigger_log_id_seq")} RENAME TO _hc_trigger_log_id_seq;`;
}

/** Its functions name the log and its sequence in their text. */
async function redirectFunctions(session: Session, schema: string): Promise<void> {
  const functions = await session.query<{ definition: string }>(
    `SELECT pg_get_functiondef(p.oid) AS definition FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE n.nspname = $1 AND p.proname ~ '^hc_' AND p.prosrc ~ '\\m_trigger_log' ORDER BY p.oid`,
    [schema],
  );
  const redirected = functions.map(({ definition }) => definition.replace(/(?<!\w)_trigger_log/g, "_hc_trigger_log"));
  if (redirected.length > 0) await session.script(redirected.join(";\n"));
}

/** What is dropped is kept as text for the way back; and what would not be sent any more is refused, not lost. */
function afterwards(schema: string): string {
  const { theirLog, theirTriggers: kept, state } = metadata(schema);
  const refuse = qualified(schema, "_bridge_refuse_old_log");
  return `
    CREATE TABLE ${kept} (
      table_name varchar(128) COLLATE "C" NOT NULL,
      trigger_name varchar(128) NOT NULL,
      definition text NOT NULL,
      dropped_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      taken_over_at timestamptz
    );
    COMMENT ON TABLE ${kept} IS 'Triggers of Heroku Connect that Bridge has replaced.';
    COMMENT ON TABLE ${theirLog} IS 'The trigger log of Heroku Connect, as it was when Bridge adopted the schema.';
    CREATE OR REPLACE FUNCTION ${refuse}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
      SET search_path = pg_catalog, pg_temp AS $bridge$ BEGIN
      IF EXISTS (SELECT FROM ${state} s WHERE s.table_name = NEW.table_name) THEN
        RAISE EXCEPTION 'the changes of % are captured by Bridge; what is written to this log is not sent', NEW.table_name
          USING HINT = 'Write the row itself again, or retry its failed change with: bridge errors --retry';
      END IF;
      RETURN NEW;
    END $bridge$;
    CREATE TRIGGER _bridge_refuse BEFORE INSERT ON ${theirLog}
      FOR EACH ROW WHEN (NEW.state::text = 'NEW') EXECUTE FUNCTION ${refuse}();`;
}
