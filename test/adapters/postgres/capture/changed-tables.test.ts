import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { beforeEach, expect, test } from "vitest";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import { image, page, sfidOf } from "../customer.ts";
import { END } from "../cycles.ts";
import { aCustomerForEachTest, customer, dailyCheck, log, sql } from "../world.ts";

const COLUMNS = [
  column("Amount__c", { type: "currency", precision: 18, scale: 2 }),
  column("At__c", { type: "datetime" }),
  column("Email", { type: "email" }),
  column("LastName", { nillable: false }),
];

/** The application's session from before: its plans are created, and it does not know of the change. */
let writer: Client;
aCustomerForEachTest({ shape: contactShape({ columns: COLUMNS }) });
beforeEach(async () => {
  await sql("ALTER TABLE salesforce.contact ADD COLUMN note text");
  writer = await customer.connect();
  await writeThrough();
  await taken();
});

/** The log, which is empty then. */
const taken = async () => {
  const changes = await log('action, record_id::int AS id, old, "values"');
  await sql("DELETE FROM salesforce._trigger_log");
  return changes;
};
const captureOff = async () => {
  const { begun, store, lease } = await customer.cycle();
  await store.finish(lease, END);
  return begun.captureOff;
};

/** One statement of each kind, of a session that has made its plans, and of one that has not. */
async function writeThrough(table = "salesforce.contact", key = "id"): Promise<void> {
  for (const session of [writer, await customer.connect()]) {
    await session.query(
      `INSERT INTO ${table} (${key}, email, note) VALUES (71, 'a@example.com', 'n'), (72, NULL, 'n')`,
    );
    await session.query(`UPDATE ${table} SET email = 'b@example.com' WHERE note = 'n'`);
    await session.query(`UPDATE ${table} SET ${key} = ${key} + 10 WHERE ${key} = 71`);
    await session.query(`DELETE FROM ${table} WHERE note = 'n'`);
  }
}

/** Rows as lines, in an order that does not depend on that of their keys. */
const sorted = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row, KEYS)).toSorted();
const KEYS = ["action", "id", "old", "values", "phone", ...COLUMNS.map((one) => one.column)];

/** What `writeThrough` writes now is in the log with all of its columns. */
async function expectCaptured(more: readonly string[] = ["lastname"], table?: string, key?: string): Promise<void> {
  await taken();
  await writeThrough(table, key);
  const rest = Object.fromEntries(["amount__c", "at__c", ...more].map((name) => [name, null]));
  const b = { email: "b@example.com" };
  const once = [
    { action: "INSERT", id: 81, old: null, values: { email: "a@example.com", ...rest } },
    { action: "INSERT", id: 72, old: null, values: { email: null, ...rest } },
    { action: "UPDATE", id: 81, old: { email: "a@example.com" }, values: b },
    { action: "UPDATE", id: 72, old: { email: null }, values: b },
    { action: "UPDATE", id: 81, old: {}, values: { ...b, ...rest } },
    { action: "DELETE", id: 72, old: { ...b, ...rest }, values: null },
    { action: "DELETE", id: 81, old: { ...b, ...rest }, values: null },
  ];
  expect(sorted(await taken())).toEqual(sorted([...once, ...once]));
}

test("while a mapped column is renamed the application writes, the others are captured, and the mapping says which is gone", async () => {
  const [away, back] = ["RENAME COLUMN lastname TO surname", "RENAME COLUMN surname TO lastname"];
  await sql(`ALTER TABLE salesforce.contact ${away}`);

  await expectCaptured([]);
  expect(await captureOff()).toEqual({ why: "columns", columns: ["lastname"] });
  await expectCaptured([]);

  await sql(`ALTER TABLE salesforce.contact ${back}`);
  expect(await captureOff()).toBeNull();
  await expectCaptured();

  // A mapping that drops the field continues, and one that has it back gets a new column.
  await sql(`ALTER TABLE salesforce.contact ${away}`);
  for (const [at, columns] of [COLUMNS.slice(0, 3), COLUMNS].entries()) {
    await customer.provision({ configVersion: 2 + at, columns });
    expect(await captureOff()).toBeNull();
  }
  await expectCaptured();
});

test("a column that is renamed while its mapping changes is not added again, so it can get its name back with its values", async () => {
  await sql("INSERT INTO salesforce.contact (id, lastname) VALUES (1, 'Curie')");
  await sql("ALTER TABLE salesforce.contact RENAME COLUMN lastname TO surname");

  for (const configVersion of [2, 3])
    await customer.provision({ configVersion, columns: [...COLUMNS, column("Phone")] });
  expect(await captureOff()).toEqual({ why: "columns", columns: ["lastname"] });
  await expectCaptured(["phone"]);
  await sql("ALTER TABLE salesforce.contact RENAME COLUMN surname TO lastname");

  expect(await captureOff()).toBeNull();
  expect(await sql("SELECT lastname, phone FROM salesforce.contact")).toEqual([{ lastname: "Curie", phone: null }]);
  await expectCaptured(["phone", "lastname"]);
});

test("a mapped column gets another type while the application writes, and the next cycle follows it", async () => {
  await sql(`
    ALTER TABLE salesforce.contact ALTER COLUMN lastname TYPE text, ALTER COLUMN amount__c TYPE numeric(20,4),
      ALTER COLUMN at__c TYPE timestamp USING at__c AT TIME ZONE 'UTC', ALTER COLUMN email TYPE varchar(200)`);

  await expectCaptured();
  await sql("INSERT INTO salesforce.contact (id, at__c) VALUES (500, '2026-03-01 00:00:00.5')");
  expect(await taken()).toMatchObject([{ values: { at__c: "2026-03-01 00:00:00.5+00" } }]);

  const { store, lease, begun } = await customer.cycle();
  expect(begun.captureOff).toBeNull();
  await store.apply(lease, page([image(1, 1, { lastname: "C".repeat(100), at__c: "2026-03-01T05:30:00.000+05:30" })]));
  const ours = "FROM salesforce.contact WHERE sfid IS NOT NULL";
  expect(await sql(`SELECT length(lastname), at__c::text ${ours}`)).toEqual([
    { length: 100, at__c: "2026-03-01 00:00:00" },
  ]);
  await expectCaptured();
  await writer.query("UPDATE salesforce.contact SET lastname = 'Curie' WHERE sfid IS NOT NULL");
  expect(await sql(`SELECT _ab_lastop ${ours}`)).toEqual([{ _ab_lastop: "PENDING" }]);
});

test("a renamed key is followed, and nothing that is written meanwhile is lost", async () => {
  await sql("ALTER TABLE salesforce.contact RENAME COLUMN id TO contact_id");

  await expectCaptured(["lastname"], "salesforce.contact", "contact_id");

  const { store, lease, begun } = await customer.cycle();
  expect(begun.captureOff).toBeNull();
  await store.apply(lease, page([image(1, 1, { lastname: "Curie" }), image(2, 1, { lastname: "Hopper" })]));
  expect(await sql("SELECT sfid, lastname FROM salesforce.contact ORDER BY 1")).toEqual([
    { sfid: sfidOf(1), lastname: "Curie" },
    { sfid: sfidOf(2), lastname: "Hopper" },
  ]);
  await expectCaptured(["lastname"], "salesforce.contact", "contact_id");
});

test("keys that all move up by one take their waiting changes along, each its own", async () => {
  await sql(
    "ALTER TABLE salesforce.contact DROP CONSTRAINT contact_pkey, ADD PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED",
  );
  await sql("INSERT INTO salesforce.contact (id, lastname) VALUES (1, 'Curie'), (2, 'Hopper'), (3, 'Noether')");
  await sql(
    "UPDATE salesforce._trigger_log SET state = 'FAILED', last_operation = 'FAILED', processed_at = now() WHERE record_id = 3",
  );

  await sql("UPDATE salesforce.contact SET id = id + 1");

  const inserts = (await taken()).filter(({ action }) => action === "INSERT");
  expect(inserts).toMatchObject([
    { id: 2, values: { lastname: "Curie" } },
    { id: 3, values: { lastname: "Hopper" } },
    { id: 4, values: { lastname: "Noether" } },
  ]);
});

test("a table that is renamed is captured all the same, its mapping says where it is, and continues once it is back", async () => {
  await sql("ALTER TABLE salesforce.contact RENAME TO person");

  await expectCaptured(["lastname"], "salesforce.person");
  expect(await captureOff()).toEqual({ why: "table", now: "salesforce.person" });

  await sql("ALTER TABLE salesforce.person RENAME TO contact");
  expect(await captureOff()).toBeNull();
  await expectCaptured();
});

test("what is cleaned up in the table that was swapped out deletes nothing in Salesforce", async () => {
  await sql("INSERT INTO salesforce.contact (lastname, sfid) VALUES ('Curie', '003000000000001AAA')");
  await taken();
  await sql(`
    CREATE TABLE salesforce.contact_new (LIKE salesforce.contact INCLUDING ALL);
    INSERT INTO salesforce.contact_new SELECT * FROM salesforce.contact;
    ALTER TABLE salesforce.contact RENAME TO contact_old;
    ALTER TABLE salesforce.contact_new RENAME TO contact`);

  await sql("UPDATE salesforce.contact_old SET lastname = 'gone', id = id + 100");
  await sql("DELETE FROM salesforce.contact_old");

  expect(await taken()).toEqual([]);
  expect(await captureOff()).toMatchObject({ why: "triggers" });
  await customer.provision({ configVersion: 2 });
  const left = "SELECT tgname FROM pg_trigger WHERE tgrelid = 'salesforce.contact_old'::regclass";
  expect(await sql(left)).toEqual([]);
});

test("a table that becomes a partition keeps taking writes, and its mapping says that they are not captured", async () => {
  await sql(`
    CREATE TABLE salesforce.parent_of_all (LIKE salesforce.contact) PARTITION BY LIST (isdeleted);
    ALTER TABLE salesforce.parent_of_all ATTACH PARTITION salesforce.contact DEFAULT`);

  await sql("INSERT INTO salesforce.parent_of_all (id, lastname) VALUES (1, 'Curie')");
  await sql("UPDATE salesforce.parent_of_all SET lastname = 'Hopper'");

  await expectCaptured();
  expect(await captureOff()).toEqual({ why: "partition" });
});

test("a table with columns that PostgreSQL computes is captured, added later or mapped", async () => {
  await sql(`
    ALTER TABLE salesforce.contact DROP COLUMN lastname;
    ALTER TABLE salesforce.contact ADD COLUMN lastname text GENERATED ALWAYS AS (upper(email)) STORED,
      ADD COLUMN shout text GENERATED ALWAYS AS (email || '!') STORED`);
  expect(await captureOff()).toBeNull();

  await sql("INSERT INTO salesforce.contact (id, email) VALUES (1, 'a'), (2, 'b')");
  await sql("UPDATE salesforce.contact SET email = 'c' WHERE id = 2");
  await sql("UPDATE salesforce.contact SET note = 'x'");

  expect(await taken()).toMatchObject([
    { action: "INSERT", values: { email: "a", lastname: "A" } },
    { action: "INSERT", values: { email: "b", lastname: "B" } },
    { action: "UPDATE", id: 2, old: { email: "b", lastname: "B" }, values: { email: "c", lastname: "C" } },
  ]);
});

test("the application may drop the columns with which Bridge reports on its rows", async () => {
  await sql("ALTER TABLE salesforce.contact DROP COLUMN _ab_lastop, DROP COLUMN sfid");

  await expectCaptured();
  expect(await captureOff()).toEqual({ why: "columns", columns: ["_ab_lastop", "sfid"] });
  await customer.provision({ configVersion: 2 });
  expect(await captureOff()).toBeNull();
});

test("a table that version 0.2 has captured is captured as before until the daily check, which gives it triggers that hold no column, and that only its owner may call", async () => {
  const released = readFileSync(join(import.meta.dirname, "../../../contracts/released-1-capture.sql"), "utf8");
  const change = "ALTER TABLE salesforce.contact ALTER COLUMN lastname TYPE text, DROP COLUMN email";
  const open = () => sql(OPEN_FUNCTIONS);
  await customer.provision({ configVersion: 2, columns: contactShape().columns });
  await sql(`${released}; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA salesforce TO PUBLIC`);
  await sql("UPDATE salesforce._bridge_state SET layout = layout - 'digest' - 'captureVersion'");
  expect(await captureOff()).toBeNull();
  expect(await open()).not.toEqual([]);
  await expect(sql(change)).rejects.toThrow("other objects depend on it");

  await dailyCheck();
  expect(await open()).toEqual([]);
  await sql(change);

  await writer.query("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  expect(await taken()).toMatchObject([{ action: "INSERT", values: { lastname: "Curie", key__c: null, name: null } }]);
  expect(await captureOff()).toEqual({ why: "columns", columns: ["email"] });
});

/** Our trigger functions that any role may call. */
const OPEN_FUNCTIONS = `SELECT proname FROM pg_proc WHERE pronamespace = 'salesforce'::regnamespace AND starts_with(proname, '_bridge_')
  AND (proacl IS NULL OR EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0))`;
