import { expect, test } from "vitest";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld();

/** Contacts whose unique field, which is not the upsert field, has the values 1 to `count`. */
async function numbered(count: number): Promise<void> {
  const records = Array.from({ length: count }, (_, index) => ({
    LastName: `L${index + 1}`,
    External_Id__c: `${index + 1}`,
  }));
  await world.createRecords("Contact", records);
  await world.mapContact(["LastName", "External_Id__c"]);
  await world.pass(120);
  await world.cycles();
}

const values = async () =>
  (await world.soql("SELECT LastName, External_Id__c FROM Contact ORDER BY CreatedDate, Id")).map(
    ({ LastName, External_Id__c }) => `${LastName}=${External_Id__c}`,
  );
const failed = async () =>
  (
    await world.sql("SELECT lastname, _ab_err AS error FROM salesforce.contact WHERE _ab_lastop = 'FAILED' ORDER BY id")
  ).map(({ lastname, error }) => [lastname, error]);
const UP = "UPDATE salesforce.contact SET external_id__c = (external_id__c::int + 1)::text";

test("unique values that move on arrive, all of them, by one cycle each time", async () => {
  await numbered(9);

  for (const statement of [
    // Upwards, and a new row takes what the first one gives up.
    `INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('New', '1'); ${UP} WHERE lastname <> 'New'`,
    UP,
    "UPDATE salesforce.contact SET external_id__c = (external_id__c::int - 1)::text",
    `${UP} WHERE id <= 2; ${UP} WHERE id > 2`,
    "UPDATE salesforce.contact SET external_id__c = (external_id__c::int + 1)::text, lastname = lastname || '!'",
  ]) {
    await world.sql(statement);

    await world.cycles();

    expect({ statement, failed: await failed() }).toEqual({ statement, failed: [] });
    const rows = await world.sql("SELECT lastname || '=' || external_id__c AS text FROM salesforce.contact");
    expect({ statement, values: (await values()).sort() }).toEqual({
      statement,
      values: rows.map(({ text }) => text).sort(),
    });
  }
});

test("records that exchange their values are refused with a sentence that says why", async () => {
  await numbered(3);
  await world.sql("UPDATE salesforce.contact SET external_id__c = (external_id__c::int % 3 + 1)::text");

  await world.cycles();

  const error = expect.stringMatching(
    /^DUPLICATE_VALUE: .*; records exchange this value, .* give one of them another value in between$/,
  );
  expect(await failed()).toEqual(["L1", "L2", "L3"].map((name) => [name, error]));
  expect((await values()).sort()).toEqual(["L1=1", "L2=2", "L3=3"]);
});

test("a value that another record keeps is refused at once, as Salesforce says it", async () => {
  await numbered(3);
  await world.sql(
    "UPDATE salesforce.contact SET external_id__c = '3' WHERE external_id__c = '1'; UPDATE salesforce.contact SET lastname = 'Other' WHERE external_id__c = '3' AND lastname = 'L3'",
  );

  await world.cycles();

  expect(await failed()).toEqual([["L1", expect.stringMatching(/^DUPLICATE_VALUE: .* on record with id: \w+$/)]]);
  expect(await world.sql("SELECT attempts FROM salesforce._trigger_log WHERE state = 'FAILED'")).toEqual([
    { attempts: 0 },
  ]);
});
