import { beforeEach, describe, expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { firstInGate, isWholeGrid, longTest } from "../support/run/whole-grid.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

const FIELDS = ["Email", "External_Id__c", "LastName"];
const ELEVEN_MINUTES = 11 * 60;

let world: SyncWorld;
aWorldForEachTest((made) => {
  ({ world } = made);
});

async function mapContact(upsertField?: string, bridge: Record<string, unknown> = {}): Promise<Mapping> {
  return mapped(world, { object: "Contact", fields: FIELDS, bridge, ...(upsertField && { upsertField }) });
}

const rows = () => world.sql("SELECT lastname, email, sfid FROM salesforce.contact ORDER BY lastname");
const records = async () =>
  (await world.soql("SELECT Id, LastName, Email FROM Contact ORDER BY LastName")).map(({ Id, LastName, Email }) => ({
    lastname: LastName,
    email: Email,
    sfid: Id,
  }));
const open = () => world.sql("SELECT id FROM salesforce._trigger_log WHERE state IN ('NEW', 'PENDING')");
const insert = "INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Curie', 'C-1')";

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
  const settle = async () => {
    await world.pass(ELEVEN_MINUTES);
    await world.cycle(contact);
    await world.cycle(contact);
  };

  test("makes no second row of an insert", async () => {
    await world.fault({ kind: "saveThenDrop", path: "services/Soap" });
    await world.cycle(contact);

    await world.work(contact, "sweep");
    await settle();

    expect(await rows()).toEqual(await records());
    expect([await rows(), await open()]).toMatchObject([[{ lastname: "Curie" }], []]);
  });

  test("neither undoes an update nor what was changed there in the meantime", async () => {
    await world.cycle(contact);
    await world.sql("UPDATE salesforce.contact SET lastname = 'Sklodowska'");
    await world.fault({ kind: "saveThenDrop", path: "services/Soap" });
    await world.cycle(contact);
    const [record] = await records();
    await world.rest("PATCH", `/sobjects/Contact/${record?.sfid}`, { Email: "m@example.com" });

    await world.work(contact, "sweep");
    await settle();

    expect(await rows()).toMatchObject([{ lastname: "Sklodowska", email: "m@example.com" }]);
    expect([await rows(), await open()]).toEqual([await records(), []]);
  });

  test("brings no row back whose delete was carried out", async () => {
    await world.cycle(contact);
    await world.sql("DELETE FROM salesforce.contact");
    await world.fault({ kind: "saveThenDrop", path: "services/Soap" });
    await world.cycle(contact);

    await world.work(contact, "sweep");
    await settle();

    expect([await rows(), await records(), await open()]).toEqual([[], [], []]);
  });
});

test.each(
  firstInGate(1, [
    ["its update was saved without an answer", "UPDATE salesforce.contact SET email = 'a@example.com'", true],
    ["its update has not been sent yet", "UPDATE salesforce.contact SET email = 'a@example.com'", false],
  ] as const),
)("a row that is deleted while %s stays deleted, although a pull meets its record", async (_, update, isSent) => {
  const contact = await mapContact("External_Id__c");
  await world.rest("POST", "/sobjects/Contact", { LastName: "Curie", External_Id__c: "C-1" });
  await world.cycle(contact);
  await world.sql(update);
  if (isSent) {
    await world.fault({ kind: "saveThenDrop", path: "services/Soap" });
    await world.cycle(contact);
    await world.sql("UPDATE salesforce.contact SET email = 'b@example.com'");
  }
  await world.sql("DELETE FROM salesforce.contact");

  for (let cycles = 0; cycles < 2; cycles++) await world.cycle(contact);
  await world.pass(ELEVEN_MINUTES);
  for (let cycles = 0; cycles < 2; cycles++) await world.cycle(contact);

  expect([await rows(), await records(), await open()]).toEqual([[], [], []]);
});

test("delete then insert with one upsert value ends as the new row alone, also when the answer between is lost", async () => {
  const contact = await mapContact("External_Id__c");
  await world.sql(insert);
  await world.cycle(contact);
  for (const nth of [1, 2]) {
    await world.sql("DELETE FROM salesforce.contact");
    await world.sql(insert.replace("Curie", `Curie ${nth}`));
    await world.fault({ kind: "saveThenDrop", path: "services/Soap", nth });

    await world.cycle(contact);
    await world.cycle(contact);
    await world.cycle(contact);

    expect(await rows()).toMatchObject([{ lastname: `Curie ${nth}` }]);
    expect([await rows(), await open()]).toEqual([await records(), []]);
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
  const active = await mapContact(undefined, { active: true });
  await world.cycle(active);
  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 600 }]);
  expect(await open()).toEqual([]);
});

/** More than two pages. */
const CROWD = isWholeGrid ? 50_000 : 4_100;

test(`${CROWD} records stamped in one second all arrive, and in the idle hour after that no row is read again`, async () => {
  const contact = await mapContact();
  const crowd = Array.from({ length: CROWD }, (_, n) => ({ LastName: `Crowd ${n}` }));
  await world.createRecords("Contact", crowd);

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
  const read = world.log.slice(before).map((line) => Number(line["read"] ?? 0));
  expect(read.reduce((sum, one) => sum + one, 0)).toBe(0);
});
