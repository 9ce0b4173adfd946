import { expect } from "vitest";
import { idleCallsPerDay } from "../../../lib/model/calls/forecast.ts";
import { askedOf } from "../../../lib/settings/forecast.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
aWorldForEachTest((made) => {
  ({ world } = made);
});

const SLOTS_IN_FIVE_MINUTES = 30;

/** Calls that idle beats cost in five minutes, late lanes included, once those of the first are over. */
async function callsInFiveMinutes(): Promise<number> {
  const mappings = await world.mappings();
  const beatFor = async (slots: number) => {
    for (let slot = 0; slot < slots; slot++) {
      await world.pass(10);
      await world.beat(mappings);
    }
  };
  await beatFor(SLOTS_IN_FIVE_MINUTES + 2);
  const before = await world.calls();
  await beatFor(SLOTS_IN_FIVE_MINUTES);
  return (await world.calls()) - before;
}

const MAPPED: readonly [string, readonly string[]][] = [
  ["one mapping", ["Contact"]],
  ["three mappings", ["Account", "Contact", "Lead"]],
];

longTest.each(MAPPED)("the forecast is what %s cost while nothing changes", async (_, objects) => {
  await world.map(...objects.map((object) => ({ object, fields: [object === "Account" ? "Name" : "LastName"] })));

  const callsPerDay = ((await callsInFiveMinutes()) * 24 * 60) / 5;

  const forecast = idleCallsPerDay(askedOf(await world.mappings(), null));
  // Described and compared once a day as well, which five minutes do not show.
  expect(callsPerDay).toBe(8_640);
  expect(forecast).toBeLessThan(1.01 * callsPerDay);
});
