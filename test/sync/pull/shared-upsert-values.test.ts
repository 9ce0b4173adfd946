import { expect, test } from "vitest";
import { eachInAWorld, orgWith, world } from "../world.ts";

eachInAWorld(undefined, orgWith("Contact", { name: "Code__c", type: "text", length: 20, externalId: true }));

const create = (codes: Readonly<Record<string, string>>) =>
  world.createRecords(
    "Contact",
    Object.entries(codes).map(([LastName, Code__c]) => ({ LastName, Code__c })),
  );
const map = () => world.mapContact(["Code__c", "LastName"], { upsertField: "Code__c" });
const rows = async () =>
  (await world.sql("SELECT lastname, code__c, sfid FROM salesforce.contact ORDER BY lastname, id")).map(
    ({ lastname, code__c, sfid }) => `${lastname} ${code__c}${sfid === null ? " alone" : ""}`,
  );
const indexes = async () =>
  (await world.sql("SELECT indexdef FROM pg_indexes WHERE tablename = 'contact' AND indexdef LIKE '%code__c%'")).map(
    ({ indexdef }) => String(indexdef).replace(/ON .*/, "").trim(),
  );
const NOT_UNIQUE = expect.stringContaining("does not keep the upsert field Code__c unique");

test("records that share a value of an upsert field that Salesforce does not keep unique have a row each, and an insert with their value fails and says so", async () => {
  await create({ Curie: "K-1", Hopper: "K-1" });
  await map();
  await create({ Noether: "K-1" });
  await world.sql("INSERT INTO salesforce.contact (lastname, code__c) VALUES ('Bassi', 'K-1'), ('Franklin', 'K-2')");
  await world.cycles();

  expect(await rows()).toEqual(["Bassi K-1 alone", "Curie K-1", "Franklin K-2", "Hopper K-1", "Noether K-1"]);
  expect(await world.setAside()).toEqual([]);
  expect(await indexes()).toEqual(["CREATE INDEX contact_code__c_idx"]);
  expect(await world.changes("state, sf_message")).toEqual([
    { state: "FAILED", sf_message: expect.stringContaining("more than one record") },
    { state: "SUCCESS", sf_message: null },
  ]);
  expect(await world.namesThere()).toEqual(["Curie", "Franklin", "Hopper", "Noether"]);
  expect(await world.shown()).toMatchObject([{ notices: [{ message: NOT_UNIQUE }] }]);
});

test("a row meets the one record of its value; where several have it, or several rows do, none is mistaken for another", async () => {
  await map();
  await world.writeUncaptured(
    "INSERT INTO salesforce.contact (lastname, code__c) VALUES ('One', 'K-1'), ('Two', 'K-2'), ('Two', 'K-2'), ('Three', 'K-3')",
  );
  await create({ R0: "K-1", R1: "K-2", R2: "K-3", R3: "K-3" });

  await world.cycles();

  const alone = ["Three K-3 alone", "Two K-2 alone", "Two K-2 alone"];
  expect(await rows()).toEqual(["R0 K-1", "R1 K-2", "R2 K-3", "R3 K-3", ...alone]);
  expect(await world.setAside()).toEqual([]);
});

test("a table from before has its unique index replaced by the daily check, which shows what to do", async () => {
  await map();
  await world.sql(`DROP INDEX salesforce.contact_code__c_idx;
    CREATE UNIQUE INDEX contact_code__c_key ON salesforce.contact (code__c);
    UPDATE salesforce._bridge_state SET shape = shape - 'repeatsUpsertValues'`);
  await create({ Curie: "K-1", Hopper: "K-1" });
  await world.cycles();
  expect(await world.setAside()).toHaveLength(1);
  await world.describeDaily();
  await world.pass(3600);
  await world.sweep();

  expect(await indexes()).toEqual(["CREATE INDEX contact_code__c_idx"]);
  expect(await rows()).toEqual(["Curie K-1", "Hopper K-1"]);
  expect(await world.setAside()).toEqual([]);
  expect(world.log).toContainEqual(expect.objectContaining({ level: "warn", message: NOT_UNIQUE }));
});
