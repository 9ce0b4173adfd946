import type { ClearedSchema, CustomerSchema } from "../../../access/remove-workspace.ts";
import { Failure } from "../../../model/failure.ts";
import type { PostgresConnection } from "../../../model/workspace/workspace.ts";
import { endCapture } from "../capture/capture.ts";
import { isThere, openSession, withSession } from "../session/session.ts";
import { metadata, qualified, type Session } from "../session/sql.ts";
import { sqlState } from "../session/sql-errors.ts";
import { givingWay } from "./migrate.ts";

/**
 * What Bridge leaves behind in a customer's schema when a workspace goes: the tables and their rows, nothing else. Where
 * it has taken over from Heroku Connect, the way back and what was not sent stay as well.
 */
export const customerSchema: CustomerSchema = {
  waiting: (connection, workspaceId) =>
    withSession(openSession(connection), async (session) => {
      const { log, theirLog } = metadata(connection.schema);
      if ((await ownerOf(session, connection.schema)) !== workspaceId) return null;
      const theirs = `+ (SELECT count(*) FROM ${theirLog} WHERE state::text IN ('NEW', 'PENDING'))`;
      const [row] = await session.query<{ waiting: string }>(
        `SELECT count(*) ${(await isThere(session, theirLog)) ? theirs : ""} AS waiting FROM ${log} WHERE processed_at IS NULL`,
      );
      return Number(row?.waiting ?? 0);
    }),
  clear: (connection, workspaceId) =>
    withSession(openSession(connection), (session) => clear(session, connection, workspaceId)),
};

/**
 * The mappings' state goes first, which ends the cycles that still run; then capture, table by table, so that no lock is
 * held for long; the metadata last, in one step, with the table that says whose it was: until then it can be begun again.
 */
async function clear(session: Session, connection: PostgresConnection, workspaceId: string): Promise<ClearedSchema> {
  const { schema, schemaChanges = "apply" } = connection;
  const nothing: ClearedSchema = { schema, triggers: [], functions: [], tables: [], kept: [] };
  if ((await ownerOf(session, schema)) !== workspaceId) return nothing;
  await givingWay(session, `DELETE FROM ${metadata(schema).state}`, async () => undefined);
  const triggers = await readTriggers(session, schema);
  for (const [table, ofTable] of Map.groupBy(triggers, ({ table }) => table)) {
    const names = ofTable.map(({ trigger }) => trigger);
    await givingWay(session, "SELECT 1", () => session.script(endCapture(schema, table, schemaChanges, names)));
  }
  const dropped = await givingWay(session, ownerLocked(schema), () => dropMetadata(session, schema));
  return { schema, triggers: triggers.map(({ table, trigger }) => `${table}.${trigger}`), ...dropped };
}

const ownerLocked = (schema: string): string => `SELECT workspace_id FROM ${metadata(schema).meta} FOR UPDATE`;

/** The workspace that a schema belongs to; null when it belongs to none. */
async function ownerOf(session: Session, schema: string): Promise<string | null> {
  const { meta } = metadata(schema);
  if (!(await isThere(session, meta))) return null;
  const [row] = await session.query<{ workspace_id: string }>(`SELECT workspace_id FROM ${meta}`);
  return row?.workspace_id ?? null;
}

interface OwnTrigger {
  readonly table: string;
  readonly trigger: string;
}

/** Every trigger that calls a function of ours, whatever version made it. */
async function readTriggers(session: Session, schema: string): Promise<readonly OwnTrigger[]> {
  return session.query<OwnTrigger>(
    `SELECT c.relname AS "table", t.tgname AS trigger
     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_namespace f ON f.oid = p.pronamespace
     WHERE NOT t.tgisinternal AND t.tgparentid = 0 AND n.nspname = $1 AND f.nspname = $1 AND starts_with(p.proname, '_bridge_')
     ORDER BY 1, 2`,
    [schema],
  );
}

/** What the way back to Heroku Connect needs, and what was not sent. */
const KEPT = ["_bridge_hc_triggers", "_bridge_trigger_log"];

async function keepUnsent(session: Session, schema: string): Promise<readonly string[]> {
  const { log, theirLog, unsent } = metadata(schema);
  if (!(await isThere(session, theirLog))) return [];
  await session.script(`CREATE TABLE IF NOT EXISTS ${unsent} (LIKE ${log});
    INSERT INTO ${unsent} SELECT * FROM ${log} WHERE processed_at IS NULL OR state::text = 'FAILED'`);
  return KEPT;
}

async function dropMetadata(session: Session, schema: string): Promise<Omit<ClearedSchema, "schema" | "triggers">> {
  const kept = await keepUnsent(session, schema);
  const functions = await session.query<{ name: string; signature: string }>(
    `SELECT p.proname AS name, p.oid::regprocedure::text AS signature
     FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE n.nspname = $1 AND starts_with(p.proname, '_bridge_') ORDER BY 1`,
    [schema],
  );
  const tables = await session.query<{ name: string; kind: string }>(
    `SELECT c.relname AS name, CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END AS kind
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'v')
       AND (starts_with(c.relname, '_bridge_') OR c.relname IN ('_trigger_log', '_trigger_log_archive'))
       AND c.relname <> ALL ($2::text[])
     ORDER BY c.relkind = 'r', 1`,
    [schema, kept],
  );
  const views = tables.filter(({ kind }) => kind === "VIEW").map((view) => qualified(schema, view.name));
  const rest = tables.filter(({ kind }) => kind === "TABLE").map((table) => qualified(schema, table.name));
  const drops = [
    ...functions.map(({ signature }) => `DROP FUNCTION ${signature};`),
    ...(views.length > 0 ? [`DROP VIEW ${views.join(", ")};`] : []),
    ...(rest.length > 0 ? [`DROP TABLE ${rest.join(", ")};`] : []),
  ];
  await session.script(drops.join("\n")).catch((error: unknown) => {
    if (sqlState(error) !== DEPENDENT_OBJECTS) throw error;
    throw new Failure("CONFLICT", dependents(schema, error as Error & { readonly detail?: string }));
  });
  return { functions: functions.map((one) => one.name), tables: tables.map((one) => one.name), kept };
}

const DEPENDENT_OBJECTS = "2BP01";

const dependents = (schema: string, { message, detail }: Error & { readonly detail?: string }): string =>
  `something of your own in the schema ${schema} needs what is to go: ${detail ?? message}. Drop or change it, then repeat`;
