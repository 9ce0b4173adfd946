import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { firstInGate, isWholeGrid } from "../../../support/run/whole-grid.ts";
import { type Customer, createCustomer } from "../customer.ts";
import { expectInOrder, readRows, SHAPE } from "./replay-log.ts";

/*
 * Triggers of the application that write to the rows of their own statement. What the log makes of the rows of before, in
 * the order of its ids, is what the table holds, and each change meets the row as its `old` says.
 */

let customer: Customer;
let version: number;
beforeAll(async () => {
  customer = await createCustomer({ shape: SHAPE });
  const [server] = await customer.sql("SELECT current_setting('server_version_num')::int AS version");
  version = Number(server?.["version"]);
  await customer.sql(`SET client_min_messages = error; SET app.active = '';
    CREATE FUNCTION public.follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      -- A deferred trigger runs at the commit, where all depths are 1.
      IF current_setting('app.active') = TG_NAME AND pg_trigger_depth() <= current_setting('app.levels')::int
        AND current_setting('app.runs')::int < 20 THEN
        PERFORM set_config('app.runs', (current_setting('app.runs')::int + 1)::text, false);
        EXECUTE replace(current_setting('app.write'), '$depth', pg_trigger_depth()::text);
      END IF;
      IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
      RETURN NEW;
    END $$`);
  for (const [name, time, level, deferred = ""] of TRIGGERS)
    await customer.sql(`CREATE ${deferred && "CONSTRAINT"} TRIGGER "${name}" ${time} INSERT OR UPDATE OR DELETE
      ON salesforce.contact ${deferred} FOR EACH ${level} EXECUTE FUNCTION public.follow()`);
});
afterAll(() => customer.close());

/** Three rows, none of them in the log. */
async function begin() {
  await customer.sql(`SET app.active = ''; BEGIN; SET LOCAL bridge.in_sync = 'contact'; DELETE FROM salesforce.contact;
    INSERT INTO salesforce.contact (id, lastname, title, sfid) VALUES
      (1, 'Curie', 'by app', '003000000000001AAA'), (2, 'Noether', 'by app', '003000000000002AAA'), (3, 'Hopper', NULL, NULL);
    DELETE FROM salesforce._trigger_log; COMMIT`);
  return await readRows(customer);
}

/** One statement each; all that they write has the title 'by app'. */
const STATEMENTS: Readonly<Record<string, string>> = {
  INSERT:
    "INSERT INTO salesforce.contact (id, lastname, title) VALUES (4, 'Franklin', 'by app'), (5, 'Ride', 'by app')",
  UPDATE: "UPDATE salesforce.contact SET title = 'by app', lastname = upper(lastname)",
  DELETE: "DELETE FROM salesforce.contact WHERE id < 3",
  "INSERT … ON CONFLICT DO UPDATE": `INSERT INTO salesforce.contact AS c (id, lastname, title)
    VALUES (4, 'Franklin', 'by app'), (3, 'Ride', 'by app'), (1, 'Meitner', 'by app')
    ON CONFLICT (id) DO UPDATE SET title = excluded.title, lastname = excluded.lastname`,
  MERGE: `MERGE INTO salesforce.contact c USING (VALUES (1, 'Meitner'), (3, 'Ride'), (4, 'Franklin')) AS v (id, lastname) ON c.id = v.id
    WHEN MATCHED AND c.id = 1 THEN DELETE
    WHEN MATCHED THEN UPDATE SET lastname = v.lastname, title = 'by app'
    WHEN NOT MATCHED THEN INSERT (id, lastname, title) VALUES (v.id, v.lastname, 'by app')`,
  "a DELETE and an INSERT of the same row": `WITH gone AS (DELETE FROM salesforce.contact WHERE id = 1 RETURNING id)
    INSERT INTO salesforce.contact (id, lastname, title) SELECT id, 'Meitner', 'by app' FROM gone`,
};

/** Of each kind one whose name sorts before ours, and one behind them; the gate takes what differs most. */
const TRIGGERS = firstInGate<readonly [name: string, time: string, level: string, deferred?: string]>(4, [
  ["A after row", "AFTER", "ROW"],
  ["zzz after statement", "AFTER", "STATEMENT"],
  ["zzz before row", "BEFORE", "ROW"],
  ["zzz deferred", "AFTER", "ROW", "DEFERRABLE INITIALLY DEFERRED"],
  ["A after statement", "AFTER", "STATEMENT"],
  ["A before row", "BEFORE", "ROW"],
  ["A before statement", "BEFORE", "STATEMENT"],
  ["A deferred", "AFTER", "ROW", "DEFERRABLE INITIALLY DEFERRED"],
  ["zzz after row", "AFTER", "ROW"],
  ["zzz before statement", "BEFORE", "STATEMENT"],
]);

const WRITES = {
  "the same column": "UPDATE salesforce.contact SET title = 'Number ' || id || '.' || $depth",
  "another column": "UPDATE salesforce.contact SET email = 'Number ' || id || '.' || $depth",
  "the same column of all rows but the statement's first":
    "UPDATE salesforce.contact SET title = title || $depth WHERE id > 1",
  "nothing in the end": `UPDATE salesforce.contact SET title = 'between';
    UPDATE salesforce.contact SET title = 'by app'`,
  "its rows away": "DELETE FROM salesforce.contact WHERE id > 3",
  "its rows away, and again": `DELETE FROM salesforce.contact WHERE id IN (2, 4);
    INSERT INTO salesforce.contact (id, lastname, title) VALUES (2, 'Again', 'by trigger'), (4, 'Again', 'by trigger') ON CONFLICT DO NOTHING`,
  "rows that are gone again": `INSERT INTO salesforce.contact (id, lastname, title) SELECT i, 'Again', 'by trigger' FROM generate_series(1, 5) i
    ON CONFLICT DO NOTHING`,
} as const;

/** What PostgreSQL refuses: a BEFORE trigger that writes a row which its statement is about to write. */
const REFUSED = /already modified by an operation triggered by the current command|a second time|duplicate key/;

describe.each(firstInGate(5, Object.entries(STATEMENTS)))("%s", (name, statement) => {
  test.each(TRIGGERS)("with %s", async (trigger) => {
    if (name.includes("MERGE") && version < 15_00_00) return;
    for (const [what, write] of Object.entries(WRITES)) {
      for (const levels of isWholeGrid ? [1, 2] : [2]) {
        const before = await begin();
        await customer.sql(
          "SELECT set_config('app.active', $1, false), set_config('app.write', $2, false), set_config('app.levels', $3, false), set_config('app.runs', '0', false)",
          [trigger, write, String(levels)],
        );

        const refusal = await customer.sql(statement).then(
          () => null,
          (error: Error) => error.message,
        );

        if (refusal !== null) expect(refusal).toMatch(REFUSED);
        await expectInOrder(customer, before).catch((error: Error) => {
          throw new Error(`${what}, ${levels}: ${error.message}`, { cause: error });
        });
      }
    }
  });
});
