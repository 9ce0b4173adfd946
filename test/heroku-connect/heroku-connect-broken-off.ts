import { expect } from "vitest";
import { migrate } from "../../lib/adapters/postgres/schema/migrate.ts";
import { openSession } from "../../lib/adapters/postgres/session/session.ts";
import { archiveLog } from "../../lib/heroku-connect/archive-log.ts";
import { type Customer, createCustomer } from "../adapters/postgres/customer.ts";
import { herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { column, contactShape } from "../support/worlds/shapes.ts";

export const SHAPE = contactShape({ columns: [column("Email"), column("LastName")] });
const MORE_THAN_ENOUGH = 100;

/** Ends an adoption before its nth statement. False when it came to its end before. */
export type BreakOff = (nth: number, customer: Customer) => Promise<boolean>;

/** Breaks an adoption off before every such statement of it: either side captures, and what waits is imported once. */
export async function expectWholeHowever(breakOff: BreakOff, every = 1): Promise<void> {
  const brokenOff: number[] = [];
  for (let nth = 1; nth < MORE_THAN_ENOUGH; nth += every) {
    const customer = await theirDatabase();
    const wasBrokenOff = await breakOff(nth, customer);
    if (wasBrokenOff) brokenOff.push(nth);

    await customer.sql("UPDATE salesforce.contact SET email = 'after' WHERE lastname = 'First'");
    const captured = await capturedWith(customer, "after");
    await adopt(customer.url);
    await customer.provision();
    await customer.sql("UPDATE salesforce.contact SET email = 'in the end' WHERE lastname = 'First'");
    const taken = await customer.sql(`SELECT "values" ->> 'email' AS email FROM salesforce._trigger_log ORDER BY id`);
    const left = await customer.sql("SELECT FROM salesforce._hc_trigger_log WHERE state = 'NEW'");
    await customer.close();

    expect({ nth, captured }).toEqual({ nth, captured: 1 });
    expect({ nth, taken: taken.map(({ email }) => email) }).toEqual({
      nth,
      taken: [null, "before", "after", "in the end"],
    });
    expect({ nth, left }).toEqual({ nth, left: [] });
    if (!wasBrokenOff) break;
  }

  expect(brokenOff.length * every).toBeGreaterThan(20);
}

/** One row, and what Heroku Connect has captured of it: an insert and an update that wait. */
async function theirDatabase(): Promise<Customer> {
  const customer = await createCustomer({ shape: SHAPE, provisioned: false });
  await customer.sql(
    herokuConnectSchema([{ table: "contact", columns: { email: "varchar(80)", lastname: "varchar(80)" } }]),
  );
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('First')");
  await customer.sql("UPDATE salesforce.contact SET email = 'before'");
  return customer;
}

/** How many waiting changes hold this text, in any log. */
async function capturedWith(customer: Customer, text: string): Promise<number> {
  const logs = await customer.sql(
    "SELECT relname FROM pg_class WHERE relnamespace = 'salesforce'::regnamespace AND relkind = 'r' AND relname IN ('_trigger_log', '_hc_trigger_log')",
  );
  const counts = await Promise.all(
    logs.map(({ relname }) =>
      customer.sql(
        `SELECT count(*)::int AS n FROM salesforce.${relname} WHERE state = 'NEW' AND "values"::text LIKE '%"${text}"%'`,
      ),
    ),
  );
  return counts.reduce((sum, [row]) => sum + Number(row?.["n"]), 0);
}

/** What an adoption asks of the schema, before its table. */
export async function adopt(url: string): Promise<void> {
  const session = await openSession({ url, schema: "salesforce" });
  await migrate(session, "salesforce", "w_1", { archiveLog }).finally(() => session.close());
}
