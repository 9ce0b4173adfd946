import { afterEach, beforeEach, expect, test } from "vitest";
import { type Customer, createCustomer, image, page } from "./customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

const HARD = ["\\N", "a\tb", "line\nbreak\r\n", "\\", "\\.", 'quo"te', "ü😀", ""];

async function namesAfter(table: string): Promise<unknown[]> {
  const { store, lease } = await customer.cycle();
  const applied = await store.apply(
    lease,
    page(HARD.map((lastname, index) => image(index, index, { lastname, email: null }))),
  );
  expect(applied).toMatchObject({ inserted: HARD.length, rejected: 0 });
  const rows = await customer.sql(`SELECT lastname, email, _ab_lastop FROM ${table} ORDER BY sfid`);
  expect(rows.every(({ email, _ab_lastop }) => email === null && _ab_lastop === "SYNCED")).toBe(true);
  return rows.map(({ lastname }) => lastname);
}

test("a new row holds what its record holds, signs of the copying included", async () => {
  expect(await namesAfter("salesforce.contact")).toEqual(HARD);
  expect(await customer.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
});

test("a table with rules, and one with row security, take records, too", async () => {
  await customer.sql(`CREATE TABLE salesforce.noted (name text);
    CREATE RULE note AS ON INSERT TO salesforce.contact DO ALSO INSERT INTO salesforce.noted VALUES (NEW.lastname);
    ALTER TABLE salesforce.contact ENABLE ROW LEVEL SECURITY`);
  await customer.provision({ configVersion: 2 });

  expect(await namesAfter("salesforce.contact")).toEqual(HARD);
  expect(await customer.sql("SELECT name FROM salesforce.noted")).toHaveLength(HARD.length);
});

test("one bad value among new rows keeps only its own record out", async () => {
  const { store, lease } = await customer.cycle();

  const applied = await store.apply(
    lease,
    page([1, 2, 3].map((number) => image(number, number, { lastname: number === 2 ? "a\0b" : "Curie" }))),
  );

  expect(applied).toMatchObject({ inserted: 2, rejected: 1 });
  expect(await customer.sql("SELECT sqlstate FROM salesforce._bridge_inbound_errors")).toEqual([{ sqlstate: "22021" }]);
});
