import { afterEach, beforeEach, expect, test } from "vitest";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { DeadlinePassed } from "../../../../lib/adapters/postgres/session/session.ts";
import type { CycleStore } from "../../../../lib/sync/ports/cycle-ports.ts";
import { isWholeGrid } from "../../../support/run/whole-grid.ts";
import { type Customer, createCustomer, created, forgetReads, rowsReadOfTheLog } from "../customer.ts";

let customer: Customer;
let open: () => Promise<CycleStore>;
beforeEach(async () => {
  customer = await createCustomer();
  const stores = createCycleStores(() => customer.now);
  open = async () => stores({ url: customer.url, schema: "salesforce" });
});
afterEach(() => customer.close());

const END = { marks: {}, pulledAt: null, apiCalls: {}, error: null };

/** What the end of a cycle says of waiting rows, so many seconds later. */
async function waitingAfter(seconds: number): Promise<number | null> {
  customer.now = new Date(customer.now.getTime() + seconds * 1000);
  const store = await open();
  const asked = { mappingId: "map_contact", work: "cycle", configVersion: 1, owner: "a test", slot: null } as const;
  const begun = await store.begin({ ...asked, leaseSeconds: 30 });
  if (!begun.held) throw new Error(`the lease is not free: ${begun.why}`);
  const end = await store.finish(begun.lease, END);
  await store.close();
  return end.queueDepth;
}

/** A session that is closed here shows what it has read when its server process ends, a moment later. */
async function untilSessionsHaveEnded(): Promise<void> {
  const ours = "datname = current_database() AND application_name LIKE 'bridge%'";
  while ((await customer.asSuperuser(`SELECT FROM pg_stat_activity WHERE ${ours}`)).length > 0);
}

/** Changes that wait, without rows of theirs. */
const capture = (rows: number) =>
  customer.sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, "values")
     SELECT 'INSERT', 'contact', i, '{"lastname": "Curie"}' FROM generate_series(1, $1) i`,
    [rows],
  );

const insert = (rows: number) =>
  customer.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Curie' FROM generate_series(1, $1)", [rows]);

test("every cycle shows how many rows wait, to the row", async () => {
  await capture(9_998);
  expect(await waitingAfter(0)).toBe(9_998);
  await insert(1);
  expect(await waitingAfter(0)).toBe(9_999);
});

test("what is under way does not wait any more", async () => {
  await insert(5);
  const { store, lease } = await customer.cycle();
  const sent = await store.claim(lease, 2);
  await store.markSent(
    lease,
    "a batch",
    sent.map(({ id }) => id),
  );

  const { queueDepth } = await store.finish(lease, END);

  expect(sent).toHaveLength(2);
  expect(queueDepth).toBe(3);
});

test("a long backlog is counted the more rarely the longer it is", async () => {
  await capture(20_000);
  expect(await waitingAfter(0)).toBe(20_000);
  await insert(1);
  expect(await waitingAfter(1)).toBe(20_000);
  expect(await waitingAfter(1)).toBe(20_001);
});

const isCount = (statement: string) => statement.includes("new_ones");
const leases = () => customer.sql("SELECT lease_until FROM salesforce._bridge_state");

test("what waits is counted once the lease is free, and a count that fails is nothing to the cycle", async () => {
  await insert(3);
  const seen: unknown[] = [];
  const counted = await customer.cycle({
    before: async (statement) => {
      if (isCount(statement)) seen.push(...(await leases()));
    },
  });
  const first = await counted.store.finish(counted.lease, END);
  const failing = await customer.cycle({
    before: async (statement) => {
      if (isCount(statement)) throw Object.assign(new Error("canceling statement"), { code: "57014" });
    },
  });

  const second = await failing.store.finish(failing.lease, END);

  expect(seen).toEqual([{ lease_until: null }]);
  expect(first).toMatchObject({ queueDepth: 3 });
  expect(second).toMatchObject({ queueDepth: null, oldestWaitingSeconds: null, refusedWriteBacks: { rows: 0 } });
  expect(await leases()).toEqual([{ lease_until: null }]);
});

test.each([
  ["is canceled", () => Object.assign(new Error("canceling statement"), { code: "57014" })],
  ["waits for a lock", () => Object.assign(new Error("canceling statement"), { code: "55P03" })],
  ["is not answered", () => new DeadlinePassed(16_000)],
])("a count that %s is tried again a quarter of an hour later", async (_, failure) => {
  let counts = 0;
  const store = await customer.store(async (statement) => {
    if (!isCount(statement)) return;
    counts += 1;
    throw failure();
  });
  const cycle = async () => {
    const begun = await store.begin({
      mappingId: "map_contact",
      configVersion: 1,
      work: "cycle",
      owner: "a test",
      slot: null,
      leaseSeconds: 30,
    });
    if (!begun.held) throw new Error(begun.why);
    return (await store.finish(begun.lease, END)).queueDepth;
  };
  const began = customer.now.getTime();

  for (const seconds of [0, 10, 899]) {
    customer.now = new Date(began + seconds * 1000);
    expect(await cycle()).toBeNull();
    expect(counts).toBe(1);
  }
  customer.now = new Date(began + 900_000);
  await cycle();

  expect(counts).toBe(2);
});

test("beats without work count once in half a minute", async () => {
  let counts = 0;
  const store = await customer.store(async (statement) => {
    if (isCount(statement)) counts += 1;
  });
  const beats = [{ mappingId: "map_contact", configVersion: 1 }];
  const depths: (number | null | undefined)[] = [];
  for (const [slot, seconds] of [10, 10, 10, 10].entries()) {
    const ended = await store.endIdle({ slot, beats, unchanged: null });
    depths.push(ended.get("map_contact")?.queueDepth);
    customer.now = new Date(customer.now.getTime() + seconds * 1000);
  }

  expect(depths).toEqual([0, 0, 0, 0]);
  expect(counts).toBe(2);
});

test("a claim of a long backlog reads what it claims, whatever the planner knows of the log", async () => {
  await customer.sql("ALTER TABLE salesforce._trigger_log SET (autovacuum_enabled = off)");
  await capture(20_000);
  const { store, lease } = await customer.cycle();
  await forgetReads(customer);

  expect(await store.claim(lease, 1_000)).toHaveLength(1_000);
  expect(await store.claim(lease, 1_000)).toHaveLength(1_000);
  await store.close();

  // Each is found, compared, written and given out: fewer than five readings a change, and none of what is behind them.
  expect(await rowsReadOfTheLog(customer)).toBeLessThan(5 * 2_000);
});

test("a cycle in which nothing waits passes over what was settled once, and not again", async () => {
  await customer.sql("ALTER TABLE salesforce._trigger_log SET (autovacuum_enabled = off)");
  await insert(5_000);
  const { store, lease } = await customer.cycle();
  const changes = await store.claim(lease, 5_000);
  await store.markSent(
    lease,
    "a batch",
    changes.map(({ id }) => id),
  );
  await store.settle(lease, changes.map(created));
  expect(await store.claim(lease, 5_000)).toEqual([]);
  await store.finish(lease, END);
  await store.close();
  await untilSessionsHaveEnded();
  await forgetReads(customer);

  const next = await customer.cycle();
  expect(await next.store.finish(next.lease, END)).toMatchObject({ queueDepth: 0 });
  await next.store.close();

  expect(await rowsReadOfTheLog(customer)).toBeLessThan(500);
});

const ROWS = isWholeGrid ? 2_000 : 700;

test("new rows get their results by a few readings of each, though the planner saw the log while all were being sent", async () => {
  await customer.sql("ALTER TABLE salesforce._trigger_log SET (autovacuum_enabled = off)");
  await insert(ROWS);
  const { store, lease } = await customer.cycle();
  const changes = await store.claim(lease, ROWS);
  await store.markSent(
    lease,
    "a batch",
    changes.map(({ id }) => id),
  );
  // Other versions of the rows than those that were claimed, as a later cycle finds them that continues a job.
  await customer.sql(`DO $$ BEGIN
    PERFORM set_config('bridge.in_sync', 'contact', true);
    UPDATE salesforce.contact SET lastname = lastname;
  END $$`);
  await customer.sql("VACUUM ANALYZE salesforce._trigger_log, salesforce.contact");
  await forgetReads(customer);

  await store.settle(lease, changes.map(created));
  await store.finish(lease, END);
  await store.close();

  expect(await rowsReadOfTheLog(customer)).toBeLessThan(20 * ROWS);
  expect(await customer.sql("SELECT count(DISTINCT sfid)::int AS records FROM salesforce.contact")).toEqual([
    { records: ROWS },
  ]);
});
