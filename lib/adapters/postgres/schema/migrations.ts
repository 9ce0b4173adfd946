import { literal, type Metadata } from "../session/sql.ts";
import { createClaimIndexes } from "./claim-indexes.ts";
import FIRST_TABLES from "./first-tables.sql.ts";

/** The schema version that the first migration makes: that of the first release. Each further migration adds one. */
export const FIRST_VERSION = 8;

/**
 * The metadata schema, one entry per version. An entry is never changed once released: what comes later is a new one,
 * written so that cycles of the version before continue while it runs. It reaches every schema within a minute of its
 * deployment; until then everything works without it, so only the version after may rely on it.
 */
export const MIGRATIONS: readonly ((schema: string, tables: Metadata) => string)[] = [
  createTables,
  (schema, tables) =>
    `${[indexBlockedChanges(schema, tables), markUncaptured(tables), keepDryRuns(tables), keepLanes(tables), keepConflictTimes(tables), keepHistory(tables), createDetach(schema)].join(";")}`,
];

/** The first release's tables. The file has variables as psql knows them: `:schema` is the name, `:'schema'` the name as a text. */
function createTables(schema: string): string {
  return FIRST_TABLES.replace(/:('?)schema\1/g, (_, quote) => (quote ? literal(schema) : schema));
}

/** A claim finds what blocks its candidates by index; `setsBlockedKey` says what `upsert_key` is. */
function indexBlockedChanges(schema: string, tables: Metadata): string {
  return `
    ALTER TABLE ${tables.log} ADD COLUMN upsert_key text COLLATE "C";
    ${createClaimIndexes(schema, tables)}`;
}

/** What captured a change: nothing where a trigger did; `late`, `match`: a pull that found it (`captureUncaptured`). */
const markUncaptured = ({ log }: Metadata): string => `ALTER TABLE ${log} ADD COLUMN captured varchar(8)`;

const keepDryRuns = ({ dryRuns, state }: Metadata): string => `
    CREATE TABLE ${dryRuns} (mapping_id text PRIMARY KEY REFERENCES ${state} ON DELETE CASCADE, run jsonb NOT NULL);
    COMMENT ON TABLE ${dryRuns} IS 'What the last dry run of each mapping has found, and what was confirmed of it.'`;

/** When each side of a conflict was changed. */
const keepConflictTimes = ({ conflicts }: Metadata): string =>
  `ALTER TABLE ${conflicts} ADD COLUMN postgres_at timestamptz, ADD COLUMN salesforce_at timestamptz`;

/** Where the lanes of a pull continue within a second, and how much they read at once. */
const keepLanes = ({ state }: Metadata): string => `ALTER TABLE ${state} ADD COLUMN lanes jsonb`;

/**
 * What the log and the rows do not show any more: attempts that Salesforce refused, and what it changed in rows (`fields`: by
 * column, before and after). The log says who wrote: `bridge.actor`, or the session's `application_name`. The default comes
 * after the column, so that no change of before gets the name of this session. The longer rows need more room to be
 * marked in their place.
 */
const keepHistory = ({ history, log, state }: Metadata): string => `
    ALTER TABLE ${state} ADD COLUMN compared jsonb;
    CREATE TABLE ${history} (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      mapping_id text NOT NULL,
      record_id bigint NOT NULL,
      change_id bigint,
      at timestamptz NOT NULL,
      message text,
      fields jsonb
    );
    CREATE INDEX ON ${history} (mapping_id, record_id);
    CREATE INDEX ON ${history} (mapping_id, at);
    COMMENT ON TABLE ${history} IS 'Attempts that Salesforce refused, and what Salesforce changed in rows.';
    ALTER TABLE ${log} SET (fillfactor = 36), ADD COLUMN actor text;
    ALTER TABLE ${log} ALTER COLUMN actor SET DEFAULT left(coalesce(nullif(current_setting('bridge.actor', true), ''),
      nullif(current_setting('application_name'), '')), 200)`;

/**
 * A function that a copy of the database has with it, for a restore without a Bridge: drops our triggers, defaults and
 * other functions, and says how many. Harmless where none is left. `schema` is quoted.
 */
function createDetach(schema: string): string {
  const functions = `pg_proc p WHERE p.pronamespace = ${literal(schema)}::regnamespace AND starts_with(p.proname, '_bridge_')`;
  return `
    CREATE OR REPLACE FUNCTION ${schema}._bridge_detach() RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $bridge$ DECLARE one record; triggers int := 0; functions int := 0; BEGIN
      FOR one IN SELECT t.tgname, t.tgrelid, t.tgrelid::regclass AS on_table FROM pg_trigger t
        WHERE t.tgparentid = 0 AND t.tgfoid IN (SELECT p.oid FROM ${functions})
      LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', one.tgname, one.on_table);
        triggers := triggers + 1;
        IF EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = one.tgrelid AND a.attname = '_ab_lastop' AND a.atthasdef) THEN
          EXECUTE format('ALTER TABLE %s ALTER COLUMN _ab_lastop DROP DEFAULT', one.on_table);
        END IF;
      END LOOP;
      FOR one IN SELECT p.oid::regprocedure AS signature FROM ${functions} AND p.proname <> '_bridge_detach' LOOP
        EXECUTE format('DROP FUNCTION %s', one.signature);
        functions := functions + 1;
      END LOOP;
      RETURN format('%s triggers and %s functions of Bridge are gone', triggers, functions);
    END $bridge$;`;
}

/**
 * Takes away the trigger by which versions up to 0.2 followed what was deleted from the log. At each check of a
 * mapping, not once: a 0.2 that still runs during the upgrade creates it again. Writers of the log wait half a second
 * at most: where one holds it longer, the next check tries again. `schema` is quoted.
 */
export const dropPruningTrigger = (schema: string, { log, totals }: Metadata): string => `
    DO $bridge$ BEGIN
      IF to_regprocedure(${literal(`${schema}._bridge_log_pruned()`)}) IS NULL THEN RETURN; END IF;
      PERFORM set_config('lock_timeout', '500ms', true);
      DROP TRIGGER IF EXISTS _bridge_pruned ON ${log};
      DROP FUNCTION ${schema}._bridge_log_pruned();
      ALTER TABLE ${totals} DROP COLUMN IF EXISTS pruned_to;
    EXCEPTION WHEN lock_not_available OR insufficient_privilege THEN
      NULL;
    END $bridge$;`;

/**
 * Every cycle writes its mapping's row and its minute's count. Where shape and layout lie beside the row, and its page has
 * room, that takes some hundred bytes of WAL instead of some thousand; the counts, which a crash of the server may empty,
 * take none. At each check, as above; it takes effect as rows are written.
 */
export const writeLessWal = ({ state, cycles }: Metadata): string => `
    DO $bridge$ BEGIN
      IF (SELECT relpersistence <> 'p' FROM pg_class WHERE oid = ${literal(cycles)}::regclass::oid) THEN RETURN; END IF;
      ALTER TABLE ${state} SET (toast_tuple_target = 512, fillfactor = 50);
      ALTER TABLE ${cycles} SET UNLOGGED;
    EXCEPTION WHEN insufficient_privilege THEN NULL;
    END $bridge$;`;
