import { beforeEach, expect, test } from "vitest";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { DeadlinePassed } from "../../../../lib/adapters/postgres/session/session.ts";
import type { CycleStore } from "../../../../lib/sync/ports/cycle-ports.ts";
import { forgetReads, rowsReadOfTheLog } from "../customer.ts";
import { cycleOn, END, send } from "../cycles.ts";
import { aCustomerForEachTest, connection, customer, insertMany, laterBy, sql } from "../world.ts";

let open: () => Promise<CycleStore>;
aCustomerForEachTest();
beforeEach(() => {
  const stores = createCycleStores(() => customer.now);
  open = async () => stores(connection());
});

const keepOutVacuum = () => sql("ALTER TABLE salesforce._trigger_log SET (autovacuum_enabled = off)");

/** What the end of a cycle says of waiting rows, so many seconds later. */
async function waitingAfter(seconds: number): Promise<number | null> {
  laterBy(seconds);
  const store = await open();
  const { queueDepth } = await cycleOn(store);
  await store.close();
  return queueDepth;
}

/** Changes that wait, without rows of theirs. */
const capture = (rows: number) =>
  sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, "values")
     SELECT 'INSERT', 'contact', i, '{"lastname": "Curie"}' FROM generate_series(1, $1) i`,
    [rows],
  );

test("every cycle shows how many rows wait, to the row; a long backlog is counted the more rarely the longer it is", async () => {
  await capture(9_998);
  expect(await waitingAfter(0)).toBe(9_998);
  await insertMany(1);
  expect(await waitingAfter(0)).toBe(9_999);
  await capture(10_001);
  expect(await waitingAfter(0)).toBe(20_000);
  await insertMany(1);
  expect(await waitingAfter(1)).toBe(20_000);
  expect(await waitingAfter(1)).toBe(20_001);
});

const isCount = (statement: string) => statement.includes("new_ones");
const leases = () => sql("SELECT lease_until FROM salesforce._bridge_state");

test("what waits is counted once the lease is free, and what is under way does not wait any more", async () => {
  await insertMany(5);
  const seen: unknown[] = [];
  const { store, lease } = await customer.cycle({
    before: async (statement) => void (isCount(statement) && seen.push(...(await leases()))),
  });
  await send({ store, lease }, await store.claim(lease, 2));

  expect(await store.finish(lease, END)).toMatchObject({ queueDepth: 3 });
  expect(seen).toEqual([{ lease_until: null }]);
});

test.each([
  ["is canceled", () => Object.assign(new Error("canceling statement"), { code: "57014" })],
  ["waits for a lock", () => Object.assign(new Error("canceling statement"), { code: "55P03" })],
  ["is not answered", () => new DeadlinePassed(16_000)],
])("a count that %s is nothing to the cycle, and tried again a quarter of an hour later", async (_, failure) => {
  let counts = 0;
  const store = await customer.store(async (statement) => {
    if (!isCount(statement)) return;
    counts += 1;
    throw failure();
  });

  for (const seconds of [0, 10, 889]) {
    laterBy(seconds);
    const unknown = { queueDepth: null, oldestWaitingSeconds: null, refusedWriteBacks: { rows: 0 } };
    expect(await cycleOn(store)).toMatchObject(unknown);
    expect(counts).toBe(1);
  }
  laterBy(1);
  await cycleOn(store);

  expect(counts).toBe(2);
  expect(await leases()).toEqual([{ lease_until: null }]);
});

test("beats without work count once in half a minute", async () => {
  let counts = 0;
  const store = await customer.store(async (statement) => void (isCount(statement) && counts++));
  const beats = [{ mappingId: "map_contact", configVersion: 1 }];
  const depths: (number | null | undefined)[] = [];
  for (const slot of [0, 1, 2, 3]) {
    const ended = await store.endIdle({ slot, beats, unchanged: null });
    depths.push(ended.get("map_contact")?.queueDepth);
    laterBy(10);
  }

  expect(depths).toEqual([0, 0, 0, 0]);
  expect(counts).toBe(2);
});

test("a claim of a long backlog reads what it claims, whatever the planner knows of the log", async () => {
  await keepOutVacuum();
  await capture(20_000);
  const { store, lease } = await customer.cycle();
  await forgetReads(customer);

  expect(await store.claim(lease, 1_000)).toHaveLength(1_000);
  expect(await store.claim(lease, 1_000)).toHaveLength(1_000);
  await store.close();

  // Each is found, compared, written and given out: fewer than five readings a change, and none of what is behind them.
  expect(await rowsReadOfTheLog(customer)).toBeLessThan(5 * 2_000);
});
