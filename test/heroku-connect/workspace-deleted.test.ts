import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { customerSchema } from "../../lib/adapters/postgres/schema/clear-schema.ts";
import { type Customer, createCustomer } from "../adapters/postgres/customer.ts";
import { herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { column, contactShape } from "../support/worlds/shapes.ts";
import { adopt } from "./heroku-connect-broken-off.ts";

let customer: Customer;
afterEach(() => customer.close());

const COLUMNS = { email: "varchar(80)", lastname: "varchar(80)" };
const PAGE = new URL("../../lib/heroku-connect/HEROKU-CONNECT.md", import.meta.url);

test("a workspace whose takeover is stuck leaves the way back, and counts and keeps all changes that wait", async () => {
  const shape = contactShape({ columns: [column("Email"), column("LastName")], upsertField: null });
  customer = await createCustomer({ shape, provisioned: false });
  await customer.sql(herokuConnectSchema(["contact", "lead"].map((table) => ({ table, columns: COLUMNS }))));
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Adopted')");
  await customer.sql("INSERT INTO salesforce.lead (lastname) VALUES ('Stuck')");
  await adopt(customer.url);
  await customer.provision();
  await customer.sql("UPDATE salesforce.contact SET email = 'ours'");
  const connection = { url: customer.url, schema: "salesforce" };

  const waiting = await customerSchema.waiting(connection, "w_1");
  const cleared = await customerSchema.clear(connection, "w_1");
  await customer.sql(/```sql\n([^`]+)```/.exec(readFileSync(PAGE, "utf8"))?.[1] ?? "");
  await customer.sql("UPDATE salesforce.contact SET email = 'theirs'");

  expect(waiting).toBe(3);
  expect(cleared).toMatchObject({ kept: ["_bridge_hc_triggers", "_bridge_trigger_log"] });
  expect(cleared.tables).toContain("_trigger_log");
  expect(await customer.sql("SELECT action, state FROM salesforce._bridge_trigger_log ORDER BY id")).toEqual([
    { action: "INSERT", state: "NEW" },
    { action: "UPDATE", state: "NEW" },
  ]);
  expect(await customer.sql("SELECT table_name, action, state FROM salesforce._trigger_log ORDER BY id")).toEqual([
    { table_name: "contact", action: "INSERT", state: "REQUEUED" },
    { table_name: "lead", action: "INSERT", state: "NEW" },
    { table_name: "contact", action: "UPDATE", state: "NEW" },
  ]);
  expect(await customer.sql("SELECT to_regclass('salesforce._bridge_hc_triggers') AS kept")).toEqual([{ kept: null }]);
});
