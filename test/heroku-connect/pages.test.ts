import { afterEach, expect, test } from "vitest";
import { customerSchema } from "../../lib/adapters/postgres/schema/clear-schema.ts";
import type { Customer } from "../adapters/postgres/customer.ts";
import { adoptSchema, SHAPE, sqlOf, theirDatabase, WAY_BACK } from "./their-database.ts";

let customer: Customer;
afterEach(() => customer.close());

test("a database that was copied by its rows alone continues with the guide's statement, before and after the takeover", async () => {
  customer = await theirDatabase();
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('One'), ('Two')");
  await customer.sql(
    "WITH old AS (DELETE FROM salesforce._trigger_log RETURNING *) INSERT INTO salesforce._trigger_log_archive SELECT * FROM old",
  );
  const next = async () => {
    await startAgain();
    await customer.sql(sqlOf("docs/leave-heroku-connect.md"));
    return [
      (await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Next') RETURNING id::int"))[0],
      (await customer.sql("SELECT max(id)::int AS id FROM salesforce._trigger_log"))[0],
    ];
  };

  const before = await next();
  await adoptSchema(customer.url);
  await customer.provision();
  const after = await next();

  // The archive has the changes 1 and 2 of Heroku Connect's log; Bridge's own log has change 3 as its first.
  expect(before).toEqual([{ id: 3 }, { id: 3 }]);
  expect(after).toEqual([{ id: 4 }, { id: 2 }]);
});

/** As rows that were replicated leave them. */
async function startAgain(): Promise<void> {
  await customer.sql(`DO $$ DECLARE one record; BEGIN
    FOR one IN SELECT oid::regclass AS sequence FROM pg_class WHERE relkind = 'S' AND relnamespace = 'salesforce'::regnamespace
    LOOP EXECUTE format('ALTER SEQUENCE %s RESTART', one.sequence); END LOOP; END $$`);
}

test("a workspace whose takeover is stuck leaves the way back, and counts and keeps all changes that wait", async () => {
  customer = await theirDatabase(SHAPE, ["contact", "lead"]);
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Adopted')");
  await customer.sql("INSERT INTO salesforce.lead (lastname) VALUES ('Stuck')");
  await adoptSchema(customer.url);
  await customer.provision();
  await customer.sql("UPDATE salesforce.contact SET email = 'ours'");
  await customer.sql(`UPDATE salesforce._hc_trigger_log SET state = 'PENDING' WHERE table_name = 'lead';
    INSERT INTO salesforce._trigger_log (table_name, record_id, action, state, last_operation, processed_at)
    VALUES ('contact', 1, 'UPDATE', 'FAILED', 'FAILED', now())`);
  const connection = { url: customer.url, schema: "salesforce" };

  const waiting = await customerSchema.waiting(connection, "w_1");
  const cleared = await customerSchema.clear(connection, "w_1");
  await customer.sql(sqlOf(WAY_BACK));
  await customer.sql("UPDATE salesforce.contact SET email = 'theirs'");

  expect(waiting).toBe(3);
  expect(cleared).toMatchObject({ kept: ["_bridge_hc_triggers", "_bridge_trigger_log"] });
  expect(cleared.tables).toContain("_trigger_log");
  const changesIn = async (log: string) =>
    (await customer.sql(`SELECT table_name, action, state FROM salesforce.${log} ORDER BY id`)).map((row) =>
      Object.values(row).join(" "),
    );
  expect(await changesIn("_bridge_trigger_log")).toEqual([
    "contact INSERT NEW",
    "contact UPDATE NEW",
    "contact UPDATE FAILED",
  ]);
  expect(await changesIn("_trigger_log")).toEqual([
    ...["contact INSERT REQUEUED", "lead INSERT PENDING", "contact UPDATE NEW"],
  ]);
  expect(await customer.sql("SELECT to_regclass('salesforce._bridge_hc_triggers') AS kept")).toEqual([{ kept: null }]);
});
