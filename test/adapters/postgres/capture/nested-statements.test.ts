import { beforeEach, expect, test } from "vitest";
import { image, page, sfidOf } from "../customer.ts";
import { aCustomerForEachTest, customer, dailyCheck, sql } from "../world.ts";
import { expectInOrder, only, readLog, readRows, replay, SHAPE } from "./replay-log.ts";

/* What else writes within a statement, or looks as if it did. The log must give the rows, change by change. */

aCustomerForEachTest({ shape: SHAPE });
beforeEach(async () => {
  await sql(`SET client_min_messages = error;
    CREATE TABLE public.company (id bigint PRIMARY KEY, name text);
    INSERT INTO public.company VALUES (1, 'one'), (2, 'two'), (3, 'three');
    ALTER TABLE salesforce.contact ADD COLUMN boss bigint, ADD COLUMN company bigint;
    INSERT INTO salesforce.contact (id, lastname, title, company, boss, sfid) VALUES (1, 'Curie', 'first', 1, NULL, '${sfidOf(1)}'),
      (2, 'Noether', 'first', 2, 1, '${sfidOf(2)}'), (3, 'Hopper', 'first', 2, 2, '${sfidOf(3)}'), (4, 'Ride', 'first', 1, 2, NULL);
    SELECT setval('salesforce.contact_id_seq', 100); DELETE FROM salesforce._trigger_log`);
});

/** A trigger of the application on its contacts, or on another table. */
const trigger = (
  when: string,
  body: string,
  { name = "zzz", on = "salesforce.contact", level = "ROW" } = {},
): string => `
  CREATE FUNCTION public."${name}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN coalesce(NEW, OLD); END $$;
  CREATE TRIGGER "${name}" ${when} ON ${on} FOR EACH ${level} EXECUTE FUNCTION public."${name}"()`;

/** Writes to the row that fires the trigger, three times at most. */
const numbered = "UPDATE salesforce.contact SET title = title || '+' WHERE id = NEW.id AND title NOT LIKE '%+++'";
const references = (column: string, to: string, action: string) =>
  `ALTER TABLE salesforce.contact ADD FOREIGN KEY (${column}) REFERENCES ${to} ON DELETE ${action}`;

/** What an application has made, and what it then does. */
interface Case {
  readonly given: readonly string[];
  /** Each is a message of its own; several statements in one are one transaction. */
  readonly when: readonly string[];
}

/** A name of `A` sorts before those of foreign keys, `RI_…`, and before ours. */
const CASES: Readonly<Record<string, Case>> = {
  "a foreign key's CASCADE, and a write to the row before it or after it": {
    given: [
      references("company", "public.company", "CASCADE"),
      trigger("AFTER DELETE", "UPDATE salesforce.contact SET title = title || OLD.id WHERE company = 3 - OLD.id", {
        name: "A",
        on: "public.company",
      }),
    ],
    when: ["DELETE FROM public.company WHERE id < 3"],
  },
  "a foreign key's SET NULL, and a trigger that follows it": {
    given: [
      references("company", "public.company", "SET NULL"),
      trigger("BEFORE UPDATE", "IF NEW.company IS NULL AND OLD.company > 0 THEN NEW.title := 'alone'; END IF", {
        name: "set",
      }),
      trigger("AFTER UPDATE", numbered),
    ],
    when: ["DELETE FROM public.company WHERE id < 3"],
  },
  "a foreign key to the table itself, and rows that come again": {
    given: [
      references("boss", "salesforce.contact", "CASCADE"),
      trigger(
        "AFTER DELETE",
        "INSERT INTO salesforce.contact (id, lastname, title) VALUES (OLD.id, 'Again', 'again')",
        { name: "A" },
      ),
    ],
    when: ["DELETE FROM salesforce.contact WHERE id = 1"],
  },
  "statements of one transaction with nested ones each, some of them rolled back": {
    given: [trigger("AFTER INSERT OR UPDATE", numbered)],
    when: [
      "BEGIN",
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', '')",
      "SAVEPOINT here",
      "UPDATE salesforce.contact SET title = 'gone'",
      "ROLLBACK TO here",
      "UPDATE salesforce.contact SET title = '' WHERE id > 1",
      "DELETE FROM salesforce.contact WHERE id = 5",
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'x')",
      "UPDATE salesforce.contact SET title = '', email = 'e' WHERE id = 5",
      "COMMIT",
    ],
  },
  "a statement that fails within a trigger": {
    given: [
      trigger(
        "AFTER UPDATE",
        `BEGIN UPDATE salesforce.contact SET id = 1 WHERE id = 2 AND NEW.id = 2; EXCEPTION WHEN unique_violation THEN
        UPDATE salesforce.contact SET email = 'caught' WHERE id = NEW.id AND email IS NULL; END`,
      ),
    ],
    when: ["UPDATE salesforce.contact SET title = 'x'"],
  },
  "functions that a statement calls": {
    given: [
      `CREATE FUNCTION public.number(bigint) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
         UPDATE salesforce.contact SET title = title || 'a' WHERE id = $1;
         UPDATE salesforce.contact SET title = title || 'b' WHERE id = $1;
         RETURN 'numbered'; END $$`,
    ],
    when: [
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', ''), (6, 'Meitner', '') RETURNING public.number(id)",
      "UPDATE salesforce.contact SET title = 'x' RETURNING public.number(id)",
      "WITH one AS (UPDATE salesforce.contact SET title = 'y' RETURNING id) SELECT public.number(id) FROM one ORDER BY id",
    ],
  },
};

test.each(Object.entries(CASES))("the log gives the rows, change by change: %s", async (_, { given, when }) => {
  for (const text of given) await sql(text);
  const before = await readRows(customer);

  for (const text of when) await sql(text);

  await expectInOrder(customer, before);
  expect((await readLog(customer)).length).toBeGreaterThan(1);
});

test("rows that get other keys are logged under them, behind what their triggers wrote", async () => {
  await sql(trigger("AFTER UPDATE", numbered, { name: "A" }));
  await sql("UPDATE salesforce.contact SET title = 'now'");

  await sql("UPDATE salesforce.contact SET id = id + 200, title = 'moved'");

  const { rows } = replay(new Map(), await readLog(customer));
  expect(only(rows, ["title"])).toEqual(only(await readRows(customer), ["title"]));
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

  const log = await readLog(customer);
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
  const before = await readRows(customer);
  await holder.query("SELECT pg_advisory_lock(7)");
  const inserted = sql("INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'by app')");

  await other.query("UPDATE salesforce.contact SET title = 'theirs' WHERE id = 1");
  await holder.query("SELECT pg_advisory_unlock(7)");
  await inserted;

  await expectInOrder(customer, before);
  const [first] = await sql("SELECT record_id::int FROM salesforce._trigger_log ORDER BY id LIMIT 1");
  expect(first).toEqual({ record_id: 1 });
});

test("a table whose triggers an older version has made gets the one that orders by the daily check", async () => {
  await sql(`DROP TRIGGER _bridge_begin ON salesforce.contact;
    UPDATE salesforce._bridge_state SET layout = jsonb_set(layout, '{captureVersion}', '3')`);
  await sql(trigger("AFTER INSERT OR UPDATE", numbered));
  expect((await customer.cycle()).begun.captureOff).toBeNull();

  await dailyCheck();
  const before = await readRows(customer);
  await sql(`INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', '');
    UPDATE salesforce.contact SET title = 'x'; DELETE FROM salesforce.contact WHERE id = 1`);

  await expectInOrder(customer, before);
});
