/** A table as Heroku Connect makes one (heroku-connect-facts 2.2 and 2.6). */
export interface TheirTable {
  readonly table: string;
  /** Its mapped columns beyond `sfid`, `systemmodstamp` and `isdeleted`, with the types that Heroku Connect gives them. */
  readonly columns: Readonly<Record<string, string>>;
  readonly upsertColumn?: string;
  readonly readOnly?: boolean;
}

/** Statements that make a schema what Heroku Connect leaves behind: log, archive, event log, tables, triggers, functions. */
export function herokuConnectSchema(tables: readonly TheirTable[], schema = "salesforce"): string {
  return [foundations(schema), captureAgain(schema), ...tables.map((table) => theirTable(schema, table))].join("\n");
}

/** A session of Heroku Connect's own is known by this setting. */
export const AS_HEROKU_CONNECT = "SET xmlbinary = 'hex'";
export const AS_THE_APPLICATION = "SET xmlbinary = 'base64'";

/** A customer's own trigger, which asks whose a write of a last name is and writes that down. */
export const HEARING_TRIGGER = `
CREATE TABLE public.seen (who text);
CREATE FUNCTION public.see() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO public.seen VALUES (CASE WHEN get_xmlbinary() != 'base64' THEN 'Salesforce' ELSE 'the application' END);
  RETURN NEW;
END $$;
CREATE TRIGGER see AFTER UPDATE OF lastname ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.see();`;

const LOG_COLUMNS = `
  txid bigint, created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now(), processed_at timestamptz,
  processed_tx bigint, state varchar(8), action varchar(7), table_name varchar(128), record_id integer, sfid varchar(18),
  old text, "values" text, sf_result integer, sf_message text`;

function foundations(schema: string): string {
  return `
CREATE EXTENSION IF NOT EXISTS hstore SCHEMA public;
CREATE SCHEMA IF NOT EXISTS ${schema};
CREATE OR REPLACE FUNCTION public.get_xmlbinary() RETURNS varchar LANGUAGE plpgsql AS $$
DECLARE found varchar;
BEGIN
  SELECT setting INTO found FROM pg_settings WHERE name = 'xmlbinary';
  RETURN found;
END $$;
CREATE TABLE ${schema}._hcmeta (id serial PRIMARY KEY, hcver integer, org_id varchar(50), details text);
INSERT INTO ${schema}._hcmeta (hcver, org_id) VALUES (7, '00D000000000000');
CREATE TABLE ${schema}._sf_event_log (
  id serial PRIMARY KEY, table_name varchar(128), action varchar(7), synced_at timestamptz DEFAULT now(),
  sf_timestamp timestamptz, sfid varchar(20), record text, processed boolean);
CREATE TABLE ${schema}._trigger_log (id serial PRIMARY KEY, ${LOG_COLUMNS});
CREATE INDEX _trigger_log_idx_created_at ON ${schema}._trigger_log (created_at);
CREATE INDEX _trigger_log_idx_state_id ON ${schema}._trigger_log (state, id);
CREATE INDEX _trigger_log_idx_state_table_name ON ${schema}._trigger_log (state, table_name)
  WHERE state IN ('NEW', 'PENDING');
CREATE TABLE ${schema}._trigger_log_archive (
  id integer PRIMARY KEY, ${LOG_COLUMNS.replaceAll(" DEFAULT now()", "")});
CREATE INDEX _trigger_log_archive_idx_created_at ON ${schema}._trigger_log_archive (created_at);
CREATE INDEX _trigger_log_archive_idx_record_id ON ${schema}._trigger_log_archive (record_id);
CREATE INDEX _trigger_log_archive_idx_state_table_name ON ${schema}._trigger_log_archive (state, table_name)
  WHERE state = 'FAILED';
CREATE FUNCTION ${schema}.tlog_notify_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('${schema}.hc_trigger_log', 'ping');
  RETURN NEW;
END $$;
CREATE TRIGGER tlog_insert_trigger AFTER INSERT ON ${schema}._trigger_log
  FOR EACH ROW EXECUTE FUNCTION ${schema}.tlog_notify_trigger();`;
}

/** By which its users send a row again. */
const captureAgain = (schema: string) => `
CREATE FUNCTION ${schema}.hc_capture_insert_from_row(source_row hstore, table_name varchar,
  excluded_cols text[] DEFAULT ARRAY[]::text[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE captured int;
BEGIN
  INSERT INTO "${schema}"."_trigger_log" (action, table_name, txid, created_at, state, record_id, values)
  VALUES ('INSERT', table_name, txid_current(), clock_timestamp(), 'NEW', (source_row -> 'id')::int,
    source_row - (excluded_cols || ARRAY['_hc_lastop', '_hc_err']))
  RETURNING id INTO captured;
  RETURN captured;
END $$;
CREATE FUNCTION ${schema}.hc_capture_update_from_row(source_row hstore, table_name varchar,
  columns_to_include text[] DEFAULT ARRAY[]::text[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE captured int;
BEGIN
  INSERT INTO "${schema}"."_trigger_log" (action, table_name, txid, created_at, state, record_id, sfid, values, old)
  VALUES ('UPDATE', table_name, txid_current(), clock_timestamp(), 'NEW', (source_row -> 'id')::int,
    source_row -> 'sfid', slice(source_row, columns_to_include), NULL)
  RETURNING id INTO captured;
  RETURN captured;
END $$;`;

function theirTable(schema: string, { table, columns, upsertColumn, readOnly = false }: TheirTable): string {
  const mapped = Object.entries(columns).map(([column, type]) => `${column} ${type}, `);
  return `
CREATE TABLE ${schema}.${table} (
  ${mapped.join("")}systemmodstamp timestamp without time zone, isdeleted boolean,
  sfid varchar(18) COLLATE pg_catalog.ucs_basic, id serial PRIMARY KEY, _hc_lastop varchar(32), _hc_err text);
CREATE UNIQUE INDEX hcu_idx_${table}_sfid ON ${schema}.${table} (sfid);
CREATE INDEX hc_idx_${table}_systemmodstamp ON ${schema}.${table} (systemmodstamp);
${upsertColumn === undefined ? "" : `CREATE UNIQUE INDEX hcu_idx_${table}_${upsertColumn} ON ${schema}.${table} (${upsertColumn});`}
${logger(schema, table, readOnly)}
${status(schema, table)}
CREATE TRIGGER hc_${table}_logtrigger AFTER INSERT OR DELETE OR UPDATE ON ${schema}.${table} FOR EACH ROW
  WHEN ((public.get_xmlbinary())::text = 'base64'::text) EXECUTE FUNCTION ${schema}.hc_${table}_logger();
CREATE TRIGGER hc_${table}_status_trigger BEFORE INSERT OR UPDATE ON ${schema}.${table} FOR EACH ROW
  EXECUTE FUNCTION ${schema}.hc_${table}_status();`;
}

const logger = (schema: string, table: string, readOnly: boolean) => `
CREATE FUNCTION ${schema}.hc_${table}_logger() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  trigger_row "${schema}"."_trigger_log";
  excluded_cols text[] = ARRAY['_hc_lastop', '_hc_err']::text[];
BEGIN
  trigger_row = ROW();
  trigger_row.id = nextval('"${schema}"."_trigger_log_id_seq"');
  trigger_row.action = TG_OP::text;
  trigger_row.table_name = TG_TABLE_NAME::text;
  trigger_row.txid = txid_current();
  trigger_row.created_at = clock_timestamp();
  trigger_row.state = '${readOnly ? "READONLY" : "NEW"}';
  IF TG_OP = 'DELETE' THEN
    trigger_row.record_id = OLD.id;
    trigger_row.old = hstore(OLD.*) - excluded_cols;
    trigger_row.sfid = OLD.sfid;
    IF OLD.sfid IS NULL THEN trigger_row.state = 'IGNORE'; END IF;
  ELSIF TG_OP = 'INSERT' THEN
    trigger_row.record_id = NEW.id;
    trigger_row.values = hstore(NEW.*) - excluded_cols;
  ELSE
    trigger_row.record_id = NEW.id;
    trigger_row.old = hstore(OLD.*) - excluded_cols;
    trigger_row.values = (hstore(NEW.*) - hstore(trigger_row.old)) - excluded_cols;
    trigger_row.sfid = OLD.sfid;
    IF trigger_row.values = '' THEN trigger_row.state = 'IGNORE'; END IF;
  END IF;
  INSERT INTO "${schema}"."_trigger_log" VALUES (trigger_row.*);
  RETURN NULL;
END $$;`;

const status = (schema: string, table: string) => `
CREATE FUNCTION ${schema}.hc_${table}_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF get_xmlbinary() = 'base64' THEN
    NEW._hc_lastop = 'PENDING';
    NEW._hc_err = NULL;
    RETURN NEW;
  END IF;
  IF TG_OP = 'UPDATE' AND NEW._hc_lastop IS NOT NULL AND NEW._hc_lastop != OLD._hc_lastop THEN
    RETURN NEW;
  END IF;
  NEW._hc_lastop = 'SYNCED';
  NEW._hc_err = NULL;
  RETURN NEW;
END $$;`;
