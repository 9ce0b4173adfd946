import { expect, test } from "vitest";
import { created } from "../customer.ts";
import { idsOf, numbersTo, retriedIn, send } from "../cycles.ts";
import { aCustomerForEachTest, customer, insertMany, sql } from "../world.ts";

aCustomerForEachTest();

const named = async () =>
  (await sql("SELECT ids FROM salesforce._bridge_in_hand ORDER BY ids")).map((row) =>
    (row["ids"] as string[]).map(Number),
  );

test("claimed changes are in the registry of pending ones until the last of their batches is settled, however they end", async () => {
  await insertMany(2_001);
  const { store, lease } = await customer.cycle();

  const changes = await store.claim(lease, 10_000);
  await send({ store, lease }, changes.slice(0, 2_000), "first");
  await store.settle(lease, changes.slice(0, 2_000).map(created));
  const whenSettledInPart = await named();
  await send({ store, lease }, changes.slice(2_000), "second");
  await store.settle(
    lease,
    changes.slice(2_000).map((change) => retriedIn(60, change)),
  );

  expect(whenSettledInPart).toEqual([numbersTo(2_001)]);
  expect(await named()).toEqual([]);
});

test("released changes leave the registry, and are claimed again at once", async () => {
  await insertMany(3);
  const { store, lease } = await customer.cycle();
  const changes = await store.claim(lease, 2);
  await store.claim(lease, 2);

  await store.release(lease, idsOf(changes));

  expect(await named()).toEqual([[3]]);
  expect(idsOf(await store.claim(lease, 10))).toEqual(idsOf(changes));
});

test("changes that could not be released stay in the registry, whatever else of their claim is settled meanwhile", async () => {
  await insertMany(3);
  let fails = false;
  const { store, lease } = await customer.cycle({
    before: async (statement) => {
      if (fails && statement.includes("THEN 'NEW'")) throw new Error("canceling statement due to timeout");
    },
  });
  const changes = await store.claim(lease, 10);
  await send({ store, lease }, changes.slice(0, 1));

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
  await insertMany(2);
  await sql("UPDATE salesforce._trigger_log SET state = 'PENDING', fence = 0 WHERE id = 2");

  await customer.provision();

  const { store, lease, begun } = await customer.cycle();
  await store.recover(lease);
  expect(begun.waiting.unfinished).toBe(true);
  expect(idsOf(await store.claim(lease, 10))).toEqual([1, 2]);
});
