import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { firstInGate, longTest } from "../../../support/run/whole-grid.ts";
import { column, contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer, image, page, sfidOf } from "../customer.ts";

let customer: Customer;
/** The application's session from before: its plans are created, and it does not know of the change. */
let writer: Client;

const COLUMNS = [
  column("Amount__c", { type: "currency", precision: 18, scale: 2 }),
  column("At__c", { type: "datetime" }),
  column("Email", { type: "email" }),
  column("LastName", { nillable: false }),
];

beforeEach(async () => {
  customer = await createCustomer({ shape: contactShape({ columns: COLUMNS }) });
  await customer.sql("ALTER TABLE salesforce.contact ADD COLUMN note text");
  writer = await customer.connect();
  await writeThrough();
});
afterEach(() => customer.close());

const log = async () => {
  const rows = await customer.sql(
    `SELECT action, record_id::int AS id, old, "values" FROM salesforce._trigger_log ORDER BY _trigger_log.id`,
  );
  await customer.sql("DELETE FROM salesforce._trigger_log");
  return rows;
};
const captureOff = async () => {
  const { begun, store, lease } = await customer.cycle();
  await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
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

const rest = { amount__c: null, at__c: null };
/** What `writeThrough` leaves in the log, with these other columns. */
const written = (more: Record<string, null>) =>
  Array.from({ length: 2 }).flatMap(() => [
    { action: "INSERT", id: 81, old: null, values: { email: "a@example.com", ...more } },
    { action: "INSERT", id: 72, old: null, values: { email: null, ...more } },
    { action: "UPDATE", id: 81, old: { email: "a@example.com" }, values: { email: "b@example.com" } },
    { action: "UPDATE", id: 72, old: { email: null }, values: { email: "b@example.com" } },
    { action: "UPDATE", id: 81, old: {}, values: { email: "b@example.com", ...more } },
    { action: "DELETE", id: 72, old: { email: "b@example.com", ...more }, values: null },
    { action: "DELETE", id: 81, old: { email: "b@example.com", ...more }, values: null },
  ]);
/** Rows as lines, in an order that does not depend on that of their keys. */
const sorted = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row, KEYS)).toSorted();
const KEYS = ["action", "id", "old", "values", ...COLUMNS.map((one) => one.column)];

longTest("so it is while nothing is changed", async () => {
  expect(sorted(await log())).toEqual(sorted(written({ ...rest, lastname: null })));
  expect(await captureOff()).toBeNull();
});

describe.each(
  firstInGate(1, [
    ["renamed", "RENAME COLUMN lastname TO surname", "RENAME COLUMN surname TO lastname"],
    ["dropped", "DROP COLUMN lastname", "ADD COLUMN lastname varchar(80)"],
  ] as const),
)("while a mapped column is %s", (_, away, back) => {
  test("the application keeps writing, the other columns are captured, and the mapping says which is gone", async () => {
    await log();
    await customer.sql(`ALTER TABLE salesforce.contact ${away}`);

    await writeThrough();
    expect(sorted(await log())).toEqual(sorted(written(rest)));
    expect(await captureOff()).toEqual({ why: "columns", columns: ["lastname"] });
    await writeThrough();
    expect(sorted(await log())).toEqual(sorted(written(rest)));

    await customer.sql(`ALTER TABLE salesforce.contact ${back}`);
    expect(await captureOff()).toBeNull();
    await writeThrough();
    expect(sorted(await log())).toEqual(sorted(written({ ...rest, lastname: null })));
  });

  test("a mapping that drops the field continues", async () => {
    await customer.sql(`ALTER TABLE salesforce.contact ${away}`);

    await customer.provision({ configVersion: 2, columns: COLUMNS.slice(0, 3) });

    expect(await captureOff()).toBeNull();
  });
});

test("a column that is renamed while its mapping changes is not added again, so it can get its name back with its values", async () => {
  await customer.sql("INSERT INTO salesforce.contact (id, lastname) VALUES (1, 'Curie')");
  await customer.sql("ALTER TABLE salesforce.contact RENAME COLUMN lastname TO surname");
  const more = [...COLUMNS, column("Phone")];

  for (const configVersion of [2, 3]) await customer.provision({ configVersion, columns: more });
  const off = await captureOff();
  await log();
  await writeThrough();
  const during = await log();
  await customer.sql("ALTER TABLE salesforce.contact RENAME COLUMN surname TO lastname");

  expect(off).toEqual({ why: "columns", columns: ["lastname"] });
  expect(sorted(during)).toEqual(sorted(written({ ...rest, phone: null })));
  expect(await captureOff()).toBeNull();
  expect(await customer.sql("SELECT lastname, phone FROM salesforce.contact")).toEqual([
    { lastname: "Curie", phone: null },
  ]);
  await writeThrough();
  expect(sorted(await log())).toEqual(sorted(written({ ...rest, phone: null, lastname: null })));
});

longTest(
  "a field that comes back to a mapping gets a new column where the application has renamed the old one",
  async () => {
    await customer.sql("ALTER TABLE salesforce.contact RENAME COLUMN lastname TO surname");
    await customer.provision({ configVersion: 2, columns: COLUMNS.slice(0, 3) });

    await customer.provision({ configVersion: 3 });

    expect(await captureOff()).toBeNull();
    expect(await customer.sql("SELECT lastname, surname FROM salesforce.contact")).toEqual([]);
  },
);

test("a mapped column gets another type while the application writes, and the next cycle follows it", async () => {
  await log();
  await customer.sql(`
    ALTER TABLE salesforce.contact ALTER COLUMN lastname TYPE text, ALTER COLUMN amount__c TYPE numeric(20,4),
      ALTER COLUMN at__c TYPE timestamp USING at__c AT TIME ZONE 'UTC', ALTER COLUMN email TYPE varchar(200)`);

  await writeThrough();
  expect(sorted(await log())).toEqual(sorted(written({ ...rest, lastname: null })));
  await customer.sql("INSERT INTO salesforce.contact (id, at__c) VALUES (500, '2026-03-01 00:00:00.5')");
  expect(await log()).toMatchObject([{ values: { at__c: "2026-03-01 00:00:00.5+00" } }]);

  const { store, lease, begun } = await customer.cycle();
  expect(begun.captureOff).toBeNull();
  await store.apply(lease, page([image(1, 1, { lastname: "C".repeat(100), at__c: "2026-03-01T05:30:00.000+05:30" })]));
  expect(
    await customer.sql("SELECT length(lastname), at__c::text FROM salesforce.contact WHERE sfid IS NOT NULL"),
  ).toEqual([{ length: 100, at__c: "2026-03-01 00:00:00" }]);
  await writeThrough();
  expect(sorted(await log())).toEqual(sorted(written({ ...rest, lastname: null })));
  await writer.query("UPDATE salesforce.contact SET lastname = 'Curie' WHERE sfid IS NOT NULL");
  expect(await customer.sql("SELECT _ab_lastop FROM salesforce.contact WHERE sfid IS NOT NULL")).toEqual([
    { _ab_lastop: "PENDING" },
  ]);
});

longTest(
  "a mapped column may get a type of the application's own, also one without an equality that we find",
  async () => {
    await log();
    await customer.sql(`
    CREATE SCHEMA own; CREATE TYPE own.mood AS ENUM ('good', 'bad'); CREATE TYPE own.pair AS (a json, b json);
    ALTER TABLE salesforce.contact ALTER COLUMN lastname TYPE own.mood USING 'good', ALTER COLUMN at__c TYPE own.pair USING NULL`);
    const change = () =>
      writer.query(`INSERT INTO salesforce.contact (id, lastname, at__c) VALUES (1, 'good', ROW('1', '2'));
      UPDATE salesforce.contact SET at__c = ROW('1', '3'), lastname = 'bad'; DELETE FROM salesforce.contact`);

    await change();
    const before = await log();
    expect(await captureOff()).toBeNull();
    await change();

    expect(before).toMatchObject([
      { action: "INSERT", values: { lastname: "good", at__c: "(1,2)" } },
      { action: "UPDATE", old: { lastname: "good", at__c: "(1,2)" }, values: { lastname: "bad", at__c: "(1,3)" } },
      { action: "DELETE", old: { lastname: "bad", at__c: "(1,3)" } },
    ]);
    expect(await log()).toEqual(before);
  },
);

test("a renamed key is followed, and nothing that is written meanwhile is lost", async () => {
  await log();
  await customer.sql("ALTER TABLE salesforce.contact RENAME COLUMN id TO contact_id");

  await writeThrough("salesforce.contact", "contact_id");
  expect(sorted(await log())).toEqual(sorted(written({ ...rest, lastname: null })));

  const { store, lease, begun } = await customer.cycle();
  expect(begun.captureOff).toBeNull();
  await store.apply(lease, page([image(1, 1, { lastname: "Curie" }), image(2, 1, { lastname: "Hopper" })]));
  expect(await customer.sql("SELECT sfid, lastname FROM salesforce.contact ORDER BY 1")).toEqual([
    { sfid: sfidOf(1), lastname: "Curie" },
    { sfid: sfidOf(2), lastname: "Hopper" },
  ]);
  await writeThrough("salesforce.contact", "contact_id");
  expect(sorted(await log())).toEqual(sorted(written({ ...rest, lastname: null })));
});

test("keys that all move up by one take their waiting changes along, each its own", async () => {
  await log();
  await customer.sql(
    "ALTER TABLE salesforce.contact DROP CONSTRAINT contact_pkey, ADD PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED",
  );
  await customer.sql(
    "INSERT INTO salesforce.contact (id, lastname) VALUES (1, 'Curie'), (2, 'Hopper'), (3, 'Noether')",
  );

  await customer.sql("UPDATE salesforce.contact SET id = id + 1");

  const waiting = await customer.sql(
    `SELECT record_id::int AS id, "values" ->> 'lastname' AS lastname FROM salesforce._trigger_log WHERE action = 'INSERT' ORDER BY 1`,
  );
  expect(waiting).toEqual([
    { id: 2, lastname: "Curie" },
    { id: 3, lastname: "Hopper" },
    { id: 4, lastname: "Noether" },
  ]);
});

test.each(
  firstInGate(1, [
    [
      "renamed",
      "ALTER TABLE salesforce.contact RENAME TO person",
      "salesforce.person",
      "ALTER TABLE salesforce.person RENAME TO contact",
    ],
    [
      "renamed, with a view under its name",
      "ALTER TABLE salesforce.contact RENAME TO person; CREATE VIEW salesforce.contact AS SELECT * FROM salesforce.person",
      "salesforce.person",
      "DROP VIEW salesforce.contact; ALTER TABLE salesforce.person RENAME TO contact",
    ],
    [
      "moved to another schema",
      "CREATE SCHEMA other; ALTER TABLE salesforce.contact SET SCHEMA other",
      "other.contact",
      "ALTER TABLE other.contact SET SCHEMA salesforce",
    ],
  ] as const),
)(
  "a table that is %s is captured all the same, its mapping says where it is, and continues once it is back",
  async (_, away, now, back) => {
    await log();
    await customer.sql(away);

    await writeThrough(now);
    expect(sorted(await log())).toEqual(sorted(written({ ...rest, lastname: null })));
    expect(await captureOff()).toEqual({ why: "table", now });

    await customer.sql(back);
    expect(await captureOff()).toBeNull();
    await writeThrough();
    expect(sorted(await log())).toEqual(sorted(written({ ...rest, lastname: null })));
  },
);

test("a table that was dropped is reported, also of a mapping that only reads from Salesforce", async () => {
  await customer.provision({ configVersion: 2, direction: "sf_to_pg" });
  expect(await captureOff()).toBeNull();

  await customer.sql("ALTER TABLE salesforce.contact DROP COLUMN email");
  expect(await captureOff()).toEqual({ why: "columns", columns: ["email"] });
  await customer.sql("DROP TABLE salesforce.contact");

  expect(await captureOff()).toEqual({ why: "table", now: null });
});

test("what is cleaned up in the table that was swapped out deletes nothing in Salesforce", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname, sfid) VALUES ('Curie', '003000000000001AAA')");
  await log();
  await customer.sql(`
    CREATE TABLE salesforce.contact_new (LIKE salesforce.contact INCLUDING ALL);
    INSERT INTO salesforce.contact_new SELECT * FROM salesforce.contact;
    ALTER TABLE salesforce.contact RENAME TO contact_old;
    ALTER TABLE salesforce.contact_new RENAME TO contact`);

  await customer.sql("UPDATE salesforce.contact_old SET lastname = 'gone', id = id + 100");
  await customer.sql("DELETE FROM salesforce.contact_old");

  expect(await log()).toEqual([]);
  expect(await captureOff()).toMatchObject({ why: "triggers" });
});

test("a table that becomes a partition keeps taking writes, and its mapping says that they are not captured", async () => {
  await log();
  await customer.sql(`
    CREATE TABLE salesforce.parent_of_all (LIKE salesforce.contact) PARTITION BY LIST (isdeleted);
    ALTER TABLE salesforce.parent_of_all ATTACH PARTITION salesforce.contact DEFAULT`);

  await customer.sql("INSERT INTO salesforce.parent_of_all (id, lastname) VALUES (1, 'Curie')");
  await customer.sql("UPDATE salesforce.parent_of_all SET lastname = 'Hopper'");
  await writeThrough();

  expect(sorted(await log())).toEqual(sorted(written({ ...rest, lastname: null })));
  expect(await captureOff()).toEqual({ why: "partition" });
});

test("a table with columns that PostgreSQL computes is captured, added later or mapped", async () => {
  await customer.sql(`
    ALTER TABLE salesforce.contact DROP COLUMN lastname;
    ALTER TABLE salesforce.contact ADD COLUMN lastname text GENERATED ALWAYS AS (upper(email)) STORED,
      ADD COLUMN shout text GENERATED ALWAYS AS (email || '!') STORED`);
  const before = await captureOff();
  await log();

  await customer.sql("INSERT INTO salesforce.contact (id, email) VALUES (1, 'a'), (2, 'b')");
  await customer.sql("UPDATE salesforce.contact SET email = 'c' WHERE id = 2");
  await customer.sql("UPDATE salesforce.contact SET note = 'x'");

  expect(before).toBeNull();
  expect(await log()).toMatchObject([
    { action: "INSERT", values: { email: "a", lastname: "A" } },
    { action: "INSERT", values: { email: "b", lastname: "B" } },
    { action: "UPDATE", id: 2, old: { email: "b", lastname: "B" }, values: { email: "c", lastname: "C" } },
  ]);
});

test("the application may drop the columns with which Bridge reports on its rows", async () => {
  await log();
  await customer.sql("ALTER TABLE salesforce.contact DROP COLUMN _ab_lastop, DROP COLUMN sfid");

  await writeThrough();

  expect(sorted(await log())).toEqual(sorted(written({ ...rest, lastname: null })));
  expect(await captureOff()).toEqual({ why: "columns", columns: ["_ab_lastop", "sfid"] });
  await customer.provision({ configVersion: 2 });
  expect(await captureOff()).toBeNull();
});

describe("a table that version 0.2 has captured", () => {
  const RELEASED = readFileSync(join(import.meta.dirname, "../../../contracts/released-1-capture.sql"), "utf8");
  const dailyLook = () =>
    createProvisioner({ url: customer.url, schema: "salesforce" }, () => new Date()).migrate(mappingOf(contactShape()));
  const CHANGE = "ALTER TABLE salesforce.contact ALTER COLUMN lastname TYPE text, DROP COLUMN email";

  beforeEach(async () => {
    await customer.provision({ configVersion: 2, columns: contactShape().columns });
    await customer.sql(RELEASED);
    await customer.sql("UPDATE salesforce._bridge_state SET layout = layout - 'digest' - 'captureVersion'");
    await log();
  });

  test("is captured as before until the daily check, which gives it triggers that hold no column", async () => {
    expect(await captureOff()).toBeNull();
    await expect(customer.sql(CHANGE)).rejects.toThrow("other objects depend on it");

    await dailyLook();
    await customer.sql(CHANGE);

    await writer.query("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
    expect(await log()).toMatchObject([{ action: "INSERT", values: { lastname: "Curie", key__c: null, name: null } }]);
    expect(await captureOff()).toEqual({ why: "columns", columns: ["email"] });
  });

  longTest("keeps its triggers while one of them is disabled, for it is not decided what is lost", async () => {
    await customer.sql("ALTER TABLE salesforce.contact DISABLE TRIGGER _bridge_update");

    await dailyLook();

    expect(await captureOff()).toEqual({ why: "triggers", triggers: ["_bridge_update"] });
    await customer.sql("ALTER TABLE salesforce.contact ENABLE TRIGGER _bridge_update");
    await dailyLook();
    await customer.sql(CHANGE);
  });
});
