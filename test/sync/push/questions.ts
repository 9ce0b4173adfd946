import { workspaces } from "../../../functions/services/composition.ts";
import { readStates } from "../../../lib/settings/mapping-states.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { stateNeeds } from "../../support/worlds/worlds.ts";

/** Inserts the contacts L1, L2, … whose upsert values are K-1, K-2, …, after so many that are there. */
export const insertContacts = (world: SyncWorld, count: number, after = 0) =>
  world.sql(
    `INSERT INTO salesforce.contact (lastname, external_id__c)
     SELECT 'L' || i, 'K-' || i FROM generate_series($2::int + 1, $2::int + $1::int) i`,
    [count, after],
  );

/** How many changes are in each state. */
export async function countStates(world: SyncWorld): Promise<Readonly<Record<string, unknown>>> {
  const counts = await world.sql("SELECT state, count(*)::int AS n FROM salesforce._trigger_log GROUP BY state");
  return Object.fromEntries(counts.map(({ state, n }) => [state, n]));
}

/** How many contacts of the org fulfil this. */
export const countRecords = async (world: SyncWorld, condition = "LastName != ''") =>
  (await world.soql(`SELECT count(Id) n FROM Contact WHERE ${condition}`))[0]?.["n"];

/** The events that were announced since this was asked last. */
export async function newEvents(world: SyncWorld) {
  const messages = (await world.cloud.take("events")) as { workspace_id: string; event_id: string }[];
  const mine = messages.filter(({ workspace_id }) => workspace_id === world.workspaceId);
  return world.events(mine.map(({ event_id }) => event_id));
}

/** What API and console show of the only mapping. */
export async function shownState(world: SyncWorld) {
  const workspace = await workspaces().find(world.workspaceId);
  if (!workspace) throw new Error("the test's workspace is gone");
  return (await readStates(stateNeeds(), workspace, false, new Date(world.cloud.clock.now())))[0];
}
