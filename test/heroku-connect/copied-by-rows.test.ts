import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { type Customer, createCustomer } from "../adapters/postgres/customer.ts";
import { herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { column, contactShape } from "../support/worlds/shapes.ts";
import { adopt } from "./heroku-connect-broken-off.ts";

let customer: Customer;
afterEach(() => customer.close());

const GUIDE = new URL("../../lib/docs/leave-heroku-connect.md", import.meta.url);
const sequences = () => /```sql\n([^`]+)```/.exec(readFileSync(GUIDE, "utf8"))?.[1] ?? "";

test("a database that was copied by its rows alone continues with the guide's statement, before and after the takeover", async () => {
  const shape = contactShape({ columns: [column("Email"), column("LastName")], upsertField: null });
  customer = await createCustomer({ shape, provisioned: false });
  const columns = { email: "varchar(80)", lastname: "varchar(80)" };
  await customer.sql(herokuConnectSchema([{ table: "contact", columns }]));
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('One'), ('Two')");
  await customer.sql(
    "WITH old AS (DELETE FROM salesforce._trigger_log RETURNING *) INSERT INTO salesforce._trigger_log_archive SELECT * FROM old",
  );
  const next = async () => [
    (await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Next') RETURNING id::int"))[0],
    (await customer.sql("SELECT max(id)::int AS id FROM salesforce._trigger_log"))[0],
  ];

  await startAgain();
  await customer.sql(sequences());
  const before = await next();
  await adopt(customer.url);
  await customer.provision();
  await startAgain();
  await customer.sql(sequences());
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
