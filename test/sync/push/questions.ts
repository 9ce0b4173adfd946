import type { SyncWorld } from "../../support/worlds/sync-world.ts";

/** How many changes are in each state. */
export async function countStates(world: SyncWorld): Promise<Readonly<Record<string, unknown>>> {
  const counts = await world.sql("SELECT state, count(*)::int AS n FROM salesforce._trigger_log GROUP BY state");
  return Object.fromEntries(counts.map(({ state, n }) => [state, n]));
}

/** How many contacts of the org fulfil this. */
export const countRecords = async (world: SyncWorld, condition = "LastName != ''") =>
  (await world.soql(`SELECT count(Id) n FROM Contact WHERE ${condition}`))[0]?.["n"];
