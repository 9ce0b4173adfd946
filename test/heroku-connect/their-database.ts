import { readFileSync } from "node:fs";
import { migrate } from "../../lib/adapters/postgres/schema/migrate.ts";
import { openSession } from "../../lib/adapters/postgres/session/session.ts";
import { archiveLog } from "../../lib/heroku-connect/archive-log.ts";
import type { TableShape } from "../../lib/model/mapping/shape.ts";
import { type Customer, createCustomer } from "../adapters/postgres/customer.ts";
import { herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { column, contactShape } from "../support/worlds/shapes.ts";

/** A mapping of contacts by two fields. */
export const SHAPE = contactShape({ columns: [column("Email"), column("LastName")], upsertField: null });

/** A database with empty tables of Heroku Connect's, which have the columns of that mapping and one more. */
export async function theirDatabase(shape: TableShape = SHAPE, tables = ["contact"]): Promise<Customer> {
  const customer = await createCustomer({ shape, provisioned: false });
  const columns = { email: "varchar(80)", lastname: "varchar(80)", unmapped__c: "text" };
  await customer.sql(herokuConnectSchema(tables.map((table) => ({ table, columns }))));
  return customer;
}

/** What an adoption asks of the schema, before its tables. */
export async function adoptSchema(url: string): Promise<void> {
  const session = await openSession({ url, schema: "salesforce" });
  await migrate(session, "salesforce", "w_1", { archiveLog }).finally(() => session.close());
}

/** The SQL that a page gives, by its path in `lib`. */
export const sqlOf = (page: string): string =>
  /```sql\n([^`]+)```/.exec(readFileSync(new URL(`../../lib/${page}`, import.meta.url), "utf8"))?.[1] ?? "";

/** The page's way back to Heroku Connect. */
export const WAY_BACK = "heroku-connect/HEROKU-CONNECT.md";
