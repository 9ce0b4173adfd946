import { Client } from "pg";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { startPostgres } from "../../../../lib/local/postgres/start-postgres.ts";
import type { CycleCount } from "../../../../lib/sync/ports/lease-ports.ts";
import { temporaryFolder } from "../../../support/run/temporary-folder.ts";
import { longTest } from "../../../support/run/whole-grid.ts";
import { contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer } from "../customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

const END = { marks: {}, pulledAt: null, apiCalls: {}, error: null };

test("cycles of one minute are counted together, the next minute apart", async () => {
  await cycle("2026-11-20T12:00:01Z", { ended: "well", pulled: 3, accepted: 2, refused: 1 });
  await cycle("2026-11-20T12:00:59Z", { ended: "failed", pulled: 4, accepted: 0, refused: 0 });
  await cycle("2026-11-20T12:01:00Z", { ended: "stopped", pulled: 0, accepted: 0, refused: 0 });

  expect(await counts()).toEqual([
    { at: "12:00", well: 1, failed: 1, stopped: 0, pulled: 7, accepted: 2, refused: 1 },
    { at: "12:01", well: 0, failed: 0, stopped: 1, pulled: 0, accepted: 0, refused: 0 },
  ]);
});

test("what long work reads is counted, and is no cycle", async () => {
  await cycle("2026-11-20T12:00:00Z", { ended: null, pulled: 500, accepted: 0, refused: 0 }, "load");

  await cycle("2026-11-20T12:05:00Z", { ...NOTHING, ended: null }, "load");

  expect(await counts()).toMatchObject([{ at: "12:00", well: 0, failed: 0, stopped: 0, pulled: 500 }]);
});

test("a cycle that was overtaken has not ended well, and what it moved is counted", async () => {
  const { store, lease } = await customer.cycle();
  await customer.sql("UPDATE salesforce._bridge_state SET fence = fence + 1");

  await expect(
    store.finish(lease, { ...END, count: { ended: "well", pulled: 2, accepted: 0, refused: 0 } }),
  ).rejects.toThrow();

  expect(await counts()).toMatchObject([{ well: 0, stopped: 1, pulled: 2 }]);
});

test("a day later the minute begins again in its row", async () => {
  await cycle("2026-11-19T12:00:00Z", { ended: "failed", pulled: 9, accepted: 9, refused: 9 });
  await cycle("2026-11-20T12:00:00Z", { ended: "well", pulled: 0, accepted: 0, refused: 0 });

  expect(await counts()).toMatchObject([{ well: 1, failed: 0, pulled: 0, accepted: 0, refused: 0 }]);
});

longTest(
  "a thousand cycles that are counted in one row leave a page of the table and none more of its key",
  async () => {
    // While any session of the server has written something and not committed it, in whatever database, PostgreSQL takes no old
    // version of a row away; and none while it takes a table's statistics.
    const postgres = await startPostgres({ dataDir: temporaryFolder(), settings: { autovacuum: "off", fsync: "off" } });
    onTestFinished(() => postgres.close());
    const [shape, connection] = [contactShape(), { url: postgres.url, schema: "salesforce" }];
    const now = () => new Date("2026-11-20T12:00:00Z");
    await createProvisioner(connection, now).provision(mappingOf(shape), shape);
    const store = await createCycleStores(now)(connection);
    for (let beat = 0; beat < 1000; beat += 1) {
      const request = { mappingId: "map_contact", configVersion: 1, owner: "a test", slot: null, leaseSeconds: 30 };
      const begun = await store.begin({ ...request, work: "cycle" });
      if (begun.held) await store.finish(begun.lease, { ...END, count: NOTHING });
    }
    await store.close();

    const client = new Client({ connectionString: postgres.url });
    await client.connect();
    const { rows } = await client.query(`SELECT (SELECT sum(well)::int FROM salesforce._bridge_cycles) AS well,
    pg_relation_size('salesforce._bridge_cycles')::int AS rows,
    pg_relation_size('salesforce._bridge_cycles_pkey')::int AS key`);
    await client.end();
    expect(rows).toEqual([{ well: 1000, rows: 8192, key: 16_384 }]);
  },
);

const NOTHING: CycleCount = { ended: "well", pulled: 0, accepted: 0, refused: 0 };

async function cycle(at: string, count: CycleCount, work: "cycle" | "load" = "cycle"): Promise<void> {
  customer.now = new Date(at);
  const { store, lease } = await customer.cycle({ work });
  await store.finish(lease, { ...END, count });
  await store.close();
}

const counts = () =>
  customer.sql(`SELECT to_char(to_timestamp(minute * 60) AT TIME ZONE 'UTC', 'HH24:MI') AS at, well, failed, stopped,
    pulled, accepted, refused FROM salesforce._bridge_cycles ORDER BY minute`);
