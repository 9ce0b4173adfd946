import type { SQSEvent } from "aws-lambda";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { handler as readHealth } from "../../functions/api/read-health.ts";
import { handler as readMapping } from "../../functions/api/read-mapping.ts";
import { queue, workspaces } from "../../functions/services/composition.ts";
import { schedules } from "../../functions/services/provisioning-services.ts";
import { handler as sweepMinute } from "../../functions/workers/sweep-minute.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import type { Definition } from "../../lib/local/org/metadata/definition.ts";
import type { Event } from "../../lib/model/delivery/event.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { readStates } from "../../lib/settings/mapping-states.ts";
import { call, type Request } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { type Asked, carryOut } from "../support/worlds/carry-out.ts";
import { createSyncWorld, type Row, type SyncWorld, type WorldOptions } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { mapped, stateNeeds } from "../support/worlds/worlds.ts";
import { countRecords, countStates } from "./push/questions.ts";

type Own = SyncWorld & { readonly api: ReturnType<typeof apiOf>; contact: Mapping };

/** The world of the test that runs, with what the tests of this folder do in it. */
export let world: Own & typeof ACTS;
let own: Own;

/** The next save is carried out, and its answer is lost. */
export const LOST = { kind: "saveThenDrop", path: "services/Soap" } as const;

/** The next save is refused before the org gets it, by an answer after which nothing is known. */
export const NEVER_ARRIVED = { kind: "unavailable", path: "services/Soap" } as const;

/** An org that does not count its records has them read by the Bulk API. */
export const UNCOUNTED = { kind: "malformedRequest", code: "NOT_FOUND", path: "recordCount", times: 0 } as const;

/** Fields so long that a page holds 150 records which have both: more than a thousand are read by the Bulk API. */
export const WIDE = ["Story__c", "Saga__c"];
export const MANY = 1_001;
export const longTexts = (names = WIDE) =>
  names.map((name) => ({ name, type: "longTextArea" as const, length: 131_072 }));

/** An org with one object of its own, or with more fields of a standard one. */
export const orgWith = (name: string, ...fields: Fields): WorldOptions => ({
  definition: { objects: [{ name, fields }] },
});
export const WIDE_CONTACT = orgWith("Contact", ...longTexts());
type Fields = NonNullable<NonNullable<Definition["objects"]>[number]["fields"]>;

/** So many people. */
export const numbered = (count: number, prefix = "Contact ", more: Row = {}) =>
  Array.from({ length: count }, (_, at) => ({ LastName: `${prefix}${at}`, ...more }));

async function begin(cloud: BridgeCloud, options: WorldOptions, rest?: () => unknown): Promise<void> {
  const made = await createSyncWorld(cloud, options);
  own = Object.assign(made, { api: apiOf(made.workspaceId, await tokenFor(made.workspaceId)), contact: {} as Mapping });
  world = Object.assign(own, ACTS);
  for (const queue of ["loads", "provisioning"] as const) await cloud.take(queue); // of the worlds before
  await rest?.();
}

/** Gives every test of a file a world of its own, in a cloud that ends with the file; `rest` makes what all begin with. */
export function eachInAWorld(rest?: () => unknown, options: WorldOptions = {}): void {
  let cloud: BridgeCloud;
  beforeAll(async () => {
    cloud = await startBridgeCloud();
  });
  beforeEach(() => begin(cloud, options, rest));
  afterEach(() => world.close());
  afterAll(() => cloud.close());
}

/** Gives all tests of a file one world. */
export function allInOneWorld(rest?: () => unknown, options: WorldOptions = {}): void {
  beforeAll(async () => begin(await startBridgeCloud(), options, rest));
  afterAll(async () => {
    await world.close();
    await world.cloud.close();
  });
}

/** Reads one column. */
const column = async (name: string, query: Promise<readonly Row[]>) => (await query).map((row) => row[name]);

const mappingOf = async (object = "Contact") =>
  (await own.mappings()).find(({ sfObject }) => sfObject === object) as Mapping;
/** Does what the workers of the configuration are asked for. The Contact is of its newest version then. */
const carryOutAll = async () => {
  await carryOut(own.cloud, own.services);
  own.contact = (await mappingOf()) ?? own.contact;
};
const cycles = async (count = 1, mapping = own.contact) => {
  for (let cycle = 0; cycle < count; cycle += 1) await own.cycle(mapping);
};
const idOf = async (lastName: string) =>
  (await own.soql(`SELECT Id FROM Contact WHERE LastName = '${lastName}'`))[0]?.["Id"];
/** The API of a workspace, asked with a token of it. */
const apiOf = (workspace_id: string, token: string) => ({
  ask: (handler: Parameters<typeof call>[0], route: RouteName, request: Request = {}) =>
    call(handler, route, { token, ...request, path: { workspace_id, ...request.path } }),
});
/** What an endpoint of the workspace answers an administrator. */
const ask = async <Data>(...asked: Parameters<Own["api"]["ask"]>) => dataOf<Data>(await own.api.ask(...asked));
const changes = (columns = "action, state") => own.sql(`SELECT ${columns} FROM salesforce._trigger_log ORDER BY id`);
/** The events of the workspace that were announced since they were last asked for. */
const newEvents = async (): Promise<readonly Event[]> => {
  const announced = (await own.cloud.take("events")) as { workspace_id: string; event_id: string }[];
  const mine = announced.filter(({ workspace_id }) => workspace_id === own.workspaceId);
  return own.events(mine.map(({ event_id }) => event_id));
};

const ACTS = {
  /** Maps the Contact, or changes its mapping. */
  mapContact: async (fields: readonly string[], more: Partial<Asked> = {}) => {
    own.contact = await mapped(own, { object: "Contact", fields, ...more });
  },
  mappingOf,
  carryOut: carryOutAll,

  cycles,
  beats: async (count: number, secondsApart: number) => {
    for (let beat = 0; beat < count; beat += 1) {
      await own.pass(secondsApart);
      await own.cycle(own.contact, "beat");
    }
  },
  sweep: () => own.work(own.contact, "sweep"),
  sweepMinute: () => sweepMinute({ Records: [{ messageId: "tick", body: "{}" }] } as SQSEvent),
  /** The daily check of the Contact in Salesforce, and the new version that it may ask for. */
  describeDaily: async () => {
    const message = { workspace_id: own.workspaceId, mapping_id: own.contact.id, import_id: null, describe: true };
    await queue("provisioning").send([{ message }]);
    for (let turn = 0; turn < 2; turn += 1) await carryOutAll();
  },
  /** Days may pass, of which no minute counts. */
  stopMinutes: async () => {
    for await (const { mappingId } of schedules().list()) await schedules().remove(mappingId);
  },
  /** What was in doubt is known by now. */
  untilKnown: async (count = 2) => {
    await own.pass(11 * 60);
    await cycles(count);
  },
  /** The records were read so long ago that a pull does not read them again. */
  settle: async () => {
    await own.pass(3_600);
    await own.cycle(own.contact, "pull");
  },

  create: (LastName: string, more: Row = {}) => own.rest("POST", "/sobjects/Contact", { LastName, ...more }),
  idOf,
  patch: async (lastName: string, values: Row, by: "rest" | "colleague" = "rest") =>
    own[by]("PATCH", `/sobjects/Contact/${await idOf(lastName)}`, values),
  /** Contacts L1, L2, … whose upsert values are K-1, K-2, …, after so many that are there. */
  insertKeyed: (count: number, after = 0) =>
    own.sql(
      `INSERT INTO salesforce.contact (lastname, external_id__c)
       SELECT 'L' || i, 'K-' || i FROM generate_series($2::int + 1, $2::int + $1::int) i`,
      [count, after],
    ),
  /** Rows of the application's with these last names. */
  insert: (...names: readonly string[]) =>
    own.sql("INSERT INTO salesforce.contact (lastname) SELECT unnest($1::text[])", [names]),
  remove: async (lastName: string) => own.rest("DELETE", `/sobjects/Contact/${await idOf(lastName)}`),
  /** Deletes a record so that nothing of it is left but a line of the org's log. Gives its id. */
  removeForGood: async (lastName: string) => {
    const id = await idOf(lastName);
    await own.rest("DELETE", `/sobjects/Contact/${id}`);
    await own.control("DELETE", "/recycle-bin");
    return id;
  },
  /** A write of a session that asks for no triggers, as a restore or a replication tool has it. */
  writeUncaptured: (statement: string) => own.asSuperuser(`SET session_replication_role = replica; ${statement}`),

  /** The last names of the rows, and of the records. */
  names: () => column("lastname", own.sql("SELECT lastname FROM salesforce.contact ORDER BY 1")),
  namesThere: () => column("LastName", own.soql("SELECT LastName FROM Contact ORDER BY LastName")),
  /** The rows and the records of one object, both by ids and fields, in the order of the first field. */
  bothSides: async (fields = ["LastName", "Email"], object = "Contact") => {
    const columns = fields.map((field) => `${field} AS "${field}"`);
    const table = `salesforce.${object.toLowerCase()}`;
    return {
      rows: await own.sql(`SELECT sfid AS "Id", ${columns.join(", ")} FROM ${table} ORDER BY ${fields[0]}`),
      records: await own.soql(`SELECT Id, ${fields.join(", ")} FROM ${object} ORDER BY ${fields[0]}`),
    };
  },
  changes,
  states: () => column("state", changes()),
  countStates: () => countStates(own),
  countRecords: (condition?: string) => countRecords(own, condition),
  conflicts: () => own.sql("SELECT field, postgres, salesforce, winner FROM salesforce._bridge_conflicts ORDER BY id"),
  setAside: () => own.sql("SELECT sqlstate, attempts, error FROM salesforce._bridge_inbound_errors ORDER BY error"),

  /** The checkpoint of the long work that is under way. */
  checkpoint: async () => (await own.sql("SELECT load FROM salesforce._bridge_loads"))[0]?.["load"] ?? null,

  /** The last line of one event that was logged. */
  lastLine: (event: string) => own.log.findLast((line) => line["event"] === event),
  newEvents,
  eventNames: async () => (await newEvents()).map(({ event }) => event),
  /** The requests that the org has seen. */
  requested: async () =>
    (await own.control("GET", "/requests")) as readonly {
      method: string;
      path: string;
      api: string;
      request: string;
    }[],
  ask,
  /** What the API says of the Contact's mapping. */
  shownContact: () => ask<Row>(readMapping, "read-mapping", { path: { mapping_id: own.contact.id } }),
  /** The status of syncing that the workspace's health has. */
  health: async () => (await ask<{ sync: { status: string } }>(readHealth, "read-health")).sync.status,
  /** What the API, the console and doctor show of each mapping. */
  shown: async () => {
    const workspace = await workspaces().find(own.workspaceId);
    if (!workspace) throw new Error("the test's workspace is gone");
    return readStates(stateNeeds(), workspace, false, new Date(own.cloud.clock.now()));
  },
} as const;
