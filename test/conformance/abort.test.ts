import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type ContractWorld, startContractWorld } from "./world.ts";

let world: ContractWorld;
beforeAll(async () => {
  world = await startContractWorld({ controls: true });
});
afterAll(() => world.close());

const ROWS = 1000;
const BATCH = 200;

test("an abort ends a running cycle within one batch and gives back what was not sent", async () => {
  // Each save of contacts takes its time, so that the cycle can be met at work.
  await fault({ kind: "drip", path: "POST /services/Soap", times: 0, milliseconds: 1500 });
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, email) SELECT 'C' || n, n || '@example.com' FROM generate_series(1, $1::int) AS n",
    [ROWS],
  );
  await world.data("POST", `/mappings/${world.contactId}/poll-now`);
  await vi.waitFor(async () => expect(await states()).toHaveProperty("PENDING"), { timeout: 20_000, interval: 50 });
  const sentBefore = await sent();

  const result = await world.data("POST", `/mappings/${world.contactId}/abort`);

  expect(result).toEqual({ aborted: true });
  await vi.waitFor(async () => expect(await states()).not.toHaveProperty("PENDING"), { timeout: 30_000, interval: 50 });
  expect((await sent()) - sentBefore).toBeLessThanOrEqual(2 * BATCH);
  const [audit] = await world.data<{ action: string }[]>("GET", "/audit-log?limit=1");
  expect(audit?.action).toBe("mapping.poll_aborted");

  await world.bridge.org.control("DELETE", "/faults");
  await vi.waitFor(async () => expect(await states()).toEqual({ SUCCESS: ROWS }), { timeout: 60_000, interval: 250 });
}, 180_000);

const fault = (order: object) => world.bridge.org.control("POST", "/faults", order);

async function states(): Promise<Record<string, number>> {
  const rows = await world.sql<{ state: string; rows: number }>(
    "SELECT state, count(*)::int AS rows FROM salesforce._trigger_log GROUP BY state",
  );
  return Object.fromEntries(rows.map(({ state, rows: count }) => [state, count]));
}

async function sent(): Promise<number> {
  const [row] = await world.sql<{ rows: number }>(
    "SELECT count(*)::int AS rows FROM salesforce._trigger_log WHERE sent_at IS NOT NULL",
  );
  return row?.rows ?? 0;
}
