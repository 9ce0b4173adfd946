import { beforeEach, expect, test } from "vitest";
import { firstInGate } from "../../../support/run/whole-grid.ts";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import { image, page, sfidOf } from "../customer.ts";
import { aCustomerForEachTest, customer, dailyCheck, sql } from "../world.ts";
import { CASES, numbered, trigger } from "./nested-cases.ts";
import { only, type Rows, readLog, readRows, replay } from "./replay-log.ts";

/* What else writes within a statement, or looks as if it did. The log must give the rows, change by change. */

aCustomerForEachTest({ shape: contactShape({ columns: ["Email", "LastName", "Title"].map((one) => column(one)) }) });
beforeEach(async () => {
  await sql(`SET client_min_messages = error;
    CREATE TABLE public.company (id bigint PRIMARY KEY, name text);
    INSERT INTO public.company VALUES (1, 'one'), (2, 'two'), (3, 'three');
    ALTER TABLE salesforce.contact ADD COLUMN boss bigint, ADD COLUMN company bigint;
    INSERT INTO salesforce.contact (id, lastname, title, company, boss, sfid) VALUES (1, 'Curie', 'first', 1, NULL, '${sfidOf(1)}'),
      (2, 'Noether', 'first', 2, 1, '${sfidOf(2)}'), (3, 'Hopper', 'first', 2, 2, '${sfidOf(3)}'), (4, 'Ride', 'first', 1, 2, NULL);
    SELECT setval('salesforce.contact_id_seq', 100); DELETE FROM salesforce._trigger_log`);
});

const COLUMNS = ["email", "lastname", "title"];
const readThem = () => readRows(customer.application);

async function expectInOrder(before: Rows): Promise<void> {
  const { rows, faults } = replay(before, await readLog(customer.application));
  expect({ faults, rows: only(rows, COLUMNS) }).toEqual({ faults: [], rows: only(await readThem(), COLUMNS) });
}

test.each(firstInGate(10, Object.entries(CASES)))(
  "the log gives the rows, change by change: %s",
  async (_, { given, when }) => {
    for (const text of given) await sql(text);
    const before = await readThem();

    for (const text of when) await sql(text);

    await expectInOrder(before);
    expect((await readLog(customer.application)).length).toBeGreaterThan(1);
  },
);

test("rows that get other keys are logged under them, behind what their triggers wrote", async () => {
  await sql(trigger("AFTER UPDATE", numbered, { name: "A" }));
  await sql("UPDATE salesforce.contact SET title = 'now'");

  await sql("UPDATE salesforce.contact SET id = id + 200, title = 'moved'");

  const { rows } = replay(new Map(), await readLog(customer.application));
  expect(only(rows, ["title"])).toEqual(only(await readThem(), ["title"]));
});

test("a session that asks for no triggers is put in order by a mapping that captures it", async () => {
  await customer.provision({ configVersion: 2, capture: "always" });
  await sql(`${trigger("AFTER INSERT", numbered)}; ALTER TABLE salesforce.contact ENABLE ALWAYS TRIGGER zzz`);
  const before = await readThem();
  await customer.asSuperuser("SET session_replication_role = replica");

  await customer.asSuperuser("INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'by app')");

  await expectInOrder(before);
});

test("what triggers write within Bridge's own statements is logged in the order of causes", async () => {
  await sql(
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

test("changes of other sessions between them stay where they are", async () => {
  await sql(
    trigger(
      "AFTER INSERT",
      "PERFORM pg_advisory_xact_lock(7); UPDATE salesforce.contact SET title = 'Number' WHERE id = NEW.id",
    ),
  );
  const [other, holder] = [await customer.connect(), await customer.connect()];
  const before = await readThem();
  await holder.query("SELECT pg_advisory_lock(7)");
  const inserted = sql("INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'by app')");

  await other.query("UPDATE salesforce.contact SET title = 'theirs' WHERE id = 1");
  await holder.query("SELECT pg_advisory_unlock(7)");
  await inserted;

  await expectInOrder(before);
  const [first] = await sql("SELECT record_id::int FROM salesforce._trigger_log ORDER BY id LIMIT 1");
  expect(first).toEqual({ record_id: 1 });
});

test("a table whose triggers an older version has made gets the one that orders by the daily check", async () => {
  await sql(`DROP TRIGGER _bridge_begin ON salesforce.contact;
    UPDATE salesforce._bridge_state SET layout = jsonb_set(layout, '{captureVersion}', '3')`);
  await sql(trigger("AFTER INSERT OR UPDATE", numbered));
  expect((await customer.cycle()).begun.captureOff).toBeNull();

  await dailyCheck();
  const before = await readThem();
  await sql(`INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', '');
    UPDATE salesforce.contact SET title = 'x'; DELETE FROM salesforce.contact WHERE id = 1`);

  await expectInOrder(before);
});
