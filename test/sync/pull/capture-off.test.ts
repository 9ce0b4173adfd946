import { describe, expect, test } from "vitest";
import { handler as captureMapping } from "../../../functions/api/capture-mapping.ts";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { handler as readMapping } from "../../../functions/api/read-mapping.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type ApiClient, apiClient } from "../../support/clients/api-client.ts";
import { dataOf } from "../../support/clients/data-of.ts";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import { carryOut } from "../../support/worlds/carry-out.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { bothSides, idOf, newEvents, numbered } from "../world.ts";

let world: SyncWorld;
let contact: Mapping;
let api: ApiClient;
aWorldForEachTest(async (made) => {
  world = made.world;
  await world.createRecords("Contact", [
    { LastName: "Curie", Email: "marie@example.com" },
    { LastName: "Hopper", Email: "grace@example.com" },
  ]);
  contact = await mapped(world, { object: "Contact", fields: ["Email", "LastName"] });
  api = await apiClient(world.workspaceId);
  await newEvents(world);
});

const eventNames = async () => (await newEvents(world)).map(({ event }) => event);
const log = () => world.sql("SELECT action, state FROM salesforce._trigger_log ORDER BY id");
const everything = async () => ({
  rows: await world.sql("SELECT * FROM salesforce.contact ORDER BY id"),
  records: (await bothSides(world)).records,
  log: await log(),
});
const people = (side: readonly Readonly<Record<string, unknown>>[]) =>
  side.map((one) => [one["LastName"], one["Email"]]);
const shown = async () =>
  dataOf<{ state: string; reason: string | null }>(
    await api.ask(readMapping, "read-mapping", { path: { mapping_id: contact.id } }),
  );
/** What `bridge mapping capture` asks for; the worker that carries it out comes later. */
const capture = async (uncaptured: "salesforce" | "mine", query = {}) =>
  dataOf<{ rows: number; calls: number; queued: boolean }>(
    await api.ask(captureMapping, "capture-mapping", { path: { mapping_id: contact.id }, query, body: { uncaptured } }),
  );
/** A record that was read within a minute of its stamp may have been saved again in the same second. */
const readOnceMore = async () => {
  await world.pass(120);
  await world.cycle(contact, "pull");
};
const health = async () => dataOf<{ sync: { status: string } }>(await api.ask(readHealth, "read-health")).sync.status;

const DISABLE_USER = "ALTER TABLE salesforce.contact DISABLE TRIGGER USER";
const SWAP = `
  CREATE TABLE salesforce.contact_new (LIKE salesforce.contact INCLUDING ALL);
  INSERT INTO salesforce.contact_new SELECT * FROM salesforce.contact;
  ALTER TABLE salesforce.contact RENAME TO contact_old;
  ALTER TABLE salesforce.contact_new RENAME TO contact`;

/** Both sides continue while capture is off: what the application writes is in no log. */
async function bothSidesGoOn(): Promise<void> {
  await world.sql("UPDATE salesforce.contact SET lastname = 'Sklodowska', _ab_lastop = NULL WHERE lastname = 'Curie'");
  await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Noether', 'emmy@example.com')");
  await world.rest("PATCH", `/sobjects/Contact/${await idOf(world, "Curie")}`, { Email: "curie@example.com" });
  await world.rest("POST", "/sobjects/Contact", { LastName: "Lovelace" });
}

test("while triggers are off no cycle, sweep or load reverts uncaptured writes, and the mapping says what to do until they are on again", async () => {
  await world.sql(DISABLE_USER);
  await bothSidesGoOn();
  const before = await everything();

  await world.pass(60);
  for (let i = 0; i < 4; i++) await world.cycle(contact);
  for (const kind of ["sweep", "load", "backfill"] as const) await world.work(contact, kind);

  expect(await everything()).toEqual(before);
  const message = expect.stringMatching(
    /salesforce\.contact are not captured.*zz_bridge_insert.*run bridge mapping capture Contact --salesforce .* bridge mapping capture Contact --mine/,
  );
  expect(await newEvents(world)).toMatchObject([
    { event: "sync.broken", detail: { mapping_id: contact.id, reason: "capture_off", message, failed_cycles: 1 } },
  ]);
  expect(await shown()).toMatchObject({ state: "broken", reason: message });
  expect(await health()).toBe("broken");

  await world.sql("ALTER TABLE salesforce.contact ENABLE TRIGGER USER");
  await world.sql("UPDATE salesforce.contact SET lastname = 'Murray' WHERE lastname = 'Hopper'");
  await world.cycle(contact);

  expect(await eventNames()).toEqual(["sync.recovered"]);
  expect(await health()).toBe("running");
  expect(await world.soql("SELECT Id FROM Contact WHERE LastName = 'Murray'")).toHaveLength(1);
});

test("a table that was given to a role whose rights ours does not have is reported with the GRANT, and stays as it is", async () => {
  const us = new URL(world.databaseUrl).username;
  await world.asSuperuser(`CREATE ROLE other_${us}; GRANT ALL ON SCHEMA salesforce TO other_${us};
    ALTER TABLE salesforce.contact OWNER TO other_${us}; GRANT ALL ON salesforce.contact TO ${us}`);
  await world.rest("POST", "/sobjects/Contact", { LastName: "Lovelace" });

  await world.cycle(contact);
  const [off, { rows }] = [await shown(), await bothSides(world)];
  await world.asSuperuser(`GRANT other_${us} TO ${us}`);
  await world.cycle(contact);

  expect(off).toMatchObject({
    state: "broken",
    reason: expect.stringContaining(`GRANT "other_${us}" TO "${us}"; then bridge mapping capture Contact --salesforce`),
  });
  expect(rows).toMatchObject([{ LastName: "Curie" }, { LastName: "Hopper" }]);
  expect(await shown()).toMatchObject({ state: "running", reason: null });
  await world.asSuperuser(
    `ALTER TABLE salesforce.contact OWNER TO ${us}; DROP OWNED BY other_${us}; DROP ROLE other_${us}`,
  );
});

const plan = (uncaptured = "salesforce") => ({ mapping_id: contact.id, uncaptured, rows: 3 });

async function everythingIsCaptured(): Promise<void> {
  expect(await shown()).toMatchObject({ state: "running", reason: null });
  await world.sql("UPDATE salesforce.contact SET email = 'new@example.com' WHERE sfid IS NOT NULL");
  await world.sql("DELETE FROM salesforce.contact WHERE lastname = 'Lovelace'");
  await world.sql("DELETE FROM salesforce.contact_old");
  await world.cycle(contact);

  const { rows, records } = await bothSides(world);
  expect(rows.filter(({ Id }) => Id !== null)).toEqual(records);
  expect(records.map(({ Email }) => Email)).toEqual(records.map(() => "new@example.com"));
  expect(records.length).toBeGreaterThan(1);
}

describe("after a table was swapped in by name", () => {
  test("a reload lets Salesforce's values win, and from then on everything is captured", async () => {
    await world.sql(SWAP);
    await bothSidesGoOn();
    await world.cycle(contact);
    await world.pass(3600);
    const before = await everything();

    expect(await capture("salesforce", { dry_run: "true" })).toEqual({ ...plan(), calls: 2, queued: false });
    expect(await capture("salesforce")).toEqual({ ...plan(), calls: 2, queued: true });
    await world.work(contact, "load");
    expect(await everything()).toEqual(before);
    await carryOut(world.cloud, world.services);
    await world.cycle(contact);

    const { rows, records } = await bothSides(world);
    expect(people(records)).toEqual([
      ["Curie", "curie@example.com"],
      ["Hopper", "grace@example.com"],
      ["Lovelace", null],
    ]);
    expect(rows.filter(({ Id }) => Id !== null)).toEqual(records);
    expect(rows.filter(({ Id }) => Id === null)).toMatchObject([{ LastName: "Noether" }]);
    await everythingIsCaptured();
  });

  test("the rows win where the operator says so, no cycle begins meanwhile, and what Salesforce changed goes by the conflict policy", async () => {
    await readOnceMore();
    await world.sql(SWAP);
    await world.pass(3600);
    await bothSidesGoOn();
    await world.sql("UPDATE salesforce.contact SET email = 'admiral@example.com' WHERE lastname = 'Hopper'");
    await world.cycle(contact);

    expect(await capture("mine", { dry_run: "true" })).toEqual({ ...plan("mine"), calls: 1, queued: false });
    expect(await log()).toEqual([]);
    expect(await capture("mine")).toEqual({ ...plan("mine"), calls: 1, queued: true });
    await world.sql("UPDATE salesforce.contact SET lastname = 'Murray Hopper' WHERE lastname = 'Hopper'");
    const before = await everything();
    await world.cycle(contact);
    await world.work(contact, "sweep");
    expect(await everything()).toEqual(before);
    await carryOut(world.cloud, world.services);
    for (let i = 0; i < 2; i++) await world.cycle(contact);

    const { rows, records } = await bothSides(world);
    expect(rows).toEqual(records);
    expect(people(rows)).toEqual([
      ["Curie", "curie@example.com"],
      ["Lovelace", null],
      ["Murray Hopper", "admiral@example.com"],
      ["Noether", "emmy@example.com"],
    ]);
    expect(
      await world.sql("SELECT field, postgres, salesforce, winner FROM salesforce._bridge_conflicts ORDER BY 1"),
    ).toEqual([
      { field: "email", postgres: "marie@example.com", salesforce: "curie@example.com", winner: "salesforce" },
      { field: "lastname", postgres: "Sklodowska", salesforce: "Curie", winner: "salesforce" },
    ]);
    expect(await eventNames()).toEqual(["sync.broken", "sync.recovered", "record.failed"]);
    await everythingIsCaptured();
  });
});

test.each(firstInGate(1, ["salesforce", "mine"] as const))(
  "a row whose insert was captured and still waits is sent as it was written since, whose values ever win (%s)",
  async (uncaptured) => {
    await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Noether', 'emmy@example.com')");
    await world.sql("UPDATE salesforce.contact SET email = 'noether@example.com' WHERE lastname = 'Noether'");
    await world.sql(DISABLE_USER);
    await world.sql("UPDATE salesforce.contact SET lastname = 'Noether, E.', email = NULL WHERE lastname = 'Noether'");
    await world.cycle(contact);

    await capture(uncaptured);
    await carryOut(world.cloud, world.services);
    const waiting = await world.sql(
      "SELECT old, values FROM salesforce._trigger_log WHERE sfid IS NULL AND action = 'UPDATE' ORDER BY id",
    );
    await world.cycle(contact);

    expect(waiting).toEqual([
      { old: { email: "emmy@example.com" }, values: { email: "noether@example.com" } },
      { old: { lastname: "Noether", email: "noether@example.com" }, values: { lastname: "Noether, E.", email: null } },
    ]);
    const { rows, records } = await bothSides(world);
    expect(rows).toEqual(records);
    expect(people(rows)).toEqual([
      ["Curie", "marie@example.com"],
      ["Hopper", "grace@example.com"],
      ["Noether, E.", null],
    ]);
  },
);

describe("what Salesforce changed while capture was off is not overwritten by rows that are all sent", () => {
  const captureAll = async () => {
    await world.sql(SWAP);
    await capture("mine");
    await carryOut(world.cloud, world.services);
  };
  const save = async (Email: string, name = "Curie") =>
    world.rest("PATCH", `/sobjects/Contact/${await idOf(world, name)}`, { Email });

  /** What Salesforce changes before the rows are captured, and the first cycle after that. */
  const WHEN: readonly (readonly [string, change: () => Promise<unknown>, send?: () => Promise<unknown>])[] = [
    [
      "by a beat after which no pull is due yet",
      async () => {
        await world.cycle(contact, "pull");
        await save("theirs@example.com");
      },
      () => world.beat([contact]),
    ],
    [
      "although it was saved twice in one second, and pulled in between",
      async () => {
        await world.pass(10);
        await save("first@example.com");
        await world.beat([contact]);
        await save("theirs@example.com");
        expect((await bothSides(world)).rows[0]).toMatchObject({ Email: "first@example.com" });
      },
    ],
    [
      "although it was committed after later changes had been read",
      async () => {
        await world.pass(3600);
        await world.cycle(contact);
        await world.fault({ kind: "heldCommit", object: "Contact", milliseconds: 130_000, times: 1 });
        const saving = save("theirs@example.com");
        await world.heldUp();
        await world.pass(125);
        await world.cycle(contact);
        await world.pass(10);
        await saving;
      },
    ],
  ];

  longTest.each(WHEN)("%s", async (_, change, send = () => world.cycle(contact)) => {
    await change();
    await captureAll();

    await send();

    const { rows, records } = await bothSides(world);
    expect(rows).toEqual(records);
    expect(records.map(({ Email }) => Email)).toEqual(["theirs@example.com", "grace@example.com"]);
    expect(await log()).toMatchObject([{ state: "SUCCESS" }, { state: "SUCCESS" }]);
  });

  longTest("although a push runs before the pull has read all pages", async () => {
    await world.createRecords("Contact", numbered(70, "Hopper 1"));
    await world.cycle(contact);
    const found = await world.soql("SELECT Id FROM Contact WHERE LastName LIKE 'Hopper 1%'");
    await world.rest("PATCH", "/composite/sobjects", {
      records: found.map(({ Id }) => ({ attributes: { type: "Contact" }, Id, Email: "theirs@example.com" })),
    });
    await captureAll();
    const size = { rows: 6, fields: 0, since: world.cloud.clock.now() };
    await world.sql("UPDATE salesforce._bridge_state SET lanes = $1", [JSON.stringify({ size })]);
    let reads = 0;
    world.interfere(async (call) => {
      if (call !== "org.query") return;
      reads += 1;
      await world.pass(25);
    });

    await world.cycle(contact);
    world.interfere(null);
    for (let i = 0; i < 3; i++) await world.cycle(contact);

    expect(reads).toBeGreaterThan(3);
    expect(await world.soql("SELECT Id FROM Contact WHERE Email = 'theirs@example.com'")).toHaveLength(70);
    expect((await bothSides(world)).rows).toEqual((await bothSides(world)).records);
  });
});

longTest("rows that no worker captures are reported, and the same command again ends it", async () => {
  await readOnceMore();
  await world.sql(SWAP);
  await world.sql("UPDATE salesforce.contact SET lastname = 'Sklodowska' WHERE lastname = 'Curie'");
  await capture("mine");
  await world.cloud.take("provisioning");
  await world.sql(
    "UPDATE salesforce._bridge_state SET lease_until = now(); UPDATE salesforce._bridge_loads SET lease_until = now()",
  );

  await world.cycle(contact);
  const lost = await shown();
  await capture("mine");
  await carryOut(world.cloud, world.services);
  await world.cycle(contact);

  expect(lost).toMatchObject({
    state: "broken",
    reason: expect.stringContaining("run again: bridge mapping capture Contact --mine"),
  });
  expect(await eventNames()).toEqual(["sync.broken", "sync.recovered"]);
  expect((await bothSides(world)).records).toMatchObject([{ LastName: "Hopper" }, { LastName: "Sklodowska" }]);
});
