import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { ELEVEN_MINUTES, LOST } from "../world.ts";

let world: SyncWorld;
let stay: Mapping;
aWorldForEachTest(
  async (made) => {
    world = made.world;
    stay = await mapped(world, { object: "Stay__c", fields: ["At__c", "External_Id__c", "Title__c", "Wishes__c"] });
  },
  {
    definition: {
      objects: [
        {
          name: "Stay__c",
          fields: [
            { name: "External_Id__c", type: "text", externalId: true },
            { name: "At__c", type: "datetime" },
            { name: "Title__c", type: "text" },
            { name: "Wishes__c", type: "multipicklist", values: ["Quiet", "Lift", "Bath"] },
          ],
        },
      ],
    },
  },
);

const insert = (title: string, wishes: string | null) =>
  world.sql("INSERT INTO salesforce.stay__c (title__c, wishes__c) VALUES ($1, $2)", [title, wishes]);
const update = () => world.sql("UPDATE salesforce.stay__c SET title__c = 'b', wishes__c = 'Lift;Quiet'");
const cycles = async (count: number) => {
  for (let cycle = 0; cycle < count; cycle += 1) await world.cycle(stay);
};
const states = async () =>
  (await world.sql("SELECT state FROM salesforce._trigger_log ORDER BY id")).map(({ state }) => state);
const saves = async () =>
  ((await world.control("GET", "/requests")) as { path: string }[]).filter(({ path }) => path.includes("/Soap/"))
    .length;
/** Both sides hold one record of these values, and of the log nothing is open. */
async function expectBoth(title: string, wishes: string) {
  expect(await world.soql("SELECT Title__c, Wishes__c FROM Stay__c")).toEqual([{ Title__c: title, Wishes__c: wishes }]);
  expect(await world.sql("SELECT title__c, wishes__c FROM salesforce.stay__c")).toEqual([
    { title__c: title, wishes__c: wishes },
  ]);
  expect(new Set(await states())).toEqual(new Set(["SUCCESS"]));
}

test("values that are chosen come back in the org's order, and are no change of Salesforce's", async () => {
  await insert("a", "Bath;Quiet;Bath");
  await cycles(2);
  await expectBoth("a", "Quiet;Bath");

  await update();
  await cycles(2);
  const sent = await saves();
  await cycles(1);

  await expectBoth("b", "Quiet;Lift");
  expect(await saves()).toBe(sent);
});

test("an insert and an update of two fields whose answers were lost are found by the values that the record holds in its own order", async () => {
  await insert("a", "Bath;Quiet");
  await world.fault(LOST);
  await cycles(1);
  await world.pass(ELEVEN_MINUTES);
  await cycles(2);
  await expectBoth("a", "Quiet;Bath");

  await update();
  await world.fault(LOST);
  await cycles(1);
  const sent = await saves();
  await world.pass(ELEVEN_MINUTES);
  await cycles(2);

  await expectBoth("b", "Quiet;Lift");
  expect(await saves()).toBe(sent);
});

const AGAIN = [
  ["values that were chosen", "wishes__c", "Bath;Quiet", "Lift;Quiet", "Quiet;Lift"],
  ["a text with blanks at its end", "title__c", "a  ", "b ", "b"],
  [
    "an instant with parts of a second",
    "at__c",
    "2026-02-03 04:05:06.7+00",
    "2026-02-03 05:05:06.8+00",
    "2026-02-03 05:05:06+00",
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

    expect(await states()).toEqual(["SUCCESS", "SUCCESS"]);
    expect(await world.sql("SELECT FROM salesforce._bridge_conflicts")).toEqual([]);
    expect(await world.sql(`SELECT ${column} = $1 AS kept, external_id__c FROM salesforce.stay__c`, [kept])).toEqual([
      { kept: true, external_id__c: "theirs" },
    ]);
  },
);

longTest("a row that was deleted after values were chosen does not come back because of their order", async () => {
  await insert("a", null);
  await cycles(1);
  await update();
  await world.fault(LOST);
  await cycles(1);
  await world.sql("DELETE FROM salesforce.stay__c");
  await cycles(1);

  await world.pass(ELEVEN_MINUTES);
  await cycles(2);

  expect(await world.sql("SELECT FROM salesforce.stay__c")).toEqual([]);
  expect(await world.soql("SELECT Id FROM Stay__c")).toEqual([]);
});
