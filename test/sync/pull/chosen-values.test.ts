import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

const FIELDS = ["At__c", "External_Id__c", "Title__c", "Wishes__c"];

let world: SyncWorld;
let stay: Mapping;
aWorldForEachTest(
  async (made) => {
    world = made.world;
    stay = await mapped(world, { object: "Stay__c", fields: FIELDS });
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

const rows = () => world.sql("SELECT title__c, wishes__c FROM salesforce.stay__c");
const inOrg = () => world.soql("SELECT Title__c, Wishes__c FROM Stay__c");
const conflicts = () => world.sql("SELECT * FROM salesforce._bridge_conflicts");
const states = async () =>
  (await world.sql("SELECT state FROM salesforce._trigger_log ORDER BY id")).map(({ state }) => state);
const saves = async () =>
  ((await world.control("GET", "/requests")) as { path: string }[]).filter(({ path }) => path.includes("/Soap/"))
    .length;

test("values that are chosen come back in the org's order, and are no change of Salesforce's", async () => {
  await world.sql("INSERT INTO salesforce.stay__c (title__c, wishes__c) VALUES ('a', 'Bath;Quiet;Bath')");
  await world.cycle(stay);
  await world.cycle(stay);
  expect(await rows()).toEqual([{ title__c: "a", wishes__c: "Quiet;Bath" }]);

  await world.sql("UPDATE salesforce.stay__c SET title__c = 'b', wishes__c = 'Lift;Quiet'");
  await world.cycle(stay);
  await world.cycle(stay);
  const sent = await saves();
  await world.cycle(stay);

  expect(await inOrg()).toMatchObject([{ Title__c: "b", Wishes__c: "Quiet;Lift" }]);
  expect(await rows()).toEqual([{ title__c: "b", wishes__c: "Quiet;Lift" }]);
  expect(await states()).toEqual(["SUCCESS", "SUCCESS"]);
  expect(await saves()).toBe(sent);
});

test("an update of two fields whose answer was lost is found by the values that the record holds in its own order", async () => {
  await world.sql("INSERT INTO salesforce.stay__c (title__c) VALUES ('a')");
  await world.cycle(stay);
  await world.sql("UPDATE salesforce.stay__c SET title__c = 'b', wishes__c = 'Lift;Quiet'");
  await world.fault({ kind: "saveThenDrop", path: "services/Soap" });
  await world.cycle(stay);
  const sent = await saves();

  await world.pass(11 * 60);
  await world.cycle(stay);

  expect(await states()).toEqual(["SUCCESS", "SUCCESS"]);
  expect(await saves()).toBe(sent);
  await world.cycle(stay);
  expect(await rows()).toEqual([{ title__c: "b", wishes__c: "Quiet;Lift" }]);
});

test("an insert of two fields whose answer was lost is found so, too", async () => {
  await world.sql("INSERT INTO salesforce.stay__c (title__c, wishes__c) VALUES ('a', 'Bath;Quiet')");
  await world.fault({ kind: "saveThenDrop", path: "services/Soap" });
  await world.cycle(stay);

  await world.pass(11 * 60);
  await world.cycle(stay);
  await world.cycle(stay);

  expect(await inOrg()).toMatchObject([{ Title__c: "a", Wishes__c: "Quiet;Bath" }]);
  expect(await states()).toEqual(["SUCCESS"]);
  expect(await rows()).toEqual([{ title__c: "a", wishes__c: "Quiet;Bath" }]);
});

longTest.each([
  ["values that were chosen", "wishes__c", "Bath;Quiet", "Lift;Quiet", "Quiet;Lift"],
  ["a text with blanks at its end", "title__c", "a  ", "b ", "b"],
  [
    "an instant with parts of a second",
    "at__c",
    "2026-02-03 04:05:06.7+00",
    "2026-02-03 05:05:06.8+00",
    "2026-02-03 05:05:06+00",
  ],
])(
  "%s, changed again before they came back, win: Salesforce changed nothing",
  async (_, column, first, second, kept) => {
    await world.sql(`INSERT INTO salesforce.stay__c (${column}) VALUES ($1)`, [first]);
    await world.fault({ kind: "laggingReplication", object: "Stay__c", times: 0, milliseconds: 60_000 });
    await world.cycle(stay);
    await world.sql(`UPDATE salesforce.stay__c SET ${column} = $1`, [second]);
    const [record] = await world.soql("SELECT Id FROM Stay__c");
    await world.rest("PATCH", `/sobjects/Stay__c/${record?.["Id"]}`, { External_Id__c: "theirs" });

    await world.cycle(stay);
    await world.cycle(stay);

    expect(await states()).toEqual(["SUCCESS", "SUCCESS"]);
    expect(await conflicts()).toEqual([]);
    expect(await world.sql(`SELECT ${column} = $1 AS kept, external_id__c FROM salesforce.stay__c`, [kept])).toEqual([
      { kept: true, external_id__c: "theirs" },
    ]);
  },
);

longTest("a row that was deleted after values were chosen does not come back because of their order", async () => {
  await world.sql("INSERT INTO salesforce.stay__c (title__c) VALUES ('a')");
  await world.cycle(stay);
  await world.sql("UPDATE salesforce.stay__c SET title__c = 'b', wishes__c = 'Lift;Quiet'");
  await world.fault({ kind: "saveThenDrop", path: "services/Soap" });
  await world.cycle(stay);
  await world.sql("DELETE FROM salesforce.stay__c");
  await world.cycle(stay);

  await world.pass(11 * 60);
  await world.cycle(stay);
  await world.cycle(stay);

  expect(await rows()).toEqual([]);
  expect(await inOrg()).toEqual([]);
});
