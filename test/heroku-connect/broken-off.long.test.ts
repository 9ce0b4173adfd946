import { Client } from "pg";
import { expect, test, vi } from "vitest";
import { createProvisioner } from "../../lib/adapters/postgres/schema/provision.ts";
import { herokuConnect } from "../../lib/heroku-connect/heroku-connect.ts";
import type { Customer } from "../adapters/postgres/customer.ts";
import { mappingOf } from "../support/worlds/shapes.ts";
import { adoptSchema, SHAPE, theirDatabase } from "./their-database.ts";

test("cut off from the database between any two statements, either Heroku Connect's triggers capture or ours, and what waits is imported once", async () => {
  let brokenOff = 0;
  for (let nth = 1, isBroken = true; isBroken; nth += 1) {
    const customer = await theirDatabase();
    await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('First')");
    await customer.sql("UPDATE salesforce.contact SET email = 'before'");
    isBroken = await breakOff(nth, customer);
    brokenOff += Number(isBroken);

    await customer.sql("UPDATE salesforce.contact SET email = 'after' WHERE lastname = 'First'");
    const captured = await capturedWith(customer, "after");
    await adoptSchema(customer.url);
    await customer.provision();
    await customer.sql("UPDATE salesforce.contact SET email = 'in the end' WHERE lastname = 'First'");
    const ours = await customer.sql(`SELECT "values" ->> 'email' AS email FROM salesforce._trigger_log ORDER BY id`);
    const left = await customer.sql("SELECT FROM salesforce._hc_trigger_log WHERE state = 'NEW'");
    await customer.close();

    const emails = ours.map(({ email }) => email);
    expect({ nth, captured, emails, left }).toEqual({
      ...{ nth, captured: 1, left: [] },
      emails: [null, "before", "after", "in the end"],
    });
  }

  expect(brokenOff).toBeGreaterThan(20);
});

/** Ends an adoption before its nth statement. False when it came to its end before. */
async function breakOff(nth: number, { url }: Customer): Promise<boolean> {
  const query = Client.prototype.query as (...asked: unknown[]) => unknown;
  let left = nth;
  const spy = vi.spyOn(Client.prototype, "query").mockImplementation(function (this: Client, ...asked: unknown[]) {
    left -= 1;
    if (left <= 0) this.connection.stream.destroy();
    return query.apply(this, asked);
  } as typeof query);
  try {
    await adoptSchema(url);
    await createProvisioner({ url, schema: SHAPE.schema }, () => new Date(), herokuConnect).provision(
      mappingOf(SHAPE),
      SHAPE,
    );
  } catch (error) {
    if (left > 0) throw error;
  } finally {
    spy.mockRestore();
  }
  return left <= 0;
}

/** How many waiting changes hold this text, in either log. */
async function capturedWith(customer: Customer, text: string): Promise<number> {
  let count = 0;
  for (const log of ["_trigger_log", "_hc_trigger_log"]) {
    const [found] = await customer.sql("SELECT to_regclass($1) AS log", [`salesforce.${log}`]);
    if (found?.["log"] === null) continue;
    const waiting = `SELECT FROM salesforce.${log} WHERE state = 'NEW' AND "values"::text LIKE '%"${text}"%'`;
    count += (await customer.sql(waiting)).length;
  }
  return count;
}
