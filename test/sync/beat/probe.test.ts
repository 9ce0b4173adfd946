import { afterAll, beforeAll, expect, test } from "vitest";
import { idleCallsPerDay } from "../../../lib/model/calls/forecast.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { CycleMessage } from "../../../lib/model/messages.ts";
import { askedOf } from "../../../lib/settings/forecast.ts";
import { type BridgeCloud, startBridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../../support/worlds/sync-world.ts";

const OBJECTS = ["Account", "Case", "Contact", "Lead", "Opportunity", "Task"];
const FIELDS: Readonly<Record<string, string>> = { Account: "Name", Contact: "LastName", Lead: "LastName" };

let cloud: BridgeCloud;
let world: SyncWorld;
let mappings: readonly Mapping[];
beforeAll(async () => {
  cloud = await startBridgeCloud();
  world = await createSyncWorld(cloud, { dailyApiRequests: 1_000_000 });
  mappings = await world.map(...OBJECTS.map((object) => ({ object, fields: [FIELDS[object] ?? "Description"] })));
  for (const mapping of mappings) await world.cycle(mapping);
});
afterAll(async () => {
  await world.close();
  await cloud.close();
});

/** One beat of every mapping, and what it cost. */
async function beat(): Promise<number> {
  await world.pass(10);
  const before = await world.calls();
  await world.beat(mappings);
  return (await world.calls()) - before;
}

const woken = async () =>
  ((await cloud.take("cycles")) as CycleMessage[])
    .filter(({ kind }) => kind === "pull")
    .map(({ mapping_id }) => mapping_id);

test("six idle mappings cost two calls a beat, as the forecast says", async () => {
  await beat();

  expect([await beat(), await beat()]).toEqual([2, 2]);
  // Described and compared once a day as well.
  const forecast = idleCallsPerDay(askedOf(mappings, null));
  expect(forecast).toBeGreaterThanOrEqual(2 * 8_640);
  expect(forecast).toBeLessThan(1.01 * 2 * 8_640);
});

test("a change wakes the mapping that it belongs to, once", async () => {
  await woken();
  const account = mappings.find(({ sfObject }) => sfObject === "Account");
  if (!account) throw new Error("Account is not mapped");
  await world.rest("POST", "/sobjects/Account", { Name: "Acme" });

  await beat();
  const first = await woken();
  for (const id of first) await world.cycle(mappings.find((mapping) => mapping.id === id) ?? account, "pull");
  await beat();

  const rows = await world.sql("SELECT name FROM salesforce.account");
  expect(rows).toEqual([{ name: "Acme" }]);
  expect([...first, ...(await woken())].filter((id) => id === account.id).length).toBeLessThanOrEqual(1);
});

test("a mapping with a long interval is not polled in between", async () => {
  await world.map(
    ...OBJECTS.map((object) => ({ object, fields: [FIELDS[object] ?? "Description"], pollingSeconds: 3_600 })),
  );
  mappings = await world.mappings();
  for (const mapping of mappings) await world.cycle(mapping);

  expect(await beat()).toBe(0);
});
