import type { Client } from "pg";
import { beforeEach, onTestFinished } from "vitest";
import { retryFailed as retryFailedOf } from "../../../lib/adapters/postgres/operations/operations.ts";
import { createProvisioner } from "../../../lib/adapters/postgres/schema/provision.ts";
import { keepSessions } from "../../../lib/adapters/postgres/session/request-session.ts";
import type { PostgresConnection } from "../../../lib/model/workspace/workspace.ts";
import { mappingOf } from "../../support/worlds/shapes.ts";
import { type Customer, createCustomer } from "./customer.ts";

/** The customer of the running test. */
export let customer: Customer;

/** Makes the customer of the running test, who goes with it. */
export async function aCustomer(options: Parameters<typeof createCustomer>[0] = {}): Promise<void> {
  const made = await createCustomer(options);
  onTestFinished(() => made.close());
  customer = made;
}

export const aCustomerForEachTest = (options: Parameters<typeof createCustomer>[0] = {}) =>
  beforeEach(() => aCustomer(options));

/** Rows of one statement of the application. */
export const sql: Customer["sql"] = (text, values) => customer.sql(text, values);

/** These columns of the mapped table, of the log, in the order of their ids. */
export const rows = (columns: string) => sql(`SELECT ${columns} FROM salesforce.contact ORDER BY id`);
export const log = (columns: string) => sql(`SELECT ${columns} FROM salesforce._trigger_log ORDER BY id`);
export const states = async () => (await log("state")).map(({ state }) => state);
export const lastOps = async () => (await rows("_ab_lastop")).map((row) => row["_ab_lastop"]);

export const insert = (lastname: string) => sql("INSERT INTO salesforce.contact (lastname) VALUES ($1)", [lastname]);

/** So many new rows, L1, L2, and so on. */
export const insertMany = (count: number) =>
  sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || i FROM generate_series(1, $1::int) i", [count]);

/** A transaction of another session of the application that has done this and is open. */
export async function transaction(...statements: readonly string[]): Promise<Client> {
  const user = await customer.connect();
  for (const statement of ["BEGIN", ...statements]) await user.query(statement);
  return user;
}

export const laterBy = (seconds: number) => {
  customer.now = new Date(customer.now.getTime() + seconds * 1000);
};

export const connection = () => ({ url: customer.url, schema: "salesforce" });

/** The daily check of the mapping, with such a setting of the workspace. */
export const dailyCheck = (more: Partial<PostgresConnection> = {}) =>
  createProvisioner({ ...connection(), ...more }, () => customer.now).migrate(mappingOf(customer.shape));

/** The types of a table, by column. */
export const typesOf = async (table: string) =>
  Object.fromEntries(
    (
      await sql(
        "SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped",
        [table],
      )
    ).map(({ attname, type }) => [attname, type]),
  );

/** The session that requests have. */
export const kept = () => keepSessions(() => customer.now).take(connection());
export const retryFailed = (ids: readonly number[]) => retryFailedOf(kept(), "salesforce", "map_contact", ids);
