import { describe, expect, test } from "vitest";
import { handler as listActivity } from "../../../functions/api/list-activity.ts";
import { handler as pushExisting } from "../../../functions/api/push-existing.ts";
import { handler as readMapping } from "../../../functions/api/read-mapping.ts";
import { handler as readStory } from "../../../functions/api/read-row-story.ts";
import { now } from "../../../functions/services/composition.ts";
import { postgresMonitoring } from "../../../lib/adapters/postgres/operations/monitoring.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { mapped } from "../../support/worlds/worlds.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld();

const log = () => world.changes("action, state, sf_message AS message, held");
const rows = () =>
  world.sql(
    "SELECT name, phone, sfid IS NOT NULL AS met, _ab_lastop AS state, _ab_err AS error FROM salesforce.account ORDER BY id",
  );
const records = () => world.soql("SELECT Name, Phone FROM Account ORDER BY Name");
const NO_RECORD = expect.stringMatching(/^NO_RECORD: /);

/** A table that was there before its mapping, with two rows that Salesforce does not have. */
async function anAdoptedTable(upsertField: string | null = null): Promise<Mapping> {
  await world.sql(`CREATE SCHEMA IF NOT EXISTS salesforce;
    CREATE TABLE salesforce.account (id serial PRIMARY KEY, name varchar(255), phone varchar(40), external_id__c varchar(255));
    INSERT INTO salesforce.account (name, external_id__c) VALUES ('Acme', 'A'), ('Globex', 'G')`);
  const fields = ["Name", "Phone", ...(upsertField ? [upsertField] : [])];
  const account = await mapped(world, { object: "Account", fields, ...(upsertField && { upsertField }) });
  await world.cycle(account);
  return account;
}

describe("a change of an adopted row that has no record", () => {
  test("is neither done nor failed: it is held, counted, and sent with its row", async () => {
    const account = await anAdoptedTable();
    const path = { mapping_id: account.id };
    await world.sql("UPDATE salesforce.account SET phone = '1' WHERE name = 'Acme'");
    await world.cycle(account);
    await world.sql("UPDATE salesforce.account SET phone = '2' WHERE name = 'Acme'");
    await world.cycle(account);
    await world.cycle(account);

    const held = { action: "UPDATE", state: "NEW", message: NO_RECORD, held: true };
    expect(await log()).toEqual([held, held]);
    expect((await rows())[0]).toMatchObject({ met: false, state: "PENDING", error: null });
    const mapping = await world.ask<{ state: string; notices: object[] }>(readMapping, "read-mapping", { path });
    expect(mapping).toMatchObject({ state: "running" });
    expect(mapping.notices).toEqual([
      {
        message: "2 changes of rows that have no record in Salesforce are on hold",
        remedy: "bridge mapping push-existing Account sends such rows as they are",
      },
    ]);
    const story = await world.ask<{ remedy: string; events: { text: string; state: string }[] }>(
      readStory,
      "read-row-story",
      { path: { table: "account", key: "1" } },
    );
    expect(story.remedy).toBe("bridge mapping push-existing Account");
    expect(story.events[0]).toMatchObject({
      state: "NEW",
      text: expect.stringMatching(/^the row was updated phone, on hold: NO_RECORD: /),
    });
    expect(await world.ask(listActivity, "list-activity")).toMatchObject([{ state: "NEW" }, { state: "NEW" }]);
    const monitored = await postgresMonitoring(now).open({ url: world.databaseUrl, schema: "salesforce" });
    expect(await monitored.mappingFigures([account.id])).toMatchObject([
      { heldDeletes: 0, waiting: 0, oldestAt: null },
    ]);

    await world.ask(pushExisting, "push-existing", { path });
    await world.cycle(account);
    await world.cycle(account);

    expect(await records()).toEqual([
      { Name: "Acme", Phone: "2" },
      { Name: "Globex", Phone: null },
    ]);
    expect(await rows()).toMatchObject([
      { name: "Acme", met: true, state: "INSERTED", error: null },
      { name: "Globex", met: true, state: "INSERTED", error: null },
    ]);
    expect((await log()).map(({ state, held: isHeld }) => [state, isHeld])).toEqual(Array(4).fill(["SUCCESS", false]));
    expect(await world.ask(readMapping, "read-mapping", { path })).toMatchObject({ notices: [] });
  });

  test("goes once its row has met a record that Salesforce makes, or ends with its row, and holds no other row back", async () => {
    const account = await anAdoptedTable("External_Id__c");
    await world.sql("UPDATE salesforce.account SET phone = '1' WHERE name = 'Acme'");
    await world.sql("UPDATE salesforce.account SET external_id__c = 'X', phone = '1' WHERE name = 'Globex'");
    await world.sql("UPDATE salesforce.account SET external_id__c = 'Y' WHERE name = 'Globex'");
    await world.cycle(account);
    await world.sql("INSERT INTO salesforce.account (name, external_id__c) VALUES ('New', 'X')");
    await world.cycle(account);
    expect(await records()).toEqual([{ Name: "New", Phone: null }]);
    expect((await log()).map(({ state, held }) => [state, held])).toEqual([
      ...Array(3).fill(["NEW", true]),
      ["SUCCESS", false],
    ]);

    await world.pass(5);
    await world.colleague("POST", "/sobjects/Account", { Name: "Acme", External_Id__c: "A" });
    await world.sql("DELETE FROM salesforce.account WHERE name = 'Globex'");
    await world.cycle(account);
    await world.cycle(account);

    expect(await records()).toEqual([
      { Name: "Acme", Phone: "1" },
      { Name: "New", Phone: null },
    ]);
    expect((await rows())[0]).toMatchObject({ name: "Acme", met: true, phone: "1", error: null });
    expect((await log()).map(({ action, state, held }) => [action, state, held])).toEqual([
      ...Array(3).fill(["UPDATE", "SUCCESS", false]),
      ["INSERT", "SUCCESS", false],
      ["DELETE", "SUCCESS", false],
    ]);
  });
});

test("of a write to fields that Salesforce does not let us write the row has Salesforce's value back at once, and says so; another field is sent", async () => {
  await world.rest("POST", "/sobjects/Account", { Name: "Acme", Phone: "1" });
  const account = await mapped(world, {
    object: "Account",
    fields: ["Name", "Phone", "CreatedDate", "MasterRecordId"],
  });
  await world.pass(120);
  await world.cycle(account);
  const theirs = () => world.sql("SELECT createddate, masterrecordid FROM salesforce.account");
  const before = await theirs();

  await world.sql("UPDATE salesforce.account SET createddate = '2020-01-01', masterrecordid = '001000000000001AAA'");
  await world.cycle(account, "pull");

  expect(await theirs()).toEqual(before);
  expect(await rows()).toMatchObject([{ state: "SYNCED", error: null }]);
  const message = "not writable: CreatedDate, MasterRecordId; Salesforce's value is back";
  expect(await log()).toEqual([{ action: "UPDATE", state: "SUCCESS", message, held: false }]);

  await world.sql("UPDATE salesforce.account SET createddate = '2020-01-01', phone = '2'");
  await world.cycle(account);
  await world.pass(10);
  await world.cycle(account);

  expect(await records()).toEqual([{ Name: "Acme", Phone: "2" }]);
  expect(await rows()).toMatchObject([{ phone: "2" }]);
  expect(await theirs()).toEqual(before);
});
