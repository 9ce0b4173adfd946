import { afterEach, beforeEach, expect, test } from "vitest";
import type { ClaimedChange } from "../../../lib/sync/ports.ts";
import { type Customer, createCustomer, orgTime, sfidOf } from "./customer.ts";

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
const accepted = (changes: readonly ClaimedChange[]) =>
  changes.map(
    ({ id, recordId, action }) =>
      ({
        kind: "accepted",
        changeIds: [id],
        recordId,
        action,
        sfid: sfidOf(recordId),
        answeredAt: orgTime(1),
      }) as const,
  );

test("what is claimed is named until the last of it is settled, whichever way it ends", async () => {
  await insert(3);
  const { store, lease } = await customer.cycle();

  const changes = await store.claim(lease, 10);
  const whenClaimed = await named();
  await store.markSent(lease, "batch", idsOf(changes));
  await store.settle(lease, accepted(changes.slice(0, 2)));
  const whenSettledInPart = await named();
  const [last] = changes.slice(2);
  await store.settle(lease, [
    { kind: "retry", changeIds: [Number(last?.id)], recordId: 3, afterSeconds: 60, counts: true, error: "X: later" },
  ]);

  expect([whenClaimed, whenSettledInPart]).toEqual([[[1, 2, 3]], [[1, 2, 3]]]);
  expect(await named()).toEqual([]);
});

test("what is given back is not named any more", async () => {
  await insert(3);
  const { store, lease } = await customer.cycle();
  const changes = await store.claim(lease, 2);
  const others = await store.claim(lease, 2);

  await store.release(lease, idsOf(changes));

  expect(await named()).toEqual([idsOf(others)]);
});

test("many changes are named by the batch that they are sent in", async () => {
  await insert(2_001);
  const { store, lease } = await customer.cycle();
  const changes = await store.claim(lease, 10_000);
  const whenRead = await named();

  await store.markSent(lease, "first", idsOf(changes.slice(0, 2)));
  await store.markSent(lease, "second", idsOf(changes.slice(2, 3)));
  const whenMarked = await named();
  await store.settle(lease, accepted(changes.slice(0, 2)));

  expect([whenRead, whenMarked]).toEqual([[], [[1, 2], [3]]]);
  expect(await named()).toEqual([[3]]);
});

test("what a lost cycle left is named until the next one has taken it up and settled it", async () => {
  await insert(3);
  const lost = await customer.cycle();
  const changes = await lost.store.claim(lost.lease, 10);
  await lost.store.markSent(lost.lease, "batch", idsOf(changes.slice(0, 1)));
  await customer.sql("UPDATE salesforce._bridge_state SET lease_until = now()");

  const next = await customer.cycle();
  const { doubts } = await next.store.recover(next.lease);
  const whenInDoubt = await named();
  await next.store.settle(next.lease, accepted(doubts.flatMap((doubt) => doubt.changes)));
  await next.store.finish(next.lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  const last = await customer.cycle();
  await last.store.recover(last.lease);

  expect(next.begun.waiting.unfinished).toBe(true);
  expect(whenInDoubt).toEqual([[1, 2, 3]]);
  expect(last.begun.waiting.unfinished).toBe(true);
  expect(await named()).toEqual([]);
});

test("changes are claimed, marked and given back in their place, so that no index is written", async () => {
  await insert(100);
  const { store, lease } = await customer.cycle();

  const changes = await store.claim(lease, 200);
  await store.markSent(lease, "batch", idsOf(changes));
  await store.release(lease, idsOf(changes));
  await store.close();

  const { updated, in_place } = await updatesOfTheLog();
  expect(updated).toBe(300);
  // Where a page still holds what somebody might read, a change moves to another one.
  expect(in_place).toBeGreaterThan(270);
});

/** What PostgreSQL has counted; a connection tells its counts when it ends. */
async function updatesOfTheLog(): Promise<{ readonly updated: number; readonly in_place: number }> {
  for (;;) {
    const [row] = await customer.sql(
      `SELECT n_tup_upd::int AS updated, n_tup_hot_upd::int AS in_place FROM pg_stat_user_tables
       WHERE relname = '_trigger_log'`,
    );
    if (Number(row?.["updated"]) > 0) return { updated: Number(row?.["updated"]), in_place: Number(row?.["in_place"]) };
  }
}
