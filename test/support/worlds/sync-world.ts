import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { eventRows, mappings } from "../../../functions/services/composition.ts";
import { connectionsOf, cycleServices } from "../../../functions/services/cycle-services.ts";
import { migrate } from "../../../lib/adapters/postgres/schema/migrate.ts";
import { openSession } from "../../../lib/adapters/postgres/session/session.ts";
import { scheduleRemoval } from "../../../lib/adapters/scheduler/schedules.ts";
import { type Org, type OrgOptions, startOrg } from "../../../lib/local/org/start-org.ts";
import type { Event } from "../../../lib/model/delivery/event.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { CycleMessage, LoadMessage } from "../../../lib/model/messages.ts";
import { handleCycleMessage } from "../../../lib/sync/beat/handle-cycle-message.ts";
import { handleLoadMessage } from "../../../lib/sync/load/handle-load-message.ts";
import type { Figures, MessageNeeds } from "../../../lib/sync/ports/cycle-ports.ts";
import { askOrg, askRest, connectionOf } from "../clients/org-rest.ts";
import { createOrgUser, type OrgUser } from "../clients/org-user.ts";
import { type Interference, interferedWith } from "../doubles/interference.ts";
import { createWaits, type Waits } from "../doubles/waits.ts";
import type { BridgeCloud } from "./bridge-cloud.ts";
import { type Asked, carryOut, closedWorkspaces, importMappings } from "./carry-out.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";
import { createTestWorkspace } from "./workspace.ts";

export type Row = Readonly<Record<string, unknown>>;

/** A workspace whose database and org are real, with its mappings provisioned and loaded. Time is moved by hand. */
export type SyncWorld = Awaited<ReturnType<typeof createSyncWorld>>;

export type WorldOptions = Pick<OrgOptions, "dailyApiRequests" | "definition"> & {
  /** The database has nothing at all, as before Bridge comes; else it has Bridge's own tables. */
  readonly isBefore?: boolean;
};

/** Starts it all, empty, in a cloud that a test file starts once: the service keeps to the first that it meets. */
export async function createSyncWorld(cloud: BridgeCloud, { isBefore = false, ...options }: WorldOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "bridge-org-"));
  const waits = createWaits();
  const clock = { now: () => new Date(cloud.clock.now()), sleep: (ms: number) => waits.sleep(() => sleep(cloud, ms)) };
  const org = await startOrg({ dataDir: folder, clock, controls: true, ...options });
  const database = await createTestDatabase(isBefore ? {} : { like: await migratedOnce() });
  const application = new Client({ connectionString: database.url });
  await application.connect();
  const workspace = await createTestWorkspace({
    postgres: { url: database.url, schema: "salesforce" },
    salesforce: connectionOf(org),
  });
  if (!isBefore) await application.query("UPDATE salesforce._bridge_meta SET workspace_id = $1", [workspace.id]);
  const scheduled = new Set<string>();
  const log: Row[] = [];
  const figures: Figures[] = [];
  let interference: Interference | null = null;
  const real = cycleServices();
  const services: MessageNeeds = {
    ...real,
    connections: interferedWith(real.connections, () => interference, waits),
    log: (line) => log.push(line),
    figures: (one) => figures.push(one),
    random: () => 0,
  };
  const rest = (method: string, path: string, body?: unknown) => askRest(org, method, path, body);
  /** A control of the org, `DELETE /_sim/sessions`; not counted. */
  const control = (method: string, path: string, body?: unknown) => askOrg(org, method, `/_sim${path}`, body);
  let foreign = 0;
  let colleague: Promise<OrgUser> | null = null;

  /** What an invocation of the cycles' worker has: sessions of the database are kept from one to the next. */
  const invocation = (): MessageNeeds => ({
    ...services,
    connections: interferedWith(connectionsOf(), () => interference, waits),
  });

  const answer = (mapping: Mapping, kind: CycleMessage["kind"], by = invocation()) => {
    const slot = kind === "beat" ? Math.floor(cloud.clock.now() / 1000) : null;
    const message = { workspace_id: workspace.id, mapping_id: mapping.id, kind, slot };
    return handleCycleMessage(by, message, { owner: "test", deadline: cloud.clock.now() + 180_000 });
  };

  const mapped = async (): Promise<Mapping[]> => [...(await mappings().list(workspace.id)).mappings];
  const byAnother = (method: string, path: string, body?: unknown) => {
    foreign += 1;
    return rest(method, path, body);
  };

  return {
    ...{ cloud, org, workspaceId: workspace.id, services, control, mappings: mapped },
    databaseUrl: database.url,
    ...{ superuserUrl: database.superuserUrl, asSuperuser: database.asSuperuser },
    log: log as readonly Row[],
    /** What each cycle reported for the operator's alarms. */
    figures: figures as readonly Figures[],
    /** The application's own connection. */
    sql: async (text: string, values: readonly unknown[] = []): Promise<Row[]> =>
      (await application.query<Row>(text, [...values])).rows,
    /** Rows of a query of the org. */
    soql: async (query: string): Promise<Row[]> => {
      const { records } = (await byAnother("GET", `/query?q=${encodeURIComponent(query)}`)) as { records: Row[] };
      return records.map(({ attributes: _, ...record }) => record);
    },
    /** A REST call of another user than us; counts like ours. */
    rest: byAnother,
    /** The same by another user, so that what it creates is not ours. */
    colleague: async (method: string, path: string, body?: unknown) => {
      foreign += colleague === null ? 4 : 1; // three calls create it
      colleague ??= createOrgUser(org, "colleague");
      return askRest({ ...org, accessToken: (await colleague).accessToken }, method, path, body);
    },
    /** Merges a record into a master, as people do it; counts like ours. */
    merge: async (object: string, master: string, loser: string) => {
      foreign += 1;
      await soap(
        org,
        `<merge><request><masterRecord><type>${object}</type><Id>${master}</Id></masterRecord><recordToMergeIds>${loser}</recordToMergeIds></request></merge>`,
      );
    },
    /** The org's own count of calls, those of this test left out. */
    calls: async () => ((await control("GET", "/calls")) as { used: number }).used - foreign,
    /** How many requests the org has seen. */
    requests: async () => ((await control("GET", "/requests")) as unknown[]).length,
    /** Events that were announced, by their ids. */
    events: async (ids: readonly string[]): Promise<readonly Event[]> => {
      const found = await eventRows().read(ids.map((eventId) => ({ workspaceId: workspace.id, eventId })));
      return ids.flatMap((id) => found.find((event) => event.id === id) ?? []);
    },
    /** Orders the org to go wrong (its `/_sim/faults`). */
    fault: async (fault: Row) => {
      await control("POST", "/faults", fault);
    },
    /** Imports mappings and carries everything out that follows: tables, loads. */
    map: async (...asked: readonly Asked[]) => {
      await importMappings(workspace.id, asked);
      await carryOut(cloud, invocation());
      const all = await mapped();
      for (const { id } of all) scheduled.add(id);
      return all;
    },
    /** Long work of a mapping, as its message asks for it. */
    work: (mapping: Mapping, kind: LoadMessage["kind"]) => {
      const message = { workspace_id: workspace.id, mapping_id: mapping.id, kind };
      return handleLoadMessage(services, message, { owner: "test", deadline: cloud.clock.now() + 900_000 });
    },
    /** Makes records in the org, many at a time. */
    createRecords: async (object: string, records: readonly Row[]) => {
      for (let start = 0; start < records.length; start += 200) {
        const some = records.slice(start, start + 200).map((record) => ({ attributes: { type: object }, ...record }));
        await byAnother("POST", "/composite/sobjects", { allOrNone: true, records: some });
      }
    },
    /** One cycle of a mapping, as after a poll; the time moves on a second first, so that stamps differ. */
    cycle: async (mapping: Mapping, kind: "beat" | "poll" | "pull" = "poll") => {
      await cloud.clock.advance({ seconds: 1 });
      await answer(mapping, kind);
    },
    /** A cycle whose own timers run by the moved time, too. */
    cycleOnTestClock: async (mapping: Mapping) => {
      await answer(mapping, "poll", { ...invocation(), clock: waits.timed(cloud.clock) });
    },
    /** Cycles of several mappings, or several of one, at once. */
    cyclesAtOnce: async (...all: readonly Mapping[]) => {
      await cloud.clock.advance({ seconds: 1 });
      await Promise.all(all.map((mapping) => answer(mapping, "poll")));
    },
    /** One beat of these mappings, as their messages would come: one after the other, all of one slot. */
    beat: async (all: readonly Mapping[]) => {
      for (const mapping of all) await answer(mapping, "beat");
    },
    /** No client can connect to the customer's database any more, until it comes back. */
    databaseGoesAway: () => admit(database, false),
    databaseComesBack: () => admit(database, true),
    /** Awaits work that may itself wait for time, which advances as long as that takes. */
    untilDone: <Answer>(work: Promise<Answer>) => untilDone(cloud, waits, work),
    /** The org holds something up, until time advances. */
    heldUp: () => waits.untilHeldUp(),
    /** Wraps the cycles' calls to the outside, until it is removed with null. */
    interfere: (next: Interference | null) => {
      interference = next;
    },
    pass: (seconds: number) => cloud.clock.advance({ seconds }),
    close: async () => {
      closedWorkspaces.add(workspace.id);
      // Else each minute that a later test of the file lets pass has its ticks as well.
      const { remove } = scheduleRemoval("default");
      await Promise.all([...scheduled].map(remove));
      await closeAll(application, org, database, folder);
    },
  };
}

/** A database to copy that has Bridge's own tables and no mapping's, there for all files of this process. */
let migrated: Promise<TestDatabase> | undefined;

function migratedOnce(): Promise<TestDatabase> {
  migrated ??= migrateOne();
  return migrated;
}

async function migrateOne(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  const session = await openSession({ url: database.url, schema: "salesforce" });
  await migrate(session, "salesforce", "ws_none").finally(() => session.close());
  return database;
}

async function closeAll(application: Client, org: Org, database: TestDatabase, folder: string) {
  await application.end();
  await org.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
}

async function untilDone<Answer>(cloud: BridgeCloud, waits: Waits, work: Promise<Answer>): Promise<Answer> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  ended.catch(() => undefined);
  while (!isDone) {
    await Promise.race([ended.catch(() => undefined), waits.untilTimeIsNeeded()]);
    if (!isDone) await cloud.clock.advance({ seconds: 1 });
  }
  return ended;
}

async function admit({ superuserUrl: url }: TestDatabase, admitted: boolean): Promise<void> {
  const beside = new URL(url);
  beside.pathname = "/postgres";
  const client = new Client({ connectionString: beside.href });
  await client.connect();
  const name = new URL(url).pathname.slice(1);
  await client.query(`ALTER DATABASE "${name}" WITH ALLOW_CONNECTIONS ${admitted}`);
  const ours = "datname = $1 AND application_name LIKE 'bridge%'";
  if (!admitted) await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ours}`, [name]);
  await client.end();
}

function sleep(cloud: BridgeCloud, milliseconds: number): Promise<void> {
  return new Promise((resolve) => cloud.clock.at(cloud.clock.now() + milliseconds, () => resolve()));
}

async function soap({ url, accessToken }: Org, operation: string): Promise<void> {
  const header = `<SessionHeader><sessionId>${accessToken}</sessionId></SessionHeader>`;
  const response = await fetch(`${url}/services/Soap/u/66.0`, {
    method: "POST",
    headers: { "content-type": "text/xml", SOAPAction: '""' },
    body: `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Header>${header}</Header><Body>${operation}</Body></Envelope>`,
  });
  const text = await response.text();
  if (!text.includes("<success>true</success>")) throw new Error(`${operation}: ${response.status} ${text}`);
}
