import { expect, test } from "vitest";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { numbered, statesShown } from "../world.ts";

let world: SyncWorld;
aWorldForEachTest((made) => {
  ({ world } = made);
});

const names = async () =>
  (await world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname")).map((row) => row["lastname"]);
const notices = async () => (await statesShown(world)).flatMap((state) => state.notices.map(({ message }) => message));
const createdBy = async (LastName: string) =>
  ((await world.colleague("POST", "/sobjects/Contact", { LastName })) as { id: string }).id;

test("when the org's clock goes back by an hour, its changes are pulled, each once, and the operator is warned", async () => {
  const contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
  await world.createRecords("Contact", numbered(100, "Before "));
  const [edited, gone] = [await createdBy("Edited"), await createdBy("Gone")];
  await world.cycle(contact);
  expect(await names()).toHaveLength(102);

  await world.control("POST", "/clock", { advanceMilliseconds: -3_600_000 });
  await world.pass(10);
  await world.createRecords("Contact", numbered(2500, "Behind "));
  await world.colleague("PATCH", `/sobjects/Contact/${edited}`, { LastName: "Edited again" });
  await world.colleague("DELETE", `/sobjects/Contact/${gone}`);
  await world.cycle(contact);

  const after = await names();
  expect(after.filter((name) => String(name).startsWith("Behind"))).toHaveLength(2500);
  expect(after).toHaveLength(2601);
  expect(after).toContain("Edited again");
  expect(after).not.toContain("Gone");
  expect(JSON.stringify(world.log)).toContain("Salesforce's clock went back");
  expect(await notices()).toEqual([expect.stringContaining("Salesforce's clock went back: changes are pulled")]);
  expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);

  await world.pass(3_720);
  await world.cycle(contact);
  expect(await names()).toEqual(after);
  expect(await notices()).toEqual([]);
});
