import { afterEach, expect, test } from "vitest";
import { engineReports } from "../../../functions/services/composition.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld(() => world.mapContact(["LastName"]));
afterEach(() => {
  process.env["STAGE"] = "dev";
});

const report = async () => (await engineReports().read(world.workspaceId)).mappings[0];

test("a database whose host leads to an address that is not public is not connected to by a cycle either, which says so and recovers once the address is good", async () => {
  await world.pass(600); // no connection of before is kept
  process.env["STAGE"] = "prod";

  for (let cycle = 1; cycle <= 3; cycle += 1) await world.cycles().catch(() => undefined);

  process.env["STAGE"] = "dev";
  expect((await report())?.message).toMatch(/the host 127\.0\.0\.1 points to a loopback address.*openedRanges/);
  await world.cycles();
  expect(await report()).toMatchObject({ broken: false });
});
