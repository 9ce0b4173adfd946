import { describe, expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

const LOST = { kind: "saveThenDrop", path: "services/Soap" };
const NEVER_ARRIVED = { kind: "unavailable", path: "services/Soap" };
const ELEVEN_MINUTES = 11 * 60;

let world: SyncWorld;
aWorldForEachTest((made) => {
  ({ world } = made);
});

async function mapContact(upsertField?: string): Promise<Mapping> {
  const fields = ["Email", "External_Id__c", "LastName"];
  return mapped(world, { object: "Contact", fields, ...(upsertField && { upsertField }) });
}

const rows = () => world.sql("SELECT lastname, sfid, _ab_lastop FROM salesforce.contact ORDER BY id");
const records = () => world.soql("SELECT Id, LastName FROM Contact ORDER BY Id");
const states = async () =>
  (await world.sql("SELECT state FROM salesforce._trigger_log ORDER BY id")).map(({ state }) => state);

describe("an insert whose answer was lost", () => {
  test("is sent again at once by its upsert field, and makes one record", async () => {
    const contact = await mapContact("External_Id__c");
    await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Curie', 'C-1')");
    await world.fault(LOST);

    await world.cycle(contact);
    expect(await states()).toEqual(["PENDING"]);
    await world.cycle(contact);

    const [record, ...others] = await records();
    expect(others).toEqual([]);
    expect(await rows()).toEqual([{ lastname: "Curie", sfid: record?.["Id"], _ab_lastop: "INSERTED" }]);
    expect(await states()).toEqual(["SUCCESS"]);
  });

  test("waits eleven minutes without an upsert field, meanwhile makes no second row, and is then found", async () => {
    const contact = await mapContact();
    await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Curie', 'm@example.com')");
    await world.fault(LOST);

    await world.cycle(contact);
    await world.cycle(contact);
    expect(await states()).toEqual(["PENDING"]);
    expect(await rows()).toHaveLength(1);
    await world.pass(ELEVEN_MINUTES);
    await world.cycle(contact);

    const [record, ...others] = await records();
    expect(others).toEqual([]);
    expect(await rows()).toMatchObject([{ sfid: record?.["Id"] }]);
    expect(await states()).toEqual(["SUCCESS"]);
  });

  test("is sent again after eleven minutes when Salesforce has nothing of it", async () => {
    const contact = await mapContact();
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
    await world.fault(NEVER_ARRIVED);

    await world.cycle(contact);
    await world.pass(ELEVEN_MINUTES);
    await world.cycle(contact);

    expect(await records()).toHaveLength(1);
    expect(await states()).toEqual(["SUCCESS"]);
  });

  test("of two equal rows, each gets one of the two records", async () => {
    const contact = await mapContact();
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Twin'), ('Twin')");
    await world.fault(LOST);

    await world.cycle(contact);
    await world.pass(ELEVEN_MINUTES);
    await world.cycle(contact);

    const ids = (await records()).map(({ Id }) => Id);
    expect(ids).toHaveLength(2);
    expect((await rows()).map(({ sfid }) => sfid).sort()).toEqual(ids.sort());
  });

  test("ends FAILED with the reason when more records fit than rows", async () => {
    const contact = await mapContact();
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Twin')");
    await world.fault(LOST);
    await world.cycle(contact);
    await world.rest("POST", "/sobjects/Contact", { LastName: "Twin" });

    await world.pass(ELEVEN_MINUTES);
    await world.cycle(contact);

    const [failed] = await world.sql("SELECT state, sf_message FROM salesforce._trigger_log");
    expect(failed).toMatchObject({ state: "FAILED", sf_message: expect.stringContaining("IN_DOUBT") });
  });
});

describe("an update whose answer was lost", () => {
  test("is read back after eleven minutes, and a newer change of the row waits for that", async () => {
    const contact = await mapContact();
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Sklodowska')");
    await world.cycle(contact);
    await world.sql("UPDATE salesforce.contact SET lastname = 'Curie'");
    await world.fault(LOST);
    await world.cycle(contact);
    await world.sql("UPDATE salesforce.contact SET email = 'm@example.com'");

    await world.cycle(contact);
    expect(await states()).toEqual(["SUCCESS", "PENDING", "NEW"]);
    await world.pass(ELEVEN_MINUTES);
    await world.cycle(contact);

    expect(await states()).toEqual(["SUCCESS", "SUCCESS", "SUCCESS"]);
    expect(await world.soql("SELECT LastName, Email FROM Contact")).toEqual([
      { LastName: "Curie", Email: "m@example.com" },
    ]);
  });
});

test("a delete whose answer was lost is sent again and is done", async () => {
  const contact = await mapContact();
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Gone')");
  await world.cycle(contact);
  await world.sql("DELETE FROM salesforce.contact");
  await world.fault(LOST);

  await world.cycle(contact);
  await world.cycle(contact);

  expect(await records()).toEqual([]);
  expect(await states()).toEqual(["SUCCESS", "SUCCESS"]);
});
