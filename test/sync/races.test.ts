import { beforeEach, describe, expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { firstInGate, isWholeGrid, longTest } from "../support/run/whole-grid.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";
import { bothSides, ELEVEN_MINUTES, LOST, numbered } from "./world.ts";

let world: SyncWorld;
aWorldForEachTest((made) => {
  ({ world } = made);
});

async function mapContact(upsertField?: string, bridge: Record<string, unknown> = {}): Promise<Mapping> {
  const fields = ["Email", "External_Id__c", "LastName"];
  return mapped(world, { object: "Contact", fields, bridge, ...(upsertField && { upsertField }) });
}

const open = () => world.sql("SELECT id FROM salesforce._trigger_log WHERE state IN ('NEW', 'PENDING')");
const insert = "INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Curie', 'C-1')";
/** Both sides are equal and like these, and no change is open. */
async function expectBoth(...expected: readonly object[]): Promise<void> {
  const { rows, records } = await bothSides(world);
  expect(rows).toMatchObject(expected);
  expect([records, await open()]).toEqual([rows, []]);
}

describe.each(
  firstInGate(1, [
    ["without an upsert field", undefined],
    ["with an upsert field", "External_Id__c"],
  ]),
)("a pull between a lost answer and its settling, %s,", (_, upsertField) => {
  let contact: Mapping;
  beforeEach(async () => {
    contact = await mapContact(upsertField);
    await world.sql(insert);
  });
  const loseAnswer = async (statement?: string) => {
    if (statement) {
      await world.cycle(contact);
      await world.sql(statement);
    }
    await world.fault(LOST);
    await world.cycle(contact);
  };
  const settle = async () => {
    await world.work(contact, "sweep");
    await world.pass(ELEVEN_MINUTES);
    for (let cycles = 0; cycles < 2; cycles++) await world.cycle(contact);
  };

  test("makes no second row of an insert", async () => {
    await loseAnswer();
    await settle();
    await expectBoth({ LastName: "Curie" });
  });

  test("neither undoes an update nor what was changed there in the meantime", async () => {
    await loseAnswer("UPDATE salesforce.contact SET lastname = 'Sklodowska'");
    const [record] = await world.soql("SELECT Id FROM Contact");
    await world.rest("PATCH", `/sobjects/Contact/${record?.["Id"]}`, { Email: "m@example.com" });
    await settle();
    await expectBoth({ LastName: "Sklodowska", Email: "m@example.com" });
  });

  test("brings no row back whose delete was carried out", async () => {
    await loseAnswer("DELETE FROM salesforce.contact");
    await settle();
    await expectBoth();
  });
});

test.each(firstInGate(1, [true, false]))(
  "a row that is deleted while its update was saved without an answer (%s), or not sent yet, stays deleted, although a pull meets its record",
  async (isSent) => {
    const contact = await mapContact("External_Id__c");
    await world.rest("POST", "/sobjects/Contact", { LastName: "Curie", External_Id__c: "C-1" });
    await world.cycle(contact);
    await world.sql("UPDATE salesforce.contact SET email = 'a@example.com'");
    if (isSent) {
      await world.fault(LOST);
      await world.cycle(contact);
      await world.sql("UPDATE salesforce.contact SET email = 'b@example.com'");
    }
    await world.sql("DELETE FROM salesforce.contact");

    for (let cycles = 0; cycles < 2; cycles++) await world.cycle(contact);
    await world.pass(ELEVEN_MINUTES);
    for (let cycles = 0; cycles < 2; cycles++) await world.cycle(contact);

    await expectBoth();
  },
);

test("delete then insert with one upsert value ends as the new row alone, also when the answer between is lost", async () => {
  const contact = await mapContact("External_Id__c");
  await world.sql(insert);
  await world.cycle(contact);
  for (const nth of [1, 2]) {
    await world.sql("DELETE FROM salesforce.contact");
    await world.sql(insert.replace("Curie", `Curie ${nth}`));
    await world.fault({ ...LOST, nth });

    for (let cycles = 0; cycles < 3; cycles++) await world.cycle(contact);

    await expectBoth({ LastName: `Curie ${nth}` });
    await world.control("DELETE", "/faults");
  }
});

longTest("a pause in mid cycle ends it; what was sent counts, and the rest goes once it is active again", async () => {
  const contact = await mapContact();
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Crowd ' || n FROM generate_series(1, 600) n");
  let saves = 0;
  world.interfere(async (call) => {
    if (call !== "org.write" || ++saves !== 2) return;
    world.interfere(null);
    await mapContact(undefined, { active: false });
  });

  await world.cycle(contact);

  const states = "SELECT state, count(*)::int AS n FROM salesforce._trigger_log GROUP BY state ORDER BY state";
  const sent = Number((await world.soql("SELECT count(Id) n FROM Contact"))[0]?.["n"]);
  expect(await world.sql(states)).toEqual([
    { state: "NEW", n: 600 - sent },
    { state: "SUCCESS", n: sent },
  ]);
  expect(sent).toBeLessThan(600);
  await world.cycle(await mapContact(undefined, { active: true }));
  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 600 }]);
  expect(await open()).toEqual([]);
});

/** More than two pages. */
const CROWD = isWholeGrid ? 50_000 : 4_100;

test(`${CROWD} records stamped in one second all arrive, and in the idle hour after that no row is read again`, async () => {
  const contact = await mapContact();
  await world.createRecords("Contact", numbered(CROWD));

  await world.cycle(contact, "pull");

  const count = "SELECT count(*)::int AS n, count(DISTINCT systemmodstamp)::int AS seconds FROM salesforce.contact";
  expect(await world.sql(count)).toEqual([{ n: CROWD, seconds: 1 }]);
  await world.pass(120);
  await world.cycle(contact, "pull");
  const before = world.log.length;
  for (let minutes = 0; minutes < 60; minutes += 10) {
    await world.pass(600);
    await world.cycle(contact, "pull");
  }
  expect(world.log.slice(before).filter((line) => Number(line["read"] ?? 0) > 0)).toEqual([]);
});
