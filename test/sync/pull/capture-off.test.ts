import { describe, expect, test } from "vitest";
import { handler as captureMapping } from "../../../functions/api/capture-mapping.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld(async () => {
  await world.create("Curie", { Email: "marie@example.com" });
  await world.create("Hopper", { Email: "grace@example.com" });
  await world.mapContact(["Email", "LastName"]);
  await world.newEvents();
});

const everything = async () => ({
  rows: await world.sql("SELECT * FROM salesforce.contact ORDER BY id"),
  records: (await world.bothSides()).records,
  log: await world.changes(),
});
/** The names and emails of rows and records, which are equal. */
const people = async () => {
  const { rows, records } = await world.bothSides();
  expect(rows).toEqual(records);
  return rows.map(({ LastName, Email }) => [LastName, Email]);
};
/** What `bridge mapping capture` asks for; the worker that carries it out comes later. */
const capture = (uncaptured: "salesforce" | "mine", query = {}) =>
  world.ask(captureMapping, "capture-mapping", {
    path: { mapping_id: world.contact.id },
    query,
    body: { uncaptured },
  });

const DISABLE = "ALTER TABLE salesforce.contact DISABLE TRIGGER USER";
const SWAP = `
  CREATE TABLE salesforce.contact_new (LIKE salesforce.contact INCLUDING ALL);
  INSERT INTO salesforce.contact_new SELECT * FROM salesforce.contact;
  ALTER TABLE salesforce.contact RENAME TO contact_old;
  ALTER TABLE salesforce.contact_new RENAME TO contact`;

/** Both sides continue while capture is off: what the application writes is in no world.changes. */
async function bothSidesGoOn(): Promise<void> {
  await world.sql("UPDATE salesforce.contact SET lastname = 'Sklodowska', _ab_lastop = NULL WHERE lastname = 'Curie'");
  await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Noether', 'emmy@example.com')");
  await world.patch("Curie", { Email: "curie@example.com" });
  await world.create("Lovelace");
}

test("while triggers are off no cycle, sweep or load reverts uncaptured writes, and the mapping says what to do until they are on again", async () => {
  await world.sql(DISABLE);
  await bothSidesGoOn();
  const before = await everything();

  await world.pass(60);
  await world.cycles(4);
  for (const kind of ["sweep", "load", "backfill"] as const) await world.work(world.contact, kind);

  expect(await everything()).toEqual(before);
  const message = expect.stringMatching(
    /salesforce\.contact are not captured.*zz_bridge_insert.*run bridge mapping capture Contact --salesforce .* bridge mapping capture Contact --mine/,
  );
  expect(await world.newEvents()).toMatchObject([
    {
      event: "sync.broken",
      detail: { mapping_id: world.contact.id, reason: "capture_off", message, failed_cycles: 1 },
    },
  ]);
  expect(await world.shownContact()).toMatchObject({ state: "broken", reason: message });
  expect(await world.health()).toBe("broken");

  await world.sql("ALTER TABLE salesforce.contact ENABLE TRIGGER USER");
  await world.sql("UPDATE salesforce.contact SET lastname = 'Murray' WHERE lastname = 'Hopper'");
  await world.cycles();

  expect(await world.eventNames()).toEqual(["sync.recovered"]);
  expect(await world.health()).toBe("running");
  expect(await world.soql("SELECT Id FROM Contact WHERE LastName = 'Murray'")).toHaveLength(1);
});

longTest(
  "a table that was given to a role whose rights ours does not have is reported with the GRANT, and stays as it is",
  async () => {
    const us = new URL(world.databaseUrl).username;
    await world.asSuperuser(`CREATE ROLE other_${us}; GRANT ALL ON SCHEMA salesforce TO other_${us};
    ALTER TABLE salesforce.contact OWNER TO other_${us}; GRANT ALL ON salesforce.contact TO ${us}`);
    await world.create("Lovelace");

    await world.cycles();
    expect(await world.names()).toEqual(["Curie", "Hopper"]);
    expect(await world.shownContact()).toMatchObject({
      state: "broken",
      reason: expect.stringContaining(
        `GRANT "other_${us}" TO "${us}"; then bridge mapping capture Contact --salesforce`,
      ),
    });
    await world.asSuperuser(`GRANT other_${us} TO ${us}`);
    await world.cycles();

    expect(await world.shownContact()).toMatchObject({ state: "running", reason: null });
    await world.asSuperuser(
      `ALTER TABLE salesforce.contact OWNER TO ${us}; DROP OWNED BY other_${us}; DROP ROLE other_${us}`,
    );
  },
);

describe("after a table was swapped in by name", () => {
  const plan = (uncaptured: string) => ({ mapping_id: world.contact.id, uncaptured, rows: 3 });
  const everythingIsCaptured = async () => {
    expect(await world.shownContact()).toMatchObject({ state: "running", reason: null });
    await world.sql("UPDATE salesforce.contact SET email = 'new@example.com' WHERE sfid IS NOT NULL");
    await world.sql("DELETE FROM salesforce.contact WHERE lastname IN ('Lovelace', 'Noether')");
    await world.sql("DELETE FROM salesforce.contact_old");
    await world.cycles();

    const emails = (await people()).map(([, email]) => email);
    expect([new Set(emails), emails.length]).toEqual([new Set(["new@example.com"]), 2]);
  };

  test("a reload lets Salesforce's values win, and from then on everything is captured", async () => {
    await world.sql(SWAP);
    await bothSidesGoOn();
    await world.cycles();
    await world.pass(3600);
    const before = await everything();

    expect(await capture("salesforce", { dry_run: "true" })).toEqual({
      ...plan("salesforce"),
      calls: 2,
      queued: false,
    });
    expect(await capture("salesforce")).toEqual({ ...plan("salesforce"), calls: 2, queued: true });
    await world.work(world.contact, "load");
    expect(await everything()).toEqual(before);
    await world.carryOut();
    await world.cycles();

    const { rows, records } = await world.bothSides();
    expect(records).toMatchObject([
      { LastName: "Curie", Email: "curie@example.com" },
      { LastName: "Hopper", Email: "grace@example.com" },
      { LastName: "Lovelace", Email: null },
    ]);
    expect(rows.filter(({ Id }) => Id !== null)).toEqual(records);
    expect(rows.filter(({ Id }) => Id === null)).toMatchObject([{ LastName: "Noether" }]);
    await everythingIsCaptured();
  });

  test("the rows win where the operator says so, no cycle begins meanwhile, and what Salesforce changed goes by the conflict policy", async () => {
    await world.settle();
    await world.sql(SWAP);
    await world.pass(3600);
    await bothSidesGoOn();
    await world.sql("UPDATE salesforce.contact SET email = 'admiral@example.com' WHERE lastname = 'Hopper'");
    await world.cycles();

    expect(await capture("mine", { dry_run: "true" })).toEqual({ ...plan("mine"), calls: 1, queued: false });
    expect(await world.changes()).toEqual([]);
    expect(await capture("mine")).toEqual({ ...plan("mine"), calls: 1, queued: true });
    await world.sql("UPDATE salesforce.contact SET lastname = 'Murray Hopper' WHERE lastname = 'Hopper'");
    const before = await everything();
    await world.cycles();
    await world.sweep();
    expect(await everything()).toEqual(before);
    await world.carryOut();
    await world.cycles(2);

    expect(await people()).toEqual([
      ["Curie", "curie@example.com"],
      ["Lovelace", null],
      ["Murray Hopper", "admiral@example.com"],
      ["Noether", "emmy@example.com"],
    ]);
    expect(
      (await world.conflicts()).toSorted((one, other) => (String(one["field"]) < String(other["field"]) ? -1 : 1)),
    ).toEqual([
      { field: "email", postgres: "marie@example.com", salesforce: "curie@example.com", winner: "salesforce" },
      { field: "lastname", postgres: "Sklodowska", salesforce: "Curie", winner: "salesforce" },
    ]);
    expect(await world.eventNames()).toEqual(["sync.broken", "sync.recovered", "record.failed"]);
    await everythingIsCaptured();
  });
});
