import { afterEach, beforeEach, expect, test } from "vitest";
import { type Customer, createCustomer, orgTime, pushAll, sfidOf } from "./customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

/** Long work of the other mapping, so many days from now. */
async function longWorkAfter(days: number): Promise<void> {
  customer.now = new Date(Date.now() + days * 86_400_000);
  const store = await customer.store();
  const asked = { mappingId: "map_lead", work: "load", configVersion: 1, owner: "a test", slot: null } as const;
  const begun = await store.begin({ ...asked, leaseSeconds: 30 });
  if (!begun.held) throw new Error(`the lease was not to be had: ${begun.why}`);
  await store.finish(begun.lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
}

const inLog = () => customer.sql("SELECT table_name, state FROM salesforce._trigger_log ORDER BY id");

test("what a deleted mapping left in the log stays for 31 days, then goes with the next long work of another", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  await pushAll(await customer.cycle(), () => sfidOf(1), orgTime(1));
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Noether')");
  await customer.retire();
  await customer.provision({ mappingId: "map_lead", table: "lead", sfObject: "Lead" });
  await customer.sql("INSERT INTO salesforce.lead (lastname) VALUES ('Germain')");

  await longWorkAfter(30);
  const before = await inLog();
  await longWorkAfter(32);

  expect(before).toEqual([
    { table_name: "contact", state: "SUCCESS" },
    { table_name: "contact", state: "NEW" },
    { table_name: "lead", state: "NEW" },
  ]);
  expect(await inLog()).toEqual([{ table_name: "lead", state: "NEW" }]);
  expect(await customer.sql("SELECT success, failed FROM salesforce._bridge_totals")).toEqual([
    { success: "0", failed: "0" },
  ]);
});

test("a mapping that is restored in time sends what has waited", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Noether')");
  await customer.retire();
  await customer.provision({ configVersion: 2 });

  const changes = await pushAll(await customer.cycle(), () => sfidOf(1), orgTime(1));

  expect(changes).toMatchObject([{ action: "INSERT", values: { lastname: "Noether" } }]);
});
