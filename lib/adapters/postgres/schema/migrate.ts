import { setTimeout as pause } from "node:timers/promises";
import { Failure } from "../../../model/failure.ts";
import { retry } from "../../retry.ts";
import { secureFunctions } from "../capture/own-functions.ts";
import { registerUnregistered } from "../log/change-states.ts";
import { isThere } from "../session/session.ts";
import { literal, metadata, name, type Row, type Session, type TransactionSettings } from "../session/sql.ts";
import { isWorthWaiting } from "../session/sql-errors.ts";
import { dropPruningTrigger, FIRST_VERSION, MIGRATIONS, writeLessWal } from "./migrations.ts";

/** How long DDL waits while it has asked for no lock of a table. */
const LOCK_MILLISECONDS = 2_000;

/**
 * While DDL waits for a transaction of the customer's, no other can write the table. It gives way after this long,
 * longer at each try (in the end it gets a table that is always written), and after a pause it tries again.
 */
const DDL_LOCK_MILLISECONDS = [100, 100, 200, 400, 800, 1_600, 2_000, 2_000] as const;
const DDL_PAUSE_MILLISECONDS = 500;
export const DDL_ATTEMPTS = DDL_LOCK_MILLISECONDS.length;

/** A transaction, as `Session` has it, that gives way to the customer's statements, and tries again. `first` locks rows of ours. */
export function givingWay<T>(
  session: Session,
  first: string,
  work: (rows: readonly Row[]) => Promise<T>,
  settings: TransactionSettings = {},
): Promise<T> {
  const patience = DDL_LOCK_MILLISECONDS.values();
  const attempt = () =>
    session.transaction({ lockMilliseconds: LOCK_MILLISECONDS, ...settings }, first, async (rows) => {
      await session.script(`SET LOCAL lock_timeout = ${patience.next().value ?? LOCK_MILLISECONDS}`);
      return await work(rows);
    });
  return retry(DDL_ATTEMPTS, isWorthWaiting, attempt, () => pause(DDL_PAUSE_MILLISECONDS));
}

interface MigrateOptions {
  /** Moves the log of another product aside, in the caller's transaction, or refuses. */
  readonly archiveLog?: (session: Session, schema: string) => Promise<void>;
  /** A schema of a newer version stays as it is: this one works in it, but changes nothing there. */
  readonly leavesNewer?: boolean;
  /** All versions that there are, in their order. */
  readonly migrations?: typeof MIGRATIONS;
}

/**
 * Makes the workspace's schema and its metadata tables, or brings them to this version; repeatable, and safe beside
 * running cycles. Refuses with CONFLICT when the schema belongs to another workspace, or holds the log of another
 * product, unless `archiveLog` moves it aside.
 */
export async function migrate(
  session: Session,
  schema: string,
  workspaceId: string,
  { archiveLog, leavesNewer = false, migrations = MIGRATIONS }: MigrateOptions = {},
): Promise<void> {
  const { meta, log } = metadata(schema);
  const first = `SELECT pg_advisory_xact_lock(hashtextextended(${literal(`bridge ${schema}`)}, 0))`;
  await givingWay(session, first, async () => {
    const known = await session.query("SELECT FROM pg_namespace WHERE nspname = $1", [schema]);
    // CREATE … IF NOT EXISTS asks for the right to create even when there is nothing to create.
    if (known.length === 0) await session.script(`CREATE SCHEMA ${name(schema)}`);
    const isOurs = await isThere(session, meta);
    if (!isOurs && (await isThere(session, log))) {
      if (!archiveLog) throw new Failure("CONFLICT", anothersLog(schema));
      await archiveLog(session, schema);
    }
    if (!isOurs) await session.script(metaTable(meta, workspaceId));

    const [row] = await session.query<{ workspace_id: string; schema_version: number }>(
      `SELECT workspace_id, schema_version FROM ${meta} FOR UPDATE`,
    );
    if (!row) throw new Error(`${meta} has lost its row; insert it again with this workspace's id`);
    refuseOthers(schema, workspaceId, row.workspace_id);
    if (row.schema_version > 0) refuseUnreleased(schema, row.schema_version);
    if (!leavesNewer) refuseNewer(schema, row.schema_version, newestOf(migrations));
    await moveOn(session, schema, row.schema_version, migrations);
  });
}

async function moveOn(session: Session, schema: string, version: number, migrations: typeof MIGRATIONS): Promise<void> {
  const tables = metadata(schema);
  // Before anything is altered: naming reads what waits, which may take long, and claims would wait behind a lock.
  if (version > 0) await session.query(registerUnregistered(tables));
  const missing = version === 0 ? migrations : migrations.slice(version - FIRST_VERSION + 1);
  for (const migration of missing) await session.script(migration(name(schema), tables));
  // At each check: an older version beside this one creates its functions as before, and so does a restored dump.
  await session.script(`${secureFunctions(schema)}${dropPruningTrigger(name(schema), tables)}${writeLessWal(tables)}`);
  if (missing.length === 0) return;
  await session.query(`UPDATE ${tables.meta} SET schema_version = $1`, [newestOf(migrations)]);
}

const newestOf = (migrations: typeof MIGRATIONS): number => FIRST_VERSION - 1 + migrations.length;

const anothersLog = (schema: string) =>
  `the schema ${schema} has a _trigger_log that another product writes, most likely Heroku Connect; adopt what it has ` +
  "written with `bridge migrate heroku-connect FILE`, FILE being its export, or choose another schema";

function metaTable(meta: string, workspaceId: string): string {
  return `
    CREATE TABLE ${meta} (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      workspace_id text NOT NULL,
      schema_version int NOT NULL,
      created_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    INSERT INTO ${meta} (workspace_id, schema_version) VALUES (${literal(workspaceId)}, 0);`;
}

function refuseOthers(schema: string, workspaceId: string, owner: string): void {
  if (owner === workspaceId) return;
  throw new Failure(
    "CONFLICT",
    `the schema ${schema} belongs to workspace ${owner}; give workspace ${workspaceId} another schema, or take this one over`,
  );
}

function refuseUnreleased(schema: string, version: number): void {
  if (version >= FIRST_VERSION) return;
  throw new Error(
    `the schema ${schema} has version ${version}, and this Bridge upgrades schemas from version ${FIRST_VERSION} on; install version 0.2.0 first, which brings it to version ${FIRST_VERSION} within a day, then this one`,
  );
}

/** The version after this one adds to the schema only what this one can ignore; beyond that nothing is known. */
function refuseNewer(schema: string, version: number, known: number): void {
  if (version <= known + 1) return;
  throw new Error(
    `the schema ${schema} was created by a newer Bridge (version ${version}; this one knows ${known}); update this installation`,
  );
}
