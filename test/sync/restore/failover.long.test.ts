import { expect, test } from "vitest";
import { handler as deleteMapping } from "../../../functions/api/delete-mapping.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { eachInAWorld, world } from "../world.ts";

const ASKED = [
  { object: "Contact", fields: ["LastName", "Email", "External_Id__c"], upsertField: "External_Id__c" },
  { object: "Account", fields: ["Name", "Phone"] },
];

let mappings: Mapping[];
eachInAWorld();

const cycles = async () => {
  for (const mapping of mappings) await world.cycle(mapping);
};
const minutes = async (count: number) => {
  for (let minute = 0; minute < count; minute += 1) {
    await world.pass(60);
    await cycles();
  }
};
/** Whether a rewind is suspected of any mapping. */
const suspected = async () =>
  (
    await Promise.all(mappings.map(async ({ id }) => (await world.services.engine.read(world.workspaceId, id)).engine))
  ).some(({ state }) => state.brokenSince !== null || state.rewoundAt !== null);
const caughtUp = () =>
  new Set(
    world.log
      .filter((line) => JSON.stringify(line).includes("the database has lost its last moments"))
      .map((line) => line["sf_object"]),
  );

const NO_REWIND: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["a log that was pruned", () => world.sql("DELETE FROM salesforce._trigger_log")],
  ["31 idle days", () => world.pass(31 * 24 * 3600)],
  [
    "a mapping that was deleted and created again",
    async () => {
      for (const { id } of mappings) await world.api.ask(deleteMapping, "delete-mapping", { path: { mapping_id: id } });
      await world.carryOut();
      mappings = await world.map(...ASKED);
    },
  ],
];

test.each(NO_REWIND)("%s is no rewind", async (_, happens) => {
  const write = (name: string) =>
    world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ($1, $1)", [name]);
  mappings = await world.map(...ASKED);
  await write("Ada");
  await minutes(4);

  await happens();
  await write("Last");
  for (const _ of [1, 2]) await cycles();

  expect(await world.namesThere()).toEqual(["Ada", "Last"]);
  expect(await suspected()).toBe(false);
  expect(caughtUp()).toEqual(new Set());
});
