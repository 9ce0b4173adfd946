import { withSession } from "../adapters/postgres/operations/inspect-database.ts";
import { migrate } from "../adapters/postgres/schema/migrate.ts";
import { isThere } from "../adapters/postgres/session/session.ts";
import {
  instant,
  iso,
  literal,
  type Metadata,
  metadata,
  qualified,
  type Session,
} from "../adapters/postgres/session/sql.ts";
import { archiveLog } from "./archive-log.ts";
import { herokuConnectTriggers } from "./heroku-connect-triggers.ts";
import { stillToDo } from "./import-log.ts";
import type { HerokuConnectSchema, HerokuConnectSchemas, HerokuConnectTable } from "./ports.ts";

/** Inspects what Heroku Connect has created in a schema, and adopts it. */
export const herokuConnectSchemas: HerokuConnectSchemas = {
  look: (connection) => withSession(connection, (session) => inspect(session, connection.schema)),
  adopt: (connection, workspaceId) =>
    withSession(connection, (session) => migrate(session, connection.schema, workspaceId, { archiveLog })),
};

async function inspect(session: Session, schema: string): Promise<HerokuConnectSchema> {
  const tables = metadata(schema);
  const state = await stateOf(session, tables);
  const [who] = await session.query<{ user: string; connections: number }>(
    `SELECT rolname::text AS "user", least(current_setting('max_connections')::int, nullif(rolconnlimit, -1), nullif(datconnlimit, -1)) AS connections
     FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`,
  );
  const { user = "", connections = 0 } = who ?? {};
  if (state === "absent") {
    return {
      state,
      user,
      connections,
      tables: [],
      takenOver: [],
      owners: [],
      lastActiveAt: null,
      readers: [],
      dependents: [],
    };
  }
  const places = state === "adopted" ? { log: tables.theirLog, archive: tables.theirArchive } : tables;
  const [facts] = await session.query(factsStatement(places), [schema, places.log]);
  return {
    state,
    user,
    connections,
    tables: await readTables(session, schema, places),
    takenOver: state === "adopted" ? await readTakenOver(session, tables) : [],
    owners: (facts?.["owners"] ?? []) as string[],
    lastActiveAt: facts ? instant(facts, "last_active_at") : null,
    readers: (facts?.["readers"] ?? []) as string[],
    dependents: (facts?.["dependents"] ?? []) as string[],
  };
}

async function stateOf(
  session: Session,
  { meta, log, archive, theirLog }: Metadata,
): Promise<HerokuConnectSchema["state"]> {
  const [found] = await session.query<Record<"ours" | "log" | "archive" | "moved", boolean>>(
    `SELECT to_regclass($1) IS NOT NULL AS ours, to_regclass($2) IS NOT NULL AS log,
       to_regclass($3) IS NOT NULL AS archive, to_regclass($4) IS NOT NULL AS moved`,
    [meta, log, archive, theirLog],
  );
  if (found?.moved) return "adopted";
  return !found?.ours && found?.log && found.archive ? "present" : "absent";
}

type Places = Pick<Metadata, "log" | "archive">;

/** How many of the latest changes are asked for a sign of life: without an index on it, their time costs a whole scan. */
const LATEST = 1_000;

/** $1: the schema, $2: the log. */
function factsStatement({ log, archive }: Places): string {
  const latest = (from: string) =>
    `SELECT max(processed_at) AS at FROM (SELECT processed_at FROM ${from} ORDER BY id DESC LIMIT ${LATEST}) AS latest`;
  return `
    WITH theirs AS (
      SELECT p.proowner AS owner FROM pg_proc p WHERE p.pronamespace = to_regnamespace(quote_ident($1))::oid AND p.proname ~ '^hc_'
      UNION SELECT c.relowner FROM pg_class c WHERE c.relnamespace = to_regnamespace(quote_ident($1))::oid
        AND c.relname ~ '^(_hc)?_trigger_log' AND c.relkind IN ('r', 'S')
      UNION SELECT c.relowner FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE c.relnamespace = to_regnamespace(quote_ident($1))::oid AND p.pronamespace = c.relnamespace AND p.proname ~ '^hc_'
    )
    SELECT
      (SELECT jsonb_agg(DISTINCT pg_get_userbyid(owner)) FROM theirs WHERE NOT pg_has_role(owner, 'USAGE')) AS owners,
      (SELECT ${iso("max(at)")} FROM (${latest(log)} UNION ALL ${latest(archive)}) AS signs) AS last_active_at,
      (SELECT jsonb_agg(DISTINCT coalesce(nullif(application_name, ''), usename)) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name NOT LIKE 'bridge%'
          AND query ~ '\\m_trigger_log') AS readers,
      (SELECT jsonb_agg(DISTINCT what) FROM (
        SELECT 'view ' || r.ev_class::regclass AS what FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
          WHERE d.classid = 'pg_rewrite'::regclass::oid AND d.refobjid = to_regclass($2)::oid AND r.ev_class <> d.refobjid
        UNION SELECT 'trigger ' || t.tgname FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
          WHERE t.tgrelid = to_regclass($2)::oid AND NOT t.tgisinternal
            AND p.proname !~ '^(tlog_notify_trigger|_bridge_)') AS dependent) AS dependents`;
}

async function readTables(session: Session, schema: string, places: Places): Promise<readonly HerokuConnectTable[]> {
  const triggers = Map.groupBy(await herokuConnectTriggers(session, schema), ({ table }) => table);
  const tables: HerokuConnectTable[] = [];
  for (const [table, ofTable] of triggers) {
    const [row] = await session.query(tableStatement(schema, table, places), [table]);
    const changes = (row?.["changes"] ?? {}) as Readonly<Record<string, number>>;
    tables.push({
      table,
      rows: Number(row?.["rows"] ?? 0),
      triggers: ofTable.map(({ trigger }) => trigger),
      changes: { new: changes["NEW"] ?? 0, pending: changes["PENDING"] ?? 0, failed: changes["FAILED"] ?? 0 },
      keptTypes: (row?.["kept_types"] ?? []) as HerokuConnectTable["keptTypes"],
    });
  }
  return tables;
}

async function readTakenOver(session: Session, { theirTriggers: kept }: Metadata) {
  if (!(await isThere(session, kept))) return [];
  return await session.query<HerokuConnectSchema["takenOver"][number]>(
    `SELECT table_name AS "table",
       round(1000 * extract(epoch FROM max((to_jsonb(k) ->> 'taken_over_at')::timestamptz) - min(dropped_at)))::int AS "lockedMs"
     FROM ${kept} k GROUP BY table_name ORDER BY table_name`,
  );
}

/** Types that Heroku Connect chooses and we do not (heroku-connect-facts 2.6). */
const THEIR_TYPES = ["double precision", "timestamp without time zone"];

/** Its tables have a key of that name, and columns with each row's result. */
function tableStatement(schema: string, table: string, { log, archive }: Places): string {
  const on = qualified(schema, table);
  const open = stillToDo({ log, archive, table: on, key: "id", rowsSay: true });
  return `
    SELECT greatest(c.reltuples, 0)::bigint AS rows,
      (SELECT jsonb_object_agg(state, changes) FROM
        (SELECT state, count(*) AS changes FROM (${open}) AS open GROUP BY state) AS counted) AS changes,
      (SELECT jsonb_agg(jsonb_build_object('column', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) ORDER BY a.attname)
        FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          AND format_type(a.atttypid, -1) IN (${THEIR_TYPES.map(literal).join(", ")})) AS kept_types
    FROM pg_class c WHERE c.oid = ${literal(on)}::regclass::oid`;
}
