import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { mapped } from "../../support/worlds/worlds.ts";
import { eachInAWorld, LOST, orgWith, world } from "../world.ts";

let stay: Mapping;
eachInAWorld(
  async () => {
    stay = await mapped(world, { object: "Stay__c", fields: ["At__c", "External_Id__c", "Title__c", "Wishes__c"] });
  },
  orgWith(
    "Stay__c",
    { name: "External_Id__c", type: "text", externalId: true },
    { name: "At__c", type: "datetime" },
    { name: "Title__c", type: "text" },
    { name: "Wishes__c", type: "multipicklist", values: ["Quiet", "Lift", "Bath"] },
  ),
);

const insert = (wishes: string) =>
  world.sql("INSERT INTO salesforce.stay__c (title__c, wishes__c) VALUES ('a', $1)", [wishes]);
const update = () => world.sql("UPDATE salesforce.stay__c SET title__c = 'b', wishes__c = 'Lift;Quiet'");
const cycles = (count: number) => world.cycles(count, stay);
const saves = async () => (await world.requested()).filter(({ api }) => api === "SOAP").length;
/** Both sides hold one record of these values, and of the log nothing is open. */
async function expectBoth(Title__c: string, Wishes__c: string) {
  const { rows, records } = await world.bothSides(["Title__c", "Wishes__c"], "Stay__c");
  expect(rows).toMatchObject([{ Title__c, Wishes__c }]);
  expect(records).toEqual(rows);
  expect(new Set(await world.states())).toEqual(new Set(["SUCCESS"]));
}

test("values that are chosen come back in the org's order, and are no change of Salesforce's", async () => {
  await insert("Bath;Quiet;Bath");
  await cycles(2);
  await expectBoth("a", "Quiet;Bath");

  await update();
  await cycles(2);
  const sent = await saves();
  await cycles(1);

  await expectBoth("b", "Quiet;Lift");
  expect(await saves()).toBe(sent);
});

test("an insert and an update of two fields whose answers were lost are found by the values that the record holds in its own order, also beneath a delete", async () => {
  await insert("Bath;Quiet");
  await world.fault(LOST);
  await cycles(1);
  await world.pass(11 * 60);
  await cycles(2);
  await expectBoth("a", "Quiet;Bath");

  await update();
  await world.fault(LOST);
  await cycles(1);
  const sent = await saves();
  await world.pass(11 * 60);
  await cycles(2);
  await expectBoth("b", "Quiet;Lift");
  expect(await saves()).toBe(sent);

  await world.sql("UPDATE salesforce.stay__c SET title__c = 'c', wishes__c = 'Bath;Lift'");
  await world.fault(LOST);
  await cycles(1);
  await world.sql("DELETE FROM salesforce.stay__c");
  await cycles(1);
  await world.pass(11 * 60);
  await cycles(2);

  expect(await world.bothSides(["Title__c"], "Stay__c")).toEqual({ rows: [], records: [] });
});

const AGAIN = [
  ["values that were chosen", "wishes__c", "Bath;Quiet", "Lift;Quiet", "Quiet;Lift"],
  ["a text with blanks at its end", "title__c", "a  ", "b ", "b"],
  [
    "an instant with parts of a second",
    "at__c",
    "2026-02-03T04:05:06.7Z",
    "2026-02-03T05:05:06.8Z",
    "2026-02-03T05:05:06Z",
  ],
] as const;

test.each(firstInGate(1, AGAIN))(
  "%s, changed again before they came back, win: Salesforce changed nothing",
  async (_, column, first, second, kept) => {
    await world.sql(`INSERT INTO salesforce.stay__c (${column}) VALUES ($1)`, [first]);
    await world.fault({ kind: "laggingReplication", object: "Stay__c", times: 0, milliseconds: 60_000 });
    await cycles(1);
    await world.sql(`UPDATE salesforce.stay__c SET ${column} = $1`, [second]);
    const [record] = await world.soql("SELECT Id FROM Stay__c");
    await world.rest("PATCH", `/sobjects/Stay__c/${record?.["Id"]}`, { External_Id__c: "theirs" });

    await cycles(2);

    expect(await world.states()).toEqual(["SUCCESS", "SUCCESS"]);
    expect(await world.conflicts()).toEqual([]);
    expect(await world.sql(`SELECT ${column} = $1 AS kept, external_id__c FROM salesforce.stay__c`, [kept])).toEqual([
      { kept: true, external_id__c: "theirs" },
    ]);
  },
);
