import { beforeEach, expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

/** Two jobs of the Bulk API, each just large enough to cost fewer calls than SOAP. */
const MANY = 2_201;
const MORE = 2 * MANY;

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest((made) => {
  ({ world } = made);
});
beforeEach(async () => {
  contact = await mapped(world, {
    object: "Contact",
    fields: ["Description", "External_Id__c", "LastName", "Title"],
    upsertField: "External_Id__c",
  });
});

const states = () => world.sql("SELECT state, count(*)::int AS n FROM salesforce._trigger_log GROUP BY state");
const count = async (condition: string) =>
  (await world.soql(`SELECT count(Id) n FROM Contact WHERE ${condition}`))[0]?.["n"];

/** A cycle that is killed before its `nth` call after it began with a job, and the minutes after it; whether it came so far. */
async function killedCycle(nth: number): Promise<boolean> {
  let calls = 0;
  let isOpening = false;
  world.interfere((call) => {
    isOpening ||= call === "org.openBulkSave";
    if (isOpening) calls += 1;
    if (calls >= nth) throw new Error("killed");
  });
  await world.cycle(contact);
  world.interfere(null);
  await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
  for (const seconds of [10, 60, 11 * 60, 10, 60]) {
    await world.pass(seconds);
    await world.cycle(contact);
  }
  return calls >= nth;
}

test("new rows by two jobs are none lost and none doubled, whichever step of the cycle it is killed at", async () => {
  let kills = 0;
  for (let rows = MORE, isReached = true; isReached; rows += MORE, kills += 1) {
    await world.sql(
      `INSERT INTO salesforce.contact (lastname, external_id__c, title, description)
       SELECT 'L', 'K-' || i, 'T', CASE i % 2 WHEN 0 THEN 'D' END FROM generate_series($1::int, $2::int) i`,
      [rows - MORE + 1, rows],
    );

    isReached = await killedCycle(kills + 1);

    expect({ kills, states: await states() }).toEqual({ kills, states: [{ state: "SUCCESS", n: rows }] });
    expect({ kills, count: await count("LastName = 'L'") }).toEqual({ kills, count: rows });
  }
  expect(kills).toBeGreaterThan(12);
});

test("changed rows by two jobs all arrive, whichever step of the cycle it is killed at", async () => {
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, external_id__c) SELECT 'L', 'K-' || i FROM generate_series(1, $1) i",
    [MORE],
  );
  await world.cycle(contact);
  let kills = 0;
  for (let isReached = true; isReached; kills += 1) {
    await world.sql(
      `UPDATE salesforce.contact SET title = CASE id % 2 WHEN 0 THEN $1 ELSE title END,
         description = CASE id % 2 WHEN 1 THEN $1 END`,
      [`turn ${kills}`],
    );

    isReached = await killedCycle(kills + 1);

    expect({ kills, states: await states() }).toEqual({ kills, states: [{ state: "SUCCESS", n: (kills + 2) * MORE }] });
    expect({ kills, count: await count(`Title = 'turn ${kills}'`) }).toEqual({ kills, count: MANY });
  }
  expect(kills).toBeGreaterThan(12);
});
