import { beforeEach, expect, test } from "vitest";
import { orgTime, pushAll, sfidOf } from "../customer.ts";
import { cycleOn } from "../cycles.ts";
import { aCustomerForEachTest, customer, insert, sql } from "../world.ts";

aCustomerForEachTest();
beforeEach(() => {
  customer.now = new Date(); // PostgreSQL stamps the application's changes by its own clock
});

const LEAD = { mappingId: "map_lead", table: "lead", sfObject: "Lead" };

/** Long work of the other mapping, so many days from now. */
async function longWorkAfter(days: number): Promise<void> {
  customer.now = new Date(Date.now() + days * 86_400_000);
  const store = await customer.store();
  await cycleOn(store, { mappingId: "map_lead", work: "load" });
  await store.close();
}

const inLog = () => sql("SELECT table_name, state FROM salesforce._trigger_log ORDER BY id");

test("what a deleted mapping left in the log stays for 31 days, then goes with the next long work of another", async () => {
  await insert("Curie");
  await pushAll(await customer.cycle(), () => sfidOf(1), orgTime(1));
  await insert("Noether");
  await customer.retire();
  await customer.provision(LEAD);
  await sql("INSERT INTO salesforce.lead (lastname) VALUES ('Germain')");

  await longWorkAfter(30);
  const before = await inLog();
  await longWorkAfter(32);

  expect(before).toEqual([
    { table_name: "contact", state: "SUCCESS" },
    { table_name: "contact", state: "NEW" },
    { table_name: "lead", state: "NEW" },
  ]);
  expect(await inLog()).toEqual([{ table_name: "lead", state: "NEW" }]);
  expect(await sql("SELECT success, failed FROM salesforce._bridge_totals")).toEqual([{ success: "0", failed: "0" }]);
});

test("old changes are deleted, however many newer ones come before them in the log", async () => {
  await customer.provision(LEAD);
  const capturedAgo = (days: number, firstRow: number, count: number) =>
    sql(
      `INSERT INTO salesforce._trigger_log (action, table_name, record_id, created_at)
       SELECT 'UPDATE', 'contact', $1 + i, now() - make_interval(days => $2) FROM generate_series(1, $3) i`,
      [firstRow, days, count],
    );
  await capturedAgo(1, 0, 5_000);
  await capturedAgo(40, 50_000, 10);
  await sql("INSERT INTO salesforce._bridge_totals VALUES ('contact', 0, 0) ON CONFLICT DO NOTHING");
  await customer.retire();

  await longWorkAfter(0);

  expect(await sql("SELECT count(*)::int AS left FROM salesforce._trigger_log")).toEqual([{ left: 5_000 }]);
});

test("what was kept for a deleted mapping's records is deleted when it is old, and what is kept for others stays", async () => {
  await customer.provision(LEAD);
  for (const mapping of ["map_contact", "map_lead"])
    await sql(`INSERT INTO salesforce._bridge_pushed VALUES ('${mapping}', now(), '{003A}');
      INSERT INTO salesforce._bridge_tombstones (mapping_id, sfid, record_id, reason, by_salesforce, deleted_at)
        VALUES ('${mapping}', '003A', 1, 'deleted', true, now());
      INSERT INTO salesforce._bridge_conflicts (mapping_id, sfid, record_id, winner, at)
        VALUES ('${mapping}', '003A', 1, 'postgres', now());
      INSERT INTO salesforce._bridge_inbound_errors (mapping_id, sfid, error, first_at, last_at)
        VALUES ('${mapping}', '003A', 'too long', now(), now());
      INSERT INTO salesforce._bridge_held_deletes VALUES ('${mapping}', '003A', now(), now(), now())`);
  const kept = async (mapping: string) => {
    const tables = ["pushed", "tombstones", "conflicts", "inbound_errors", "held_deletes"];
    const counts = tables.map((table) =>
      sql(`SELECT count(*)::int AS n FROM salesforce._bridge_${table} WHERE mapping_id = $1`, [mapping]),
    );
    return (await Promise.all(counts)).map(([row]) => row?.["n"]);
  };
  await customer.retire();

  await longWorkAfter(30);
  const before = await kept("map_contact");
  await longWorkAfter(32);

  expect(before).toEqual([1, 1, 1, 1, 1]);
  expect(await kept("map_contact")).toEqual([0, 0, 0, 0, 0]);
  // Of a mapping that lives, the breaker's and the inbound errors wait for an operator; all else has its own time.
  expect(await kept("map_lead")).toEqual([0, 0, 0, 1, 1]);
});
