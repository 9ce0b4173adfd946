import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { handler as captureMapping } from "../../../functions/api/capture-mapping.ts";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { handler as readMapping } from "../../../functions/api/read-mapping.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type ApiClient, apiClient } from "../../support/clients/api-client.ts";
import { dataOf } from "../../support/clients/data-of.ts";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import { carryOut } from "../../support/worlds/carry-out.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
let api: ApiClient;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  await world.createRecords("Contact", [
    { LastName: "Curie", Email: "marie@example.com" },
    { LastName: "Hopper", Email: "grace@example.com" },
  ]);
  contact = await mapped(world, { object: "Contact", fields: ["Email", "LastName"] });
  api = await apiClient(world.workspaceId);
  await newEvents();
});

const newEvents = async () => {
  const events = (await cloud.take("events")) as { workspace_id: string; event_id: string }[];
  const mine = events.filter(({ workspace_id }) => workspace_id === world.workspaceId);
  return world.events(mine.map(({ event_id }) => event_id));
};
const rows = () => world.sql("SELECT * FROM salesforce.contact ORDER BY id");
const log = () => world.sql("SELECT action, state FROM salesforce._trigger_log ORDER BY id");
const records = () => world.soql("SELECT Id, LastName, Email FROM Contact ORDER BY LastName");
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
/** Both sides by their shared columns, in the same order and words. */
const bothSides = async () => ({
  rows: await world.sql("SELECT sfid, lastname, email FROM salesforce.contact ORDER BY lastname"),
  records: (await records()).map(({ Id, LastName, Email }) => ({ sfid: Id, lastname: LastName, email: Email })),
});
const health = async () => dataOf<{ sync: { status: string } }>(await api.ask(readHealth, "read-health")).sync.status;

/** The ways in which capture goes off, each as the role that owns its schema. */
const DISABLE = "ALTER TABLE salesforce.contact DISABLE TRIGGER _bridge_update";
const DISABLE_USER = "ALTER TABLE salesforce.contact DISABLE TRIGGER USER";
const DROP = "DROP TRIGGER _bridge_insert ON salesforce.contact";
const SWAP = `
  CREATE TABLE salesforce.contact_new (LIKE salesforce.contact INCLUDING ALL);
  INSERT INTO salesforce.contact_new SELECT * FROM salesforce.contact;
  ALTER TABLE salesforce.contact RENAME TO contact_old;
  ALTER TABLE salesforce.contact_new RENAME TO contact`;
const RESTORE = `
  CREATE TEMPORARY TABLE dumped AS SELECT * FROM salesforce.contact;
  ALTER TABLE salesforce.contact DISABLE TRIGGER ALL;
  DELETE FROM salesforce.contact;
  INSERT INTO salesforce.contact SELECT * FROM dumped`;

/** Both sides continue while capture is off: what the application writes is in no log. */
async function bothSidesGoOn(): Promise<void> {
  await world.sql("UPDATE salesforce.contact SET lastname = 'Sklodowska', _ab_lastop = NULL WHERE lastname = 'Curie'");
  await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Noether', 'emmy@example.com')");
  const [curie] = await world.soql("SELECT Id FROM Contact WHERE LastName = 'Curie'");
  await world.rest("PATCH", `/sobjects/Contact/${curie?.["Id"]}`, { Email: "curie@example.com" });
  await world.rest("POST", "/sobjects/Contact", { LastName: "Lovelace" });
}

const WAYS_OFF = [
  ["the table is rebuilt and swapped in by name", SWAP, "_bridge_delete"],
  ["a trigger is disabled", DISABLE, "_bridge_update"],
  ["all triggers of the table are disabled", DISABLE_USER, "zz_bridge_insert"],
  ["a trigger is dropped", DROP, "_bridge_insert"],
  ["a data-only restore leaves the triggers disabled", RESTORE, "_bridge_truncate"],
] as const;

describe.each(firstInGate(1, WAYS_OFF))("while %s", (_, how, trigger) => {
  test("no cycle, sweep or load reverts uncaptured writes, and the mapping says what to do", async () => {
    await world.sql(how);
    await bothSidesGoOn();
    const before = { rows: await rows(), records: await records(), log: await log() };

    await world.pass(60);
    for (let i = 0; i < 4; i++) await world.cycle(contact);
    for (const kind of ["sweep", "load", "backfill"] as const) await world.work(contact, kind);

    expect({ rows: await rows(), records: await records(), log: await log() }).toEqual(before);
    const message = expect.stringMatching(
      new RegExp(
        `salesforce\\.contact are not captured.*${trigger}.*run bridge mapping capture Contact --salesforce .* bridge mapping capture Contact --mine`,
      ),
    );
    expect(await newEvents()).toMatchObject([
      { event: "sync.broken", detail: { mapping_id: contact.id, reason: "capture_off", message, failed_cycles: 1 } },
    ]);
    expect(await shown()).toMatchObject({ state: "broken", reason: message });
    expect(await health()).toBe("broken");
  });
});

test("a mapping continues automatically once its triggers are enabled again, with what was captured since", async () => {
  await world.sql(DISABLE_USER);
  await world.cycle(contact);
  await world.sql("ALTER TABLE salesforce.contact ENABLE TRIGGER USER");
  await world.sql("UPDATE salesforce.contact SET lastname = 'Murray' WHERE lastname = 'Hopper'");

  await world.cycle(contact);

  expect((await newEvents()).map(({ event }) => event)).toEqual(["sync.broken", "sync.recovered"]);
  expect(await health()).toBe("running");
  expect(await records()).toMatchObject([{ LastName: "Curie" }, { LastName: "Murray" }]);
});

longTest("a mapping that only reads from Salesforce asks for no triggers", async () => {
  const account = (
    await world.map({ object: "Account", fields: ["Name"], bridge: { sync_direction: "sf_to_pg" } })
  ).find(({ sfObject }) => sfObject === "Account");
  await world.rest("POST", "/sobjects/Account", { Name: "Acme" });

  await world.cycle(account as Mapping);

  expect(await world.sql("SELECT name FROM salesforce.account")).toEqual([{ name: "Acme" }]);
});

test("a table that was given to a role whose rights ours does not have is reported with the GRANT, and stays as it is", async () => {
  const superuser = new Client({ connectionString: world.superuserUrl });
  await superuser.connect();
  const us = new URL(world.databaseUrl).username;
  await superuser.query(`CREATE ROLE other_${us}; GRANT ALL ON SCHEMA salesforce TO other_${us};
    ALTER TABLE salesforce.contact OWNER TO other_${us}; GRANT ALL ON salesforce.contact TO ${us}`);
  await world.rest("POST", "/sobjects/Contact", { LastName: "Lovelace" });

  await world.cycle(contact);
  const [off, names] = [await shown(), await world.sql("SELECT lastname FROM salesforce.contact ORDER BY 1")];
  await superuser.query(`GRANT other_${us} TO ${us}`);
  await world.cycle(contact);

  expect(off).toMatchObject({
    state: "broken",
    reason: expect.stringContaining(`GRANT "other_${us}" TO "${us}"; then bridge mapping capture Contact --salesforce`),
  });
  expect(names).toEqual([{ lastname: "Curie" }, { lastname: "Hopper" }]);
  expect(await shown()).toMatchObject({ state: "running", reason: null });
  await superuser.query(
    `ALTER TABLE salesforce.contact OWNER TO ${us}; DROP OWNED BY other_${us}; DROP ROLE other_${us}`,
  );
  await superuser.end();
});

const WAYS_BACK = [
  ["a table that was swapped in by name", SWAP],
  ["a disabled trigger", DISABLE_USER],
] as const;

describe.each(firstInGate(1, WAYS_BACK))("after %s", (_, how) => {
  test("a reload lets Salesforce's values win, and from then on everything is captured", async () => {
    await world.sql(how);
    await bothSidesGoOn();
    await world.cycle(contact);
    await world.pass(3600);
    const before = await rows();

    expect(await capture("salesforce", { dry_run: "true" })).toEqual({ ...plan(), calls: 2, queued: false });
    expect(await capture("salesforce")).toEqual({ ...plan(), calls: 2, queued: true });
    await world.work(contact, "load");
    expect(await rows()).toEqual(before);
    await carryOut(cloud, world.services);
    await world.cycle(contact);

    const sides = await bothSides();
    expect(sides.records.map(({ lastname, email }) => [lastname, email])).toEqual([
      ["Curie", "curie@example.com"],
      ["Hopper", "grace@example.com"],
      ["Lovelace", null],
    ]);
    expect(sides.rows.filter(({ sfid }) => sfid !== null)).toEqual(sides.records);
    expect(sides.rows.filter(({ sfid }) => sfid === null)).toMatchObject([{ lastname: "Noether" }]);
    expect(await shown()).toMatchObject({ state: "running", reason: null });
    await everythingIsCaptured();
  });

  test("the rows win where the operator says so, and what Salesforce changed goes by the conflict policy", async () => {
    await readOnceMore();
    await world.sql(how);
    await world.pass(3600);
    await bothSidesGoOn();
    await world.sql("UPDATE salesforce.contact SET email = 'admiral@example.com' WHERE lastname = 'Hopper'");
    await world.cycle(contact);

    expect(await capture("mine", { dry_run: "true" })).toEqual({ ...plan("mine"), calls: 1, queued: false });
    expect(await log()).toEqual([]);
    expect(await capture("mine")).toEqual({ ...plan("mine"), calls: 1, queued: true });
    await world.sql("UPDATE salesforce.contact SET lastname = 'Murray Hopper' WHERE lastname = 'Hopper'");
    await world.cycle(contact);
    expect(await records()).toMatchObject([{ LastName: "Curie" }, { LastName: "Hopper" }, { LastName: "Lovelace" }]);
    await carryOut(cloud, world.services);
    for (let i = 0; i < 2; i++) await world.cycle(contact);

    const sides = await bothSides();
    expect(sides.rows).toEqual(sides.records);
    expect(sides.rows.map(({ lastname, email }) => [lastname, email])).toEqual([
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
    expect(await shown()).toMatchObject({ state: "running", reason: null });
    await everythingIsCaptured();
  });
});

test.each(firstInGate(1, ["salesforce", "mine"] as const))(
  "a row whose insert was captured and still waits is sent as it was written since, whose values ever win (%s)",
  async (uncaptured) => {
    await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Noether', 'emmy@example.com')");
    await world.sql("UPDATE salesforce.contact SET email = 'noether@example.com' WHERE lastname = 'Noether'");
    await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Lovelace', 'ada@example.com')");
    await world.sql(DISABLE_USER);
    await world.sql("UPDATE salesforce.contact SET lastname = 'Noether, E.', email = NULL WHERE lastname = 'Noether'");
    await world.cycle(contact);

    await capture(uncaptured);
    await carryOut(cloud, world.services);
    const waiting = await world.sql(
      "SELECT old, values FROM salesforce._trigger_log WHERE sfid IS NULL AND action = 'UPDATE' ORDER BY id",
    );
    await world.cycle(contact);

    expect(waiting).toEqual([
      { old: { email: "emmy@example.com" }, values: { email: "noether@example.com" } },
      {
        old: { lastname: "Noether", email: "noether@example.com" },
        values: { lastname: "Noether, E.", email: null },
      },
    ]);
    const sides = await bothSides();
    expect(sides.rows).toEqual(sides.records);
    expect(sides.rows.map(({ lastname, email }) => [lastname, email])).toEqual([
      ["Curie", "marie@example.com"],
      ["Hopper", "grace@example.com"],
      ["Lovelace", "ada@example.com"],
      ["Noether, E.", null],
    ]);
  },
);

const plan = (uncaptured = "salesforce") => ({ mapping_id: contact.id, uncaptured, rows: 3 });

async function everythingIsCaptured(): Promise<void> {
  await world.sql("UPDATE salesforce.contact SET email = 'new@example.com' WHERE sfid IS NOT NULL");
  await world.sql("DELETE FROM salesforce.contact WHERE lastname = 'Lovelace'");
  await world.sql("DELETE FROM salesforce.contact_old").catch(() => undefined);
  await world.cycle(contact);

  const { rows: left, records: there } = await bothSides();
  expect(left.filter(({ sfid }) => sfid !== null)).toEqual(there);
  expect(there.map(({ email }) => email)).toEqual(there.map(() => "new@example.com"));
  expect(there.length).toBeGreaterThan(1);
}

longTest(
  "no cycle begins while the rows of a mapping are being captured, and it is not reported as broken",
  async () => {
    await capture("mine");
    await world.rest("POST", "/sobjects/Contact", { LastName: "Lovelace" });

    await world.cycle(contact, "beat");
    await world.work(contact, "sweep");
    const during = await world.sql("SELECT lastname FROM salesforce.contact ORDER BY 1");
    await carryOut(cloud, world.services);
    await world.cycle(contact);

    expect(during).toEqual([{ lastname: "Curie" }, { lastname: "Hopper" }]);
    expect(await bothSides()).toMatchObject({ rows: [{}, {}, {}], records: [{}, {}, {}] });
    expect(await newEvents()).toEqual([]);
  },
);

describe("what Salesforce changed while capture was off is not overwritten by rows that are all sent", () => {
  const captureAll = async () => {
    await world.sql(SWAP);
    await capture("mine");
    await carryOut(cloud, world.services);
  };
  const idOf = async (name: string) =>
    (await world.soql(`SELECT Id FROM Contact WHERE LastName = '${name}'`))[0]?.["Id"];
  const emails = async () => (await records()).map(({ Email }) => Email);

  longTest("by a beat after which no pull is due yet", async () => {
    await world.cycle(contact, "pull");
    await world.rest("PATCH", `/sobjects/Contact/${await idOf("Curie")}`, { Email: "curie@example.com" });
    await captureAll();

    await world.beat([contact]);

    expect(await log()).toMatchObject([{ state: "SUCCESS" }, { state: "SUCCESS" }]);
    expect(await emails()).toEqual(["curie@example.com", "grace@example.com"]);
    expect((await bothSides()).rows).toEqual((await bothSides()).records);
  });

  longTest("although it was saved twice in one second, and pulled in between", async () => {
    const save = (email: string) => world.rest("PATCH", `/sobjects/Contact/${curie}`, { Email: email });
    const curie = await idOf("Curie");
    await world.pass(10);
    await save("first@example.com");
    await world.beat([contact]);
    await save("second@example.com");
    expect((await bothSides()).rows[0]).toMatchObject({ email: "first@example.com" });
    await captureAll();

    await world.cycle(contact);

    expect(await emails()).toEqual(["second@example.com", "grace@example.com"]);
    expect((await bothSides()).rows).toEqual((await bothSides()).records);
  });

  longTest("although a push runs before the pull has read all pages", async () => {
    const people = Array.from({ length: 70 }, (_, at) => ({ LastName: `Hopper ${100 + at}` }));
    await world.createRecords("Contact", people);
    await world.cycle(contact);
    const found = await world.soql("SELECT Id FROM Contact WHERE LastName LIKE 'Hopper 1%'");
    await world.rest("PATCH", "/composite/sobjects", {
      records: found.map(({ Id }) => ({ attributes: { type: "Contact" }, Id, Email: "theirs@example.com" })),
    });
    await captureAll();
    const size = { rows: 6, fields: 0, since: cloud.clock.now() };
    await world.sql("UPDATE salesforce._bridge_state SET lanes = $1", [JSON.stringify({ size })]);
    let reads = 0;
    world.interfere(async (call) => {
      if (call !== "org.query") return;
      reads += 1;
      await cloud.clock.advance({ seconds: 25 });
    });

    await world.cycle(contact);
    world.interfere(null);
    for (let i = 0; i < 3; i++) await world.cycle(contact);

    expect(reads).toBeGreaterThan(3);
    const theirs = await world.soql("SELECT Id FROM Contact WHERE Email = 'theirs@example.com'");
    expect(theirs.length).toBe(70);
    expect((await bothSides()).rows).toEqual((await bothSides()).records);
  });

  longTest("although it was committed after later changes had been read", async () => {
    await world.pass(3600);
    await world.cycle(contact);
    const curie = await idOf("Curie");
    await world.fault({ kind: "heldCommit", object: "Contact", milliseconds: 130_000, times: 1 });
    const saving = world.rest("PATCH", `/sobjects/Contact/${curie}`, { Email: "curie@example.com" });
    await world.heldUp();
    await world.pass(125);
    await world.cycle(contact);
    await world.pass(10);
    await saving;
    await captureAll();

    await world.cycle(contact);

    expect(await emails()).toEqual(["curie@example.com", "grace@example.com"]);
    expect((await bothSides()).rows).toEqual((await bothSides()).records);
  });
});

longTest("rows that no worker captures are reported, and the same command again ends it", async () => {
  await readOnceMore();
  await world.sql(SWAP);
  await world.sql("UPDATE salesforce.contact SET lastname = 'Sklodowska' WHERE lastname = 'Curie'");
  await capture("mine");
  await cloud.take("provisioning");
  await world.sql(
    "UPDATE salesforce._bridge_state SET lease_until = now(); UPDATE salesforce._bridge_loads SET lease_until = now()",
  );

  await world.cycle(contact);
  const lost = await shown();
  await capture("mine");
  await carryOut(cloud, world.services);
  await world.cycle(contact);

  expect(lost).toMatchObject({
    state: "broken",
    reason: expect.stringContaining("run again: bridge mapping capture Contact --mine"),
  });
  expect((await newEvents()).map(({ event }) => event)).toEqual(["sync.broken", "sync.recovered"]);
  expect((await bothSides()).records).toMatchObject([{ lastname: "Hopper" }, { lastname: "Sklodowska" }]);
});
