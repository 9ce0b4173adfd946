import { afterAll, beforeAll } from "vitest";
import { workspaces } from "../../functions/services/composition.ts";
import type { Event } from "../../lib/model/delivery/event.ts";
import { readStates } from "../../lib/settings/mapping-states.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type Row, type SyncWorld, type WorldOptions } from "../support/worlds/sync-world.ts";
import { stateNeeds } from "../support/worlds/worlds.ts";

export const ELEVEN_MINUTES = 11 * 60;

/** The next save is carried out, and its answer is lost. */
export const LOST = { kind: "saveThenDrop", path: "services/Soap" } as const;

/** An org that does not count its records has them read by the Bulk API. */
export const UNCOUNTED = { kind: "malformedRequest", code: "NOT_FOUND", path: "recordCount", times: 0 } as const;

/** Fields so long that a page holds 150 records which have both: more than a thousand are read by the Bulk API. */
export const WIDE = ["Story__c", "Saga__c"];
export const MANY = 1_001;
export const longTexts = (names = WIDE) =>
  names.map((name) => ({ name, type: "longTextArea" as const, length: 131_072 }));
export const WIDE_CONTACT: WorldOptions = { definition: { objects: [{ name: "Contact", fields: longTexts() }] } };

/** Gives all tests of a file one world, in a cloud that ends with it. */
export function aWorldForAllTests(
  take: (made: { readonly cloud: BridgeCloud; readonly world: SyncWorld }) => void | Promise<void>,
  options: WorldOptions = {},
): void {
  let cloud: BridgeCloud;
  let world: SyncWorld;
  beforeAll(async () => {
    cloud = await startBridgeCloud();
    world = await createSyncWorld(cloud, options);
    await take({ cloud, world });
  });
  afterAll(async () => {
    await world.close();
    await cloud.close();
  });
}

/** The events of the workspace that were announced since they were last asked for. */
export async function newEvents({ cloud, workspaceId, events }: SyncWorld): Promise<readonly Event[]> {
  const announced = (await cloud.take("events")) as { workspace_id: string; event_id: string }[];
  return events(announced.filter(({ workspace_id }) => workspace_id === workspaceId).map(({ event_id }) => event_id));
}

/** What the API, the console and doctor show of each mapping. */
export async function statesShown({ cloud, workspaceId }: SyncWorld) {
  const workspace = await workspaces().find(workspaceId);
  if (!workspace) throw new Error("the test's workspace is gone");
  return readStates(stateNeeds(), workspace, false, new Date(cloud.clock.now()));
}

/** A write of a session that asks for no triggers, as a restore or a replication tool has it. */
export const writeUncaptured = (world: SyncWorld, statement: string) =>
  world.asSuperuser(`SET session_replication_role = replica; ${statement}`);

/** The rows and the records of one object, both by ids and fields, in the order of the first field. */
export async function bothSides(world: SyncWorld, fields = ["LastName", "Email"], object = "Contact") {
  const columns = fields.map((field) => `${field} AS "${field}"`);
  const table = `salesforce.${object.toLowerCase()}`;
  return {
    rows: await world.sql(`SELECT sfid AS "Id", ${columns.join(", ")} FROM ${table} ORDER BY ${fields[0]}`),
    records: await world.soql(`SELECT Id, ${fields.join(", ")} FROM ${object} ORDER BY ${fields[0]}`),
  };
}

/** The id of the one contact of this last name. */
export const idOf = async (world: SyncWorld, lastName: string): Promise<unknown> =>
  (await world.soql(`SELECT Id FROM Contact WHERE LastName = '${lastName}'`))[0]?.["Id"];

/** People with these last names. */
export const named = (names: readonly string[], more: Row = {}) => names.map((LastName) => ({ LastName, ...more }));

/** So many people. */
export const numbered = (count: number, prefix = "Contact ", more: Row = {}) =>
  named(
    Array.from({ length: count }, (_, at) => `${prefix}${at}`),
    more,
  );
