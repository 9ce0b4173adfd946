import type * as z from "zod/mini";
import type { Acting, SealedWorkspace } from "../access/ports.ts";
import type { Mappings } from "../config/ports.ts";
import { Failure } from "../model/failure.ts";
import type { ProvisioningMessage, Queue } from "../model/messages.ts";
import { auditEntry } from "../model/workspace/audit.ts";
import type { PostgresConnection, Workspace } from "../model/workspace/workspace.ts";
import { notConnected } from "../monitoring/with-database.ts";
import type { UrlGuard } from "../webhooks/ports.ts";
import type { postgresChange, retentionChange } from "./connection-input.ts";
import { type Checked, type Finding, judged, together } from "./findings.ts";
import { DAMAGES, describeEncryption, judgeDatabase } from "./judge-database.ts";
import { type ConnectionSettings, type Databases, NoConnection } from "./ports.ts";

interface LookNeeds {
  readonly databases: Databases;
  readonly hostGuard: UrlGuard;
  /** Why a workspace may not use the credentials that a database URL names; null: it may. */
  readonly refuseKept: (url: string, workspaceId: string) => Promise<string | null>;
}

interface Needs extends LookNeeds {
  readonly connections: ConnectionSettings;
  readonly mappings: Pick<Mappings, "list">;
  readonly provisioning: Queue<ProvisioningMessage>;
}

interface Asked extends Acting {
  readonly connection: PostgresConnection;
  /** Take a schema over that another workspace had. */
  readonly takeOver: boolean;
  /** Only look. */
  readonly dryRun: boolean;
}

/**
 * Connects a workspace to its database after checking it; every mapping's tables are created there then, or what they
 * lack. Refuses with everything that is not as it must be.
 */
export async function connectPostgres(needs: Needs, asked: Asked): Promise<Checked> {
  const { workspace, connection } = asked;
  const found = await inspect(needs, connection, workspace.id);
  const open = found.findings.filter(
    ({ check, ok }) => !ok && !MENDED.has(check) && !(asked.takeOver && check === "owner"),
  );
  if (asked.dryRun) return found;
  if (open.length > 0) throw refused(open);
  if (asked.takeOver) await needs.databases.takeOver(connection, workspace.id);
  await keep(needs, asked, (before) => ({ ...before, ...connection }), { taken_over: asked.takeOver });
  const { mappings } = await needs.mappings.list(workspace.id);
  const wakeUps = mappings.map(({ id }) => ({
    message: { workspace_id: workspace.id, mapping_id: id, import_id: null, anew: true },
  }));
  await needs.provisioning.send(wakeUps);
  return together(found.findings.filter(({ ok }) => ok));
}

/**
 * Says who changes the mapped tables from now on, and how many sessions Bridge opens. What waits for a migration
 * continues with its next check.
 */
export async function changePostgres(
  needs: Pick<Needs, "connections">,
  asked: Acting,
  { schema_changes: schemaChanges, max_connections: maxConnections }: z.infer<typeof postgresChange>,
): Promise<Workspace> {
  const change = (before: PostgresConnection) => ({
    ...before,
    ...(schemaChanges && { schemaChanges }),
    ...(maxConnections && { maxConnections }),
  });
  return keepChanged(needs, asked, change, maxConnections ? { max_connections: maxConnections } : {});
}

/** Says how long the database keeps what Bridge writes beside mapped rows, and how its log is vacuumed. */
export async function changeRetention(
  needs: Pick<Needs, "connections">,
  asked: Acting,
  change: z.infer<typeof retentionChange>,
): Promise<Workspace> {
  const {
    log_days: logDays,
    conflict_days: conflictDays,
    tombstone_days: tombstoneDays,
    log_autovacuum: given,
  } = change;
  const changed = ({ retention, logAutovacuum, ...connection }: PostgresConnection) => {
    const autovacuum = given === undefined ? logAutovacuum : given && givenOf(given);
    return {
      ...connection,
      retention: { ...retention, ...givenOf({ logDays, conflictDays, tombstoneDays }) },
      ...(autovacuum && { logAutovacuum: autovacuum }),
    };
  };
  return keepChanged(needs, asked, changed, { retention: change });
}

const givenOf = (numbers: Readonly<Record<string, number | undefined>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(numbers).flatMap(([name, given]) => (given === undefined ? [] : [[name, given]])));

type Detail = Readonly<Record<string, unknown>>;

/** Changes the connection of a workspace that has one. */
async function keepChanged(
  needs: Pick<Needs, "connections">,
  asked: Acting,
  change: (before: PostgresConnection) => PostgresConnection,
  more: Detail,
): Promise<Workspace> {
  const ofConnected = (before: PostgresConnection | null) => {
    if (before === null) throw notConnected();
    return change(before);
  };
  const postgres = await keep(needs, asked, ofConnected, more);
  return { ...(await asked.workspace.open()), postgres };
}

function keep(
  { connections }: Pick<Needs, "connections">,
  { workspace, actor, at }: Acting,
  change: (before: PostgresConnection | null) => PostgresConnection,
  more: Detail,
): Promise<PostgresConnection> {
  return connections.changePostgres(workspace.id, (before) => {
    const connection = change(before);
    const detail = { ...placeOf(connection), schema_changes: connection.schemaChanges ?? "apply", ...more };
    const by = { workspaceId: workspace.id, actor, at };
    return { connection, entry: auditEntry(by, "connection.postgres_changed", workspace.id, detail) };
  });
}

/** What is damaged is created again, so it does not prevent giving the database's new password. */
const MENDED: ReadonlySet<string> = new Set(DAMAGES);

/** Looks at the database of a workspace as it is connected. */
export async function testPostgres(needs: LookNeeds, workspace: SealedWorkspace): Promise<Checked> {
  const { postgres } = await workspace.open();
  if (postgres === null) throw notConnected();
  return inspect(needs, postgres, workspace.id);
}

async function inspect(
  { databases, hostGuard, refuseKept }: LookNeeds,
  connection: PostgresConnection,
  workspaceId: string,
): Promise<Checked> {
  const refused = await refuseKept(connection.url, workspaceId);
  if (refused !== null) return together([judged("connection", false, refused, "then connect again")]);
  const { host, port } = placeOf(connection);
  // What a command prints has another host, which is judged as each connection is opened.
  const isReplaced = new URL(connection.url).searchParams.has("command");
  const refusal = isReplaced ? null : await hostGuard(`https://${host}:${port}`);
  if (refusal !== null) {
    const remedy = "use a public address, or ask the operator of this service to open your network's range";
    return together([judged("address", false, `the database's host ${refusal}`, remedy)]);
  }
  try {
    const facts = await databases.look(connection);
    const reached = judged("connection", true, `connected to ${facts.database} as ${facts.user}`, "");
    return together([
      reached,
      describeEncryption(facts, host),
      ...judgeDatabase(facts, connection.schema, workspaceId),
    ]);
  } catch (error) {
    if (!(error instanceof NoConnection)) throw error;
    return together([judged("connection", false, error.message, error.remedy)]);
  }
}

/** Where a connection leads, without its password. */
export function placeOf({ url, schema }: PostgresConnection) {
  const { hostname, port, pathname, username } = new URL(url);
  return {
    host: hostname,
    port: port === "" ? 5432 : Number(port),
    database: decodeURIComponent(pathname.slice(1)) || decodeURIComponent(username),
    user: decodeURIComponent(username),
    schema,
  };
}

function refused(findings: readonly Finding[]): Failure {
  const details = findings.map(({ message, remedy }) => ({
    path: "body.url",
    message: remedy === null ? message : `${message}; ${remedy}`,
  }));
  return new Failure("VALIDATION_ERROR", `nothing was connected: ${details[0]?.message}`, { details });
}
