import { expect, test } from "vitest";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import type { PostgresConnection } from "../../../../lib/model/workspace/workspace.ts";
import { cycleOn } from "../cycles.ts";
import { aCustomerForEachTest, connection, customer, dailyCheck, sql } from "../world.ts";

aCustomerForEachTest();

/** More than one cycle takes away. */
const MANY = 600;

test("changes, conflicts and tombstones stay as many days as the workspace says, each its own", async () => {
  await keepSome(daysAgo(4), MANY);
  await keepSome(daysAgo(2), 5);
  await sql(`INSERT INTO salesforce._bridge_totals VALUES ('contact', ${MANY + 5}, 0)`);

  await cycleWith({ logDays: 3, conflictDays: 5, tombstoneDays: 8 });
  const afterOne = await kept();
  await cycleWith({ logDays: 3, conflictDays: 5, tombstoneDays: 8 });

  expect(afterOne["changes"]).toBe(MANY + 5 - 500);
  expect(await kept()).toEqual({ changes: 5, counted: 5, conflicts: MANY + 5, tombstones: MANY + 5 });

  await cycleWith({ conflictDays: 3 });
  await cycleWith({ conflictDays: 3 });
  expect(await kept()).toEqual({ changes: 5, counted: 5, conflicts: 5, tombstones: MANY + 5 });
});

test("a workspace that says nothing keeps them for 31 days, and what was pushed for a week", async () => {
  const pushed = () => sql("SELECT sfids FROM salesforce._bridge_pushed");
  for (const days of [9, 6])
    await sql("INSERT INTO salesforce._bridge_pushed VALUES ('map_contact', $1, $2)", [daysAgo(days), [days]]);
  for (const days of [32, 30])
    await sql("INSERT INTO salesforce._bridge_history (mapping_id, at, record_id) VALUES ('map_contact', $1, $2)", [
      daysAgo(days),
      days,
    ]);
  await keepSome(daysAgo(32), 3);
  await keepSome(daysAgo(30), 5);
  await sql("INSERT INTO salesforce._bridge_totals VALUES ('contact', 8, 0)");

  await cycleWith(undefined);

  expect(await kept()).toEqual({ changes: 5, counted: 5, conflicts: 5, tombstones: 5 });
  expect(await pushed()).toEqual([{ sfids: ["6"] }]);
  expect(await sql("SELECT record_id::int AS days FROM salesforce._bridge_history")).toEqual([{ days: 30 }]);
});

test("an old refusal stays as long as its row is there without a record, so that its next change sends it whole", async () => {
  await sql("INSERT INTO salesforce.contact (lastname) VALUES ('Refused'), ('Deleted')");
  await sql(
    "UPDATE salesforce._trigger_log SET state = 'FAILED', last_operation = 'FAILED', created_at = $1, processed_at = $1",
    [daysAgo(40)],
  );
  const gone = "DELETE FROM salesforce.contact WHERE lastname = 'Deleted'";
  await customer.asSuperuser(`BEGIN; SET LOCAL session_replication_role = replica; ${gone}; COMMIT`);
  await cycleWith(undefined);
  await dailyCheck({});

  expect(await sql("SELECT \"values\" ->> 'lastname' AS name FROM salesforce._trigger_log")).toEqual([
    { name: "Refused" },
  ]);
});

test("the log is vacuumed as the workspace says, and otherwise as its owner has set it", async () => {
  await sql("ALTER TABLE salesforce._trigger_log SET (autovacuum_vacuum_cost_delay = 7)");
  const before = await options();

  await dailyCheck({});
  const untouched = await options();
  await dailyCheck({ logAutovacuum: { vacuum_scale_factor: 0.02, analyze_threshold: 5_000 } });
  const set = await options();
  await dailyCheck({ logAutovacuum: { vacuum_scale_factor: 0.02, analyze_threshold: 5_000 } });

  expect(untouched).toEqual(before);
  expect(set.options).toEqual([
    ...before.options,
    "autovacuum_vacuum_scale_factor=0.02",
    "autovacuum_analyze_threshold=5000",
  ]);
  expect(await options()).toEqual(set); // nothing was altered again
});

const daysAgo = (days: number) => new Date(customer.now.getTime() - days * 86_400_000);

/** So many of each that ended at that time. */
async function keepSome(at: Date, count: number): Promise<void> {
  const values = [at, count];
  await sql(
    `INSERT INTO salesforce._trigger_log (table_name, record_id, action, state, last_operation, created_at, processed_at)
     SELECT 'contact', i, 'UPDATE', 'SUCCESS', 'UPDATED', $1, $1 FROM generate_series(1, $2::int) i`,
    values,
  );
  await sql(
    `INSERT INTO salesforce._bridge_conflicts (mapping_id, sfid, record_id, winner, at)
     SELECT 'map_contact', '003', i, 'postgres', $1 FROM generate_series(1, $2::int) i`,
    values,
  );
  await sql(
    `INSERT INTO salesforce._bridge_tombstones (mapping_id, sfid, record_id, reason, by_salesforce, deleted_at)
     SELECT 'map_contact', '003', i, 'deleted', true, $1 FROM generate_series(1, $2::int) i`,
    values,
  );
}

async function kept() {
  const [row] = await sql(
    `SELECT (SELECT count(*)::int FROM salesforce._trigger_log) AS changes,
       (SELECT success::int FROM salesforce._bridge_totals) AS counted,
       (SELECT count(*)::int FROM salesforce._bridge_conflicts) AS conflicts,
       (SELECT count(*)::int FROM salesforce._bridge_tombstones) AS tombstones`,
  );
  return row ?? {};
}

/** A cycle that has nothing to do but this. */
async function cycleWith(retention: PostgresConnection["retention"]): Promise<void> {
  const store = createCycleStores(() => customer.now)({ ...connection(), ...(retention && { retention }) });
  await cycleOn(store);
  await store.close();
}

/** The log's storage parameters, and which version of its catalog row they are in. */
async function options() {
  const [row] = await sql(
    "SELECT reloptions AS options, xmin::text AS version FROM pg_class WHERE oid = 'salesforce._trigger_log'::regclass",
  );
  return row as { readonly options: readonly string[]; readonly version: string };
}
