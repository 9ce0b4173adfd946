import { afterEach, beforeEach, expect, test } from "vitest";
import type { ClaimedChange } from "../../../../lib/model/change/change.ts";
import { longTest } from "../../../support/run/whole-grid.ts";
import { type Customer, createCustomer, created, orgTime, pushAll, sfidOf } from "../customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

const insert = (rows: number) =>
  customer.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || i FROM generate_series(1, $1::int) i", [rows]);
const named = async () =>
  (await customer.sql("SELECT ids FROM salesforce._bridge_in_hand ORDER BY ids")).map((row) =>
    (row["ids"] as string[]).map(Number),
  );
const idsOf = (changes: readonly ClaimedChange[]) => changes.map(({ id }) => id);

test("claimed changes are in the registry of pending ones until the last of them is settled, however they end", async () => {
  await insert(3);
  const { store, lease } = await customer.cycle();

  const changes = await store.claim(lease, 10);
  const whenClaimed = await named();
  await store.markSent(lease, "batch", idsOf(changes));
  await store.settle(lease, changes.slice(0, 2).map(created));
  const whenSettledInPart = await named();
  const [last] = changes.slice(2);
  await store.settle(lease, [
    { kind: "retry", changeIds: [Number(last?.id)], recordId: 3, afterSeconds: 60, counts: true, error: "X: later" },
  ]);

  expect([whenClaimed, whenSettledInPart]).toEqual([[[1, 2, 3]], [[1, 2, 3]]]);
  expect(await named()).toEqual([]);
});

test("released changes leave the registry", async () => {
  await insert(3);
  const { store, lease } = await customer.cycle();
  const changes = await store.claim(lease, 2);
  const others = await store.claim(lease, 2);

  await store.release(lease, idsOf(changes));

  expect(await named()).toEqual([idsOf(others)]);
});

test("many changes stay in the registry by their claim until the last of its batches is settled", async () => {
  await insert(2_001);
  const { store, lease } = await customer.cycle();
  const changes = await store.claim(lease, 10_000);

  await store.markSent(lease, "first", idsOf(changes.slice(0, 2_000)));
  await store.settle(lease, changes.slice(0, 2_000).map(created));
  const whenSettledInPart = await named();
  await store.markSent(lease, "second", idsOf(changes.slice(2_000)));
  await store.settle(lease, changes.slice(2_000).map(created));

  expect(whenSettledInPart).toEqual([idsOf(changes)]);
  expect(await named()).toEqual([]);
});

test("what a lost cycle left stays in the registry until the next one has found and settled it", async () => {
  await insert(3);
  const lost = await customer.cycle();
  const changes = await lost.store.claim(lost.lease, 10);
  await lost.store.markSent(lost.lease, "batch", idsOf(changes.slice(0, 1)));
  await customer.sql("UPDATE salesforce._bridge_state SET lease_until = now()");

  const next = await customer.cycle();
  const { doubts } = await next.store.recover(next.lease);
  const whenInDoubt = await named();
  await next.store.settle(next.lease, doubts.flatMap((doubt) => doubt.changes).map(created));
  await next.store.finish(next.lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  const last = await customer.cycle();
  await last.store.recover(last.lease);

  expect(next.begun.waiting.unfinished).toBe(true);
  expect(whenInDoubt).toEqual([[1, 2, 3]]);
  expect(last.begun.waiting.unfinished).toBe(true);
  expect(await named()).toEqual([]);
});

test("changes that could not be released stay in the registry, whatever else of their claim is settled meanwhile", async () => {
  await insert(3);
  let fails = false;
  const { store, lease } = await customer.cycle({
    before: async (statement) => {
      if (fails && statement.includes("THEN 'NEW'")) throw new Error("canceling statement due to timeout");
    },
  });
  const changes = await store.claim(lease, 10);
  await store.markSent(lease, "batch", idsOf(changes.slice(0, 1)));

  fails = true;
  await expect(store.release(lease, idsOf(changes.slice(1)))).rejects.toThrow("timeout");
  await store.settle(lease, changes.slice(0, 1).map(created));
  const whenSettled = await named();
  fails = false;
  await store.release(lease, idsOf(changes.slice(1)));

  expect(whenSettled).toEqual([[1, 2, 3]]);
  expect(await named()).toEqual([]);
  expect(idsOf(await store.claim(lease, 10))).toEqual([2, 3]);
});

test("a PENDING change that was never in the registry is found after the next check of the mapping", async () => {
  await insert(2);
  await customer.sql("UPDATE salesforce._trigger_log SET state = 'PENDING', fence = 0 WHERE id = 2");

  await customer.provision();

  const { store, lease, begun } = await customer.cycle();
  await store.recover(lease);
  expect(begun.waiting.unfinished).toBe(true);
  expect(idsOf(await store.claim(lease, 10))).toEqual([1, 2]);
});

test("changes are claimed, marked and given back in their place, so that no index is written", async () => {
  await insert(10);
  const { store, lease } = await customer.cycle();

  const changes = await store.claim(lease, 20);
  await store.markSent(lease, "batch", idsOf(changes));
  await store.release(lease, idsOf(changes));
  await store.close();

  expect(await updatesOfTheLog()).toEqual({ updated: 30, in_place: 30 });
});

longTest("pages of the log have room for each of their changes to be marked in its place", async ({ skip }) => {
  const [{ version } = {}] = await customer.sql("SELECT current_setting('server_version_num') AS version");
  skip(Number(version) < 140_000, "before PostgreSQL 14 a transaction of any database keeps the old versions of rows");
  await insert(2_500);
  const { store, lease } = await customer.cycle();

  const changes = await store.claim(lease, 2_500);
  await store.markSent(lease, "bulk update 750000000000001AAA", idsOf(changes));
  await store.close();

  expect(await updatesOfTheLog()).toEqual({ updated: 5_000, in_place: 5_000 });
});

longTest(
  "a full page of a mapped table has room for a few rows to be changed, and their results written, in their place",
  async () => {
    await insert(1_000);
    const cycle = await customer.cycle();
    await pushAll(cycle, ({ recordId }) => sfidOf(recordId), orgTime(1));
    await customer.sql("VACUUM FULL salesforce.contact");
    const pages = () => customer.sql("SELECT id, (ctid::text::point)[0] AS page FROM salesforce.contact ORDER BY id");
    const before = await pages();

    await customer.sql("UPDATE salesforce.contact SET lastname = 'Curie' WHERE id % 25 = 0");
    expect(await pages()).toEqual(before);
    expect(await pushAll(cycle, ({ sfid }) => sfid, orgTime(2))).toHaveLength(40);

    expect(await pages()).toEqual(before);
  },
);

/** What PostgreSQL has counted; a connection shows its counts when it ends. */
async function updatesOfTheLog() {
  for (;;) {
    const [row] = await customer.sql(
      `SELECT n_tup_upd::int AS updated, n_tup_hot_upd::int AS in_place FROM pg_stat_user_tables
       WHERE relname = '_trigger_log'`,
    );
    if (Number(row?.["updated"]) > 0) return row;
  }
}
