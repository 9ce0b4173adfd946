import * as z from "zod/mini";
import { Failure } from "../../../model/failure.ts";
import type { PostgresConnection } from "../../../model/workspace/workspace.ts";
import { CredentialsUnread } from "../../../network/kept-credentials.ts";
import { type Damage, type DatabaseFacts, type Databases, NoConnection } from "../../../settings/ports.ts";
import { captureOff } from "../capture/capture-check.ts";
import { connectionTrouble } from "../session/connection-trouble.ts";
import { ProtocolViolation, violation } from "../session/protocol-violation.ts";
import { isThere, openSession, withSession as withOpened } from "../session/session.ts";
import { literal, metadata, type Session } from "../session/sql.ts";
import { unlessUnprovisioned } from "../session/sql-errors.ts";

/** Inspects databases before they are connected. */
export const databases: Databases = {
  look: (connection) => withSession(connection, (session) => readFacts(session, connection.schema)),

  takeOver: (connection, workspaceId) =>
    withSession(connection, async (session) => {
      const { meta, state, loads } = metadata(connection.schema);
      if (!(await isThere(session, meta))) return;
      const moved = `UPDATE ${meta} SET workspace_id = ${literal(workspaceId)} WHERE workspace_id <> ${literal(workspaceId)} RETURNING 1`;
      await session.transaction({}, moved, async ([isMoved]) => {
        if (!isMoved || !(await isThere(session, state))) return;
        // Ends the former workspace's cycles and loads; the next mapping of each table adopts its state (`adoption.ts`).
        await session.script(`UPDATE ${state} SET config_version = 0; UPDATE ${loads} SET config_version = 0`);
      });
    }),
};

/** Work on a connection of its own; rejects with `NoConnection` when none comes about. */
export function withSession<Answer>(
  connection: PostgresConnection,
  work: (session: Session) => Promise<Answer>,
): Promise<Answer> {
  const opening = openSession(connection).catch((error: unknown) => {
    throw noConnection(error);
  });
  return withOpened(opening, work).catch((error: unknown) => {
    throw error instanceof ProtocolViolation ? noConnection(error) : error;
  });
}

const FACTS = `
  SELECT current_setting('server_version_num')::int AS version,
    coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted,
    current_user::text AS "user", current_database()::text AS database,
    pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS "readOnly",
    has_database_privilege(current_database(), 'CREATE') AS "mayCreateSchema",
    s.oid IS NOT NULL AS "schemaExists",
    coalesce(has_schema_privilege(s.oid, 'USAGE'), false) AS "maySeeSchema",
    coalesce(has_schema_privilege(s.oid, 'CREATE'), false) AS "mayCreateTables",
    to_json(ARRAY(SELECT DISTINCT n.nspname FROM unnest(current_schemas(false)) AS path (schema)
      JOIN pg_namespace n ON n.nspname = path.schema CROSS JOIN aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
      WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner AND a.grantee <> current_user::regrole::oid)) AS "openSchemas",
    to_json(ARRAY(SELECT format('%I on %I', t.tgname, c.relname) FROM pg_class c JOIN pg_trigger t ON t.tgrelid = c.oid
      JOIN pg_proc p ON p.oid = t.tgfoid WHERE c.relnamespace = s.oid AND c.relname::text ~ '^(_bridge_|_trigger_log$)'
        AND NOT t.tgisinternal AND t.tgtype & 2::int2 <> 0 AND NOT starts_with(p.proname, '_bridge_')
      UNION ALL SELECT format('%I on %I', r.rulename, c.relname) FROM pg_class c JOIN pg_rewrite r ON r.ev_class = c.oid
      WHERE c.relnamespace = s.oid AND c.relname::text ~ '^(_bridge_|_trigger_log$)' AND r.rulename <> '_RETURN')) AS "undoing"
  FROM (SELECT (SELECT oid FROM pg_namespace WHERE nspname = $1) AS oid) AS s`;

const factsRow = z.object({
  version: z.number(),
  encrypted: z.boolean(),
  user: z.string(),
  database: z.string(),
  readOnly: z.boolean(),
  mayCreateSchema: z.boolean(),
  schemaExists: z.boolean(),
  maySeeSchema: z.boolean(),
  mayCreateTables: z.boolean(),
  openSchemas: z.array(z.string()),
  undoing: z.array(z.string()),
});

async function readFacts(session: Session, schema: string): Promise<DatabaseFacts> {
  const { data: facts } = factsRow.safeParse((await session.query(FACTS, [schema]))[0]);
  if (facts === undefined) throw violation("an answer without what was asked for");
  const { meta, outboxAside: table } = metadata(schema);
  const known = facts.maySeeSchema && (await isThere(session, meta));
  if (!known) return { ...facts, workspaceId: null, damages: [], setAside: { events: 0, table } };
  const [row] = await session.query<{ workspace_id: string }>(`SELECT workspace_id FROM ${meta}`);
  const [aside] = await unlessUnprovisioned(session.query(`SELECT count(*) AS events FROM ${table}`));
  return {
    ...facts,
    workspaceId: row?.workspace_id ?? null,
    damages: await readDamages(session, schema),
    setAside: { events: Number(aside?.["events"] ?? 0), table },
  };
}

/** What the catalog lacks of what the mappings' shapes say, and whose changes are not captured. */
async function readDamages(session: Session, schema: string): Promise<readonly Damage[]> {
  const { state } = metadata(schema);
  if (!(await isThere(session, state))) return [];
  return session.query<Damage>(
    `SELECT * FROM (SELECT s.table_name::text AS "table", s.shape ->> 'sfObject' AS "sfObject", ${captureOff(schema, "s")} AS what
       FROM ${state} s) AS mapped
     WHERE what IS NOT NULL ORDER BY 1`,
  );
}

function noConnection(error: unknown): NoConnection {
  if (error instanceof ProtocolViolation || error instanceof Failure)
    return new NoConnection(error.message, "check the URL and the server", error);
  if (error instanceof CredentialsUnread)
    return new NoConnection(error.message, "then test the connection again", error);
  const { message, remedy } = connectionTrouble(error);
  return new NoConnection(message, remedy, error);
}
