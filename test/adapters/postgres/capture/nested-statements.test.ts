import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { isWholeGrid, longTest } from "../../../support/run/whole-grid.ts";
import { column, contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer, image, page, sfidOf } from "../customer.ts";
import { CASES, numbered, trigger } from "./nested-cases.ts";
import { only, type Rows, readLog, readRows, replay } from "./replay-log.ts";

/** The gate takes those that differ most. */
const IN_GATE = [
  "a foreign key's CASCADE, and a write to the row before it or after it, by a trigger before ours",
  "a foreign key's SET NULL, and a trigger that follows it, by a trigger after ours",
  "a foreign key to the table itself, and rows that come again, by a trigger before ours",
  "a trigger that takes the change back",
  "statements of one transaction with nested ones each",
  "a savepoint that is rolled back",
  "a statement that fails within a trigger",
  "functions that a statement calls",
  "a trigger that makes room for a new row",
  "a row that its own trigger deletes",
];

/* What else writes within a statement, or looks as if it did. The log must give the rows, change by change. */

const SHAPE = contactShape({ columns: ["Email", "LastName", "Title"].map((one) => column(one)) });
const COLUMNS = ["email", "lastname", "title"];

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer({ shape: SHAPE });
  await customer.sql(`SET client_min_messages = error;
    CREATE TABLE public.company (id bigint PRIMARY KEY, name text);
    INSERT INTO public.company VALUES (1, 'one'), (2, 'two'), (3, 'three');
    ALTER TABLE salesforce.contact ADD COLUMN boss bigint, ADD COLUMN company bigint;
    INSERT INTO salesforce.contact (id, lastname, title, company, boss, sfid) VALUES (1, 'Curie', 'first', 1, NULL, '${sfidOf(1)}'),
      (2, 'Noether', 'first', 2, 1, '${sfidOf(2)}'), (3, 'Hopper', 'first', 2, 2, '${sfidOf(3)}'), (4, 'Ride', 'first', 1, 2, NULL);
    SELECT setval('salesforce.contact_id_seq', 100); DELETE FROM salesforce._trigger_log`);
});
afterEach(() => customer.close());

async function expectInOrder(before: Rows, columns = COLUMNS): Promise<void> {
  const { rows, faults } = replay(before, await readLog(customer.application));
  const held = await readRows(customer.application);
  expect({ faults, rows: only(rows, columns) }).toEqual({ faults: [], rows: only(held, columns) });
}

describe("the log gives the rows, change by change:", () => {
  test.each(Object.entries(CASES).filter(([name]) => isWholeGrid || IN_GATE.includes(name)))(
    "%s",
    async (_, { given, when }) => {
      for (const text of given) await customer.sql(text);
      const before = await readRows(customer.application);

      for (const text of when) await customer.sql(text);

      await expectInOrder(
        before,
        COLUMNS.filter((one) => one !== "email" || !given.join().includes("RENAME email")),
      );
      expect((await readLog(customer.application)).length).toBeGreaterThan(1);
    },
  );
});

test("rows that get other keys are logged under them, behind what their triggers wrote", async () => {
  await customer.sql(trigger("AFTER UPDATE", numbered, { name: "A" }));
  await customer.sql("UPDATE salesforce.contact SET title = 'now'");

  await customer.sql("UPDATE salesforce.contact SET id = id + 200, title = 'moved'");

  const { rows } = replay(new Map(), await readLog(customer.application));
  expect(only(rows, ["title"])).toEqual(only(await readRows(customer.application), ["title"]));
});

test("a session that asks for no triggers is put in order by a mapping that captures it", async () => {
  await customer.provision({ configVersion: 2, capture: "always" });
  await customer.sql(`${trigger("AFTER INSERT", numbered)}; ALTER TABLE salesforce.contact ENABLE ALWAYS TRIGGER zzz`);
  const before = await readRows(customer.application);
  await customer.asSuperuser("SET session_replication_role = replica");

  await customer.asSuperuser("INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'by app')");

  await expectInOrder(before);
});

test("what triggers write within Bridge's own statements is logged in the order of causes", async () => {
  await customer.sql(
    trigger(
      "AFTER INSERT OR UPDATE",
      "IF pg_trigger_depth() < 4 THEN UPDATE salesforce.contact SET title = title || pg_trigger_depth() WHERE id = NEW.id; END IF",
    ),
  );
  const { store, lease } = await customer.cycle();

  await store.apply(lease, page([image(9, 1, { lastname: "Franklin", title: "" })]));

  const log = await readLog(customer.application);
  expect(log.map(({ old, values }) => [old?.["title"] ?? null, values?.["title"]])).toEqual([
    ["", "1"],
    ["1", "12"],
    ["12", "123"],
  ]);
});

longTest("triggers of the application that leave Bridge's writes out write in order as well", async () => {
  await customer.sql(
    trigger(
      "AFTER INSERT",
      "IF current_setting('xmlbinary') = 'base64' THEN UPDATE salesforce.contact SET title = 'Number' WHERE id = NEW.id; END IF",
    ),
  );
  const before = await readRows(customer.application);
  const { store, lease } = await customer.cycle();

  await customer.sql("INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'by app')");
  await expectInOrder(before);
  await store.apply(lease, page([image(9, 1, { lastname: "Meitner", title: "by Salesforce" })]));

  expect(await readLog(customer.application)).toHaveLength(2);
  expect(await customer.sql("SELECT title FROM salesforce.contact WHERE lastname = 'Meitner'")).toEqual([
    { title: "by Salesforce" },
  ]);
});

test("changes of other sessions between them stay where they are", async () => {
  await customer.sql(
    trigger(
      "AFTER INSERT",
      "PERFORM pg_advisory_xact_lock(7); UPDATE salesforce.contact SET title = 'Number' WHERE id = NEW.id",
    ),
  );
  const [other, holder] = [await customer.connect(), await customer.connect()];
  const before = await readRows(customer.application);
  await holder.query("SELECT pg_advisory_lock(7)");
  const inserted = customer.sql(
    "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'by app')",
  );

  await other.query("UPDATE salesforce.contact SET title = 'theirs' WHERE id = 1");
  await holder.query("SELECT pg_advisory_unlock(7)");
  await inserted;

  await expectInOrder(before);
  const [first] = await customer.sql("SELECT record_id::int FROM salesforce._trigger_log ORDER BY id LIMIT 1");
  expect(first).toEqual({ record_id: 1 });
});

describe("a table whose triggers an older version has made", () => {
  beforeEach(async () => {
    await customer.sql(`DROP TRIGGER _bridge_begin ON salesforce.contact;
      UPDATE salesforce._bridge_state SET layout = jsonb_set(layout, '{captureVersion}', '3')`);
    await customer.sql(trigger("AFTER INSERT OR UPDATE", numbered));
  });
  const write = async () => {
    await customer.sql(`INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', '');
      UPDATE salesforce.contact SET title = 'x'; DELETE FROM salesforce.contact WHERE id = 1`);
  };

  longTest("is captured as before", async () => {
    await write();

    expect((await customer.cycle()).begun.captureOff).toBeNull();
    expect((await readLog(customer.application)).map(({ action }) => action)).toEqual([
      ...["UPDATE", "UPDATE", "UPDATE", "INSERT"],
      ...Array(12).fill("UPDATE"),
      ...["UPDATE", "UPDATE", "UPDATE", "UPDATE", "UPDATE", "UPDATE", "UPDATE", "UPDATE"].slice(0, 8),
      "DELETE",
    ]);
  });

  test("gets the trigger by the daily check", async () => {
    await createProvisioner({ url: customer.url, schema: "salesforce" }, () => new Date()).migrate(mappingOf(SHAPE));
    const before = await readRows(customer.application);

    await write();

    await expectInOrder(before);
  });
});

longTest("_bridge_detach() and the end of the mapping take the trigger away as well", async () => {
  const own = () =>
    customer.sql(
      "SELECT tgname FROM pg_trigger WHERE tgrelid = 'salesforce.contact'::regclass AND tgname LIKE '%bridge%'",
    );
  const functions = () => customer.sql("SELECT proname FROM pg_proc WHERE starts_with(proname, '_bridge_begin')");
  expect(await own()).toContainEqual({ tgname: "_bridge_begin" });

  await customer.retire();
  expect([...(await own()), ...(await functions())]).toEqual([]);
  await customer.provision({ configVersion: 2 });
  await customer.sql("SELECT salesforce._bridge_detach()");

  expect([...(await own()), ...(await functions())]).toEqual([]);
});
