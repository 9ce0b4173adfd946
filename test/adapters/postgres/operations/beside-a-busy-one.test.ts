import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { postgresMonitoring } from "../../../../lib/adapters/postgres/operations/monitoring.ts";
import { rowQueriesOf } from "../../../../lib/adapters/postgres/operations/row-operations.ts";
import { STATES } from "../../../../lib/model/change/change.ts";
import { type Customer, createCustomer, endKeptSessions, forgetReads, rowsReadOfTheLog } from "../customer.ts";

const MANY = 20_000;

/** What the log may be full of, all of it another mapping's: columns and their values. */
const OTHERS = [
  ["settled changes", { state: "'SUCCESS'", last_operation: "'UPDATED'", processed_at: "now()" }],
  ["held deletes", { action: "'DELETE'", state: "'NEW'", held: "true" }],
  [
    "changes whose results are not written back",
    { state: "'SUCCESS'", last_operation: "'UPDATED'", processed_at: "now()", row_owed: "true" },
  ],
] as const;

describe.each(OTHERS)("beside another mapping with many %s", (_, others) => {
  const values = { action: "'UPDATE'", ...others };
  let customer: Customer;
  beforeAll(async () => {
    customer = await createCustomer();
    await customer.sql("ALTER TABLE salesforce._trigger_log SET (autovacuum_enabled = off)");
    await customer.sql(
      `INSERT INTO salesforce._trigger_log (table_name, record_id, ${Object.keys(values).join(", ")})
       SELECT 'lead', i, ${Object.values(values).join(", ")} FROM generate_series(1, ${MANY}) i`,
    );
    await customer.sql("ANALYZE salesforce._trigger_log");
  });
  afterAll(() => customer.close());
  beforeEach(async () => {
    await endKeptSessions(customer);
    await forgetReads(customer);
  });
  test("an idle cycle reads none of them, but to count what waits", async () => {
    const { store, lease } = await customer.cycle();
    await store.recover(lease);
    expect(await store.claim(lease, 2_500)).toEqual([]);
    await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
    await store.close();

    expect(await rowsReadOfTheLog(customer)).toBeLessThan((values.state === "'NEW'" ? MANY : 0) + 100);
  });

  test("pages of the idle one read none of them", async () => {
    const connection = { url: customer.url, schema: "salesforce" };
    const database = await postgresMonitoring(() => customer.now).open(connection);
    const queries = await rowQueriesOf(() => customer.now).open(connection);
    for (const state of [null, ...STATES]) {
      const page = await database.listActivity({ state, table: "contact", limit: 50, offset: 0 });
      expect(page.total).toBe(0);
    }
    expect(await database.listErrors({ table: "contact", limit: 50, offset: 0 })).toMatchObject({ total: 0 });
    expect(await queries.progress()).toMatchObject([{ waiting: 0, failed: 0, heldDeletes: 0 }]);
    expect(await queries.lag("map_contact")).toBeNull();
    expect(await queries.heldDeletes("map_contact", { limit: 50, offset: 0 })).toMatchObject({ total: 0 });
    expect(await queries.confirmDeletes("map_contact", 1_000, null)).toBe(0);

    expect(await rowsReadOfTheLog(customer)).toBeLessThan(100);
  });
});
