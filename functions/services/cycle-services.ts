import { setTimeout as after } from "node:timers";
import { engineMemory } from "../../lib/adapters/dynamodb/engine/engine.ts";
import { createCycleStores } from "../../lib/adapters/postgres/cycle-store.ts";
import { createProvisioner } from "../../lib/adapters/postgres/schema/provision.ts";
import { connectOrg } from "../../lib/adapters/salesforce/connect-org.ts";
import { sessionsOf } from "../../lib/adapters/salesforce/session/sessions.ts";
import { herokuConnect } from "../../lib/heroku-connect/heroku-connect.ts";
import { Failure } from "../../lib/model/failure.ts";
import { writeLine } from "../../lib/model/log-line.ts";
import { type PostgresConnection, writersOf } from "../../lib/model/workspace/workspace.ts";
import type { Clock, ConnectedOrg, Connections, Log, MessageNeeds } from "../../lib/sync/ports/cycle-ports.ts";
import type { Sessions } from "../../lib/sync/ports/session-ports.ts";
import { connections, counters, database, events, mappings, now, pauses, queue, workspaces } from "./composition.ts";

/** What the workers of the sync room need, beyond what they share with the API. */

/** The host's time, and the machine's timers. */
export const clock: Clock = {
  now: () => now().getTime(),
  at: (epochMilliseconds, run) => {
    const timer = after(run, Math.max(0, epochMilliseconds - now().getTime()));
    return () => clearTimeout(timer);
  },
};

export const log: Log = writeLine;

/** The database of a workspace. Rejects when none is connected. */
async function postgresOf(workspaceId: string): Promise<PostgresConnection> {
  const workspace = await (await workspaces().find(workspaceId))?.open();
  if (!workspace?.postgres) {
    throw new Failure("CONFLICT", `workspace ${workspaceId} has no database: connect PostgreSQL first`);
  }
  return workspace.postgres;
}

// Pure, so that a worker that opens no database does not bundle its client.
const openCycleStore = /* @__PURE__ */ createCycleStores(now);
const openLongStore = /* @__PURE__ */ createCycleStores(now, { isLongWork: true });

/** One workspace's database and org, each opened for one piece of long work. */
export const workspaceConnections: Connections = {
  openStore: async (workspaceId) => openLongStore(await postgresOf(workspaceId)),
  connectOrg: async (workspaceId, signal) =>
    connectedBy(sessionsOf({ connections: connections(), now }, workspaceId), signal),
};

/** The same for the cycles of one invocation, which read a workspace's settings once and share its session. */
export function connectionsOf(): Connections {
  const databases = new Map<string, Promise<PostgresConnection>>();
  const orgs = new Map<string, Sessions>();
  return {
    openStore: async (workspaceId) => openCycleStore(await kept(databases, workspaceId, postgresOf)),
    connectOrg: async (workspaceId, signal) =>
      connectedBy(
        kept(orgs, workspaceId, (id) => sessionsOf({ connections: connections(), now }, id)),
        signal,
      ),
  };
}

const connectedBy = (sessions: Sessions, signal: AbortSignal): ConnectedOrg => ({
  salesforce: connectOrg(sessions, signal),
  writers: async () => writersOf(await sessions.current()),
});

function kept<Thing>(things: Map<string, Thing>, name: string, make: (name: string) => Thing): Thing {
  const thing = things.get(name) ?? make(name);
  things.set(name, thing);
  return thing;
}

export const provisionerOf = async (workspaceId: string) => {
  const connection = await postgresOf(workspaceId);
  return { provisioner: createProvisioner(connection, now, herokuConnect), schema: connection.schema };
};

/** Everything that a cycle, or a first load, needs around it. */
export const cycleServices = (): MessageNeeds => ({
  mappings: {
    find: (workspaceId, mappingId) => mappings().find(workspaceId, mappingId),
    listActive: async (workspaceId) => (await mappings().list(workspaceId)).mappings.filter(({ active }) => active),
  },
  connections: workspaceConnections,
  pauses: pauses(),
  engine: engineMemory(database()),
  counters: counters(),
  announcements: events(),
  queues: { cycles: queue("cycles"), loads: queue("loads") },
  clock,
  random: Math.random,
  log,
  figures: () => undefined, // the worker whose cycles they are gathers them
});
