import { afterAll, beforeAll, expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../support/worlds/sync-world.ts";
import { mapped } from "../support/worlds/worlds.ts";

const FIELDS = ["AccountId", "Birthdate", "Email", "External_Id__c", "FirstName", "LastName", "Name"];

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
/** Calls that others made before the first cycle, the import's describes among them. */
let foreignCalls: number;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  world = await createSyncWorld(cloud);
  await world.rest("POST", "/sobjects/Contact", { LastName: "Loaded", Email: "first@example.com" });
  contact = await mapped(world, { object: "Contact", fields: FIELDS });
  foreignCalls = (await world.calls()) - (await countedCalls());
});
afterAll(async () => {
  await world.close();
  await cloud.close();
});

const countedCalls = async () => {
  const [kept] = await world.sql("SELECT api_calls FROM salesforce._bridge_state");
  return Object.values(kept?.["api_calls"] as Record<string, number>).reduce((sum, calls) => sum + calls, 0);
};
const row = async (lastName: string) =>
  (await world.sql("SELECT * FROM salesforce.contact WHERE lastname = $1", [lastName]))[0];
const record = async (lastName: string) =>
  (await world.soql(`SELECT Id, Email, LastName, FirstName FROM Contact WHERE LastName = '${lastName}'`))[0];
const activity = () => world.sql("SELECT action, state, sfid FROM salesforce._trigger_log ORDER BY id");

test("what Salesforce holds is in the table after the first load", async () => {
  expect(await row("Loaded")).toMatchObject({ email: "first@example.com", name: "Loaded", _ab_lastop: "SYNCED" });
  expect(await activity()).toEqual([]);
});

test("a row that an application inserts is in Salesforce within one cycle", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Curie', 'marie@example.com')");

  await world.cycle(contact);

  const found = await record("Curie");
  expect(found).toMatchObject({ Email: "marie@example.com" });
  expect(await row("Curie")).toMatchObject({ sfid: found?.["Id"], _ab_lastop: "INSERTED", _ab_err: null });
  expect(await activity()).toEqual([{ action: "INSERT", state: "SUCCESS", sfid: found?.["Id"] }]);
});

test("a change made in Salesforce is in the row within one cycle and is not sent back", async () => {
  const found = await record("Curie");
  await world.rest("PATCH", `/sobjects/Contact/${found?.["Id"]}`, { FirstName: "Marie", Email: null });
  const before = await activity();

  await world.cycle(contact);

  expect(await row("Curie")).toMatchObject({ firstname: "Marie", email: null, name: "Marie Curie" });
  expect(await activity()).toEqual(before);
});

test("a row that an application deletes is deleted in Salesforce", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Gone')");
  await world.cycle(contact);
  expect(await record("Gone")).toBeDefined();
  await world.sql("DELETE FROM salesforce.contact WHERE lastname = 'Gone'");

  await world.cycle(contact);

  expect(await record("Gone")).toBeUndefined();
});

test("a record that is deleted in Salesforce is deleted from the table", async () => {
  const found = await record("Loaded");
  await world.rest("DELETE", `/sobjects/Contact/${found?.["Id"]}`);

  await world.cycle(contact);

  expect(await row("Loaded")).toBeUndefined();
});

test("a row that Salesforce refuses ends FAILED with the reason, and the others travel", async () => {
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, birthdate) VALUES ('Unborn', '2099-01-01'), ('Born', '1990-01-01')",
  );

  await world.cycle(contact);

  expect(await record("Born")).toBeDefined();
  expect(await row("Unborn")).toMatchObject({
    sfid: null,
    _ab_lastop: "FAILED",
    _ab_err: "FIELD_CUSTOM_VALIDATION_EXCEPTION: A birthdate lies in the past. [Birthdate]",
  });
  expect((await activity()).filter(({ state }) => state === "FAILED")).toHaveLength(1);
});

test("1,000 rows take five saving calls", async () => {
  await world.cycle(contact);
  const before = await world.calls();
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Crowd' FROM generate_series(1, 1000)");

  await world.cycle(contact);

  expect((await world.calls()) - before).toBeLessThanOrEqual(5 + 1);
  expect(await world.soql("SELECT count(Id) n FROM Contact WHERE LastName = 'Crowd'")).toEqual([{ n: 1000 }]);
});

test("every call is counted as the org counts it", async () => {
  expect(await countedCalls()).toBe((await world.calls()) - foreignCalls);
});
