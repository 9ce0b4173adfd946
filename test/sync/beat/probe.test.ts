import { expect, test } from "vitest";
import { idleCallsPerDay } from "../../../lib/model/calls/forecast.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { askedOf } from "../../../lib/settings/forecast.ts";
import { allInOneWorld, world } from "../world.ts";

const OBJECTS = ["Account", "Case", "Contact", "Lead", "Opportunity", "Task"];
const FIELDS: Readonly<Record<string, string>> = { Account: "Name", Contact: "LastName", Lead: "LastName" };

let mappings: readonly Mapping[];
const map = async (more: object = {}) => {
  await world.map(...OBJECTS.map((object) => ({ object, fields: [FIELDS[object] ?? "Description"], ...more })));
  mappings = await world.mappings();
  for (const mapping of mappings) await world.cycle(mapping);
};
allInOneWorld(map, { dailyApiRequests: 1_000_000 });

/** One beat of every mapping, and what it cost. */
async function beat(): Promise<number> {
  await world.pass(10);
  const before = await world.calls();
  await world.beat(mappings);
  return (await world.calls()) - before;
}

test("six idle mappings cost two calls a beat, as the forecast says", async () => {
  await beat();

  expect([await beat(), await beat()]).toEqual([2, 2]);
  // Described and compared once a day as well.
  const forecast = idleCallsPerDay(askedOf(mappings, null));
  expect(forecast).toBeGreaterThanOrEqual(2 * 8_640);
  expect(forecast).toBeLessThan(1.01 * 2 * 8_640);
});

test("a mapping with a long interval is not polled in between", async () => {
  await map({ pollingSeconds: 3_600 });

  expect(await beat()).toBe(0);
});
