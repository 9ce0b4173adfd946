import { isThere } from "../adapters/postgres/session/session.ts";
import { metadata, name, qualified, type Session } from "../adapters/postgres/session/sql.ts";

/** A trigger by which Heroku Connect captures a table's changes, or marks its rows. */
export interface HerokuConnectTrigger {
  readonly table: string;
  readonly trigger: string;
  /** The statement that makes it. */
  readonly definition: string;
}

/** Heroku Connect's triggers in a schema, of one table or of all. What it says decides, for names get shortened. */
export async function herokuConnectTriggers(session: Session, schema: string, table: string | null = null) {
  return await session.query<HerokuConnectTrigger>(
    `SELECT c.relname AS "table", t.tgname AS trigger, pg_get_triggerdef(t.oid) AS definition
     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_proc p ON p.oid = t.tgfoid
     WHERE n.nspname = $1 AND ($2::text IS NULL OR c.relname = $2) AND NOT t.tgisinternal
       AND p.pronamespace = n.oid AND p.proname ~ '^hc_' AND p.prosrc ~ '_trigger_log|_hc_lastop'
     ORDER BY 1, 2`,
    [schema, table],
  );
}

/**
 * Ends Heroku Connect's capture of a table, in the caller's transaction; the definitions are kept. Gives what was
 * ended: nothing, once another process has ended it.
 */
export async function endHerokuConnectCapture(
  session: Session,
  schema: string,
  table: string,
): Promise<readonly HerokuConnectTrigger[]> {
  if ((await herokuConnectTriggers(session, schema, table)).length === 0) return [];
  const on = qualified(schema, table);
  await session.script(`LOCK TABLE ${on} IN ACCESS EXCLUSIVE MODE`);
  // The table may have been locked by another process that adopts it.
  const triggers = await herokuConnectTriggers(session, schema, table);
  if (triggers.length === 0) return [];
  await session.script(triggers.map(({ trigger }) => `DROP TRIGGER ${name(trigger)} ON ${on}`).join(";"));
  await keepDefinitions(session, schema, triggers);
  return triggers;
}

async function keepDefinitions(
  session: Session,
  schema: string,
  triggers: readonly HerokuConnectTrigger[],
): Promise<void> {
  const { theirTriggers: kept } = metadata(schema);
  if (!(await isThere(session, kept))) return;
  // Versions up to 0.3.1 have made it without.
  await session.script(`ALTER TABLE ${kept} ADD COLUMN IF NOT EXISTS taken_over_at timestamptz`);
  await session.query(
    `INSERT INTO ${kept} (table_name, trigger_name, definition)
     SELECT "table", trigger, definition FROM jsonb_to_recordset($1::jsonb) AS t ("table" text, trigger text, definition text)`,
    [JSON.stringify(triggers)],
  );
}

/** Notes when a takeover is done, shortly before it commits: since its triggers were dropped the table's writers wait. */
export async function noteTakenOver(session: Session, schema: string, table: string): Promise<void> {
  const { theirTriggers: kept } = metadata(schema);
  if (!(await isThere(session, kept))) return;
  await session.query(
    `UPDATE ${kept} SET taken_over_at = clock_timestamp() WHERE table_name = $1 AND taken_over_at IS NULL`,
    [table],
  );
}
