import { expect, test } from "vitest";
import type { CycleCount } from "../../../../lib/sync/ports/lease-ports.ts";
import { END } from "../cycles.ts";
import { aCustomerForEachTest, customer, sql } from "../world.ts";

aCustomerForEachTest();

async function cycle(at: string, count: CycleCount, work: "cycle" | "load" = "cycle"): Promise<void> {
  customer.now = new Date(at);
  const { store, lease } = await customer.cycle({ work });
  await store.finish(lease, { ...END, count });
  await store.close();
}

const counts = () =>
  sql(`SELECT to_char(to_timestamp(minute * 60) AT TIME ZONE 'UTC', 'HH24:MI') AS at, well, failed, stopped,
    pulled, accepted, refused FROM salesforce._bridge_cycles ORDER BY minute`);

test("cycles of one minute are counted together, the next minute apart, and a day later again in its row", async () => {
  await cycle("2026-11-20T12:00:01Z", { ended: "well", pulled: 3, accepted: 2, refused: 1 });
  await cycle("2026-11-20T12:00:59Z", { ended: "failed", pulled: 4, accepted: 0, refused: 0 });
  await cycle("2026-11-20T12:01:00Z", { ended: "stopped", pulled: 0, accepted: 0, refused: 0 });

  const nextMinute = { at: "12:01", well: 0, failed: 0, stopped: 1, pulled: 0, accepted: 0, refused: 0 };
  expect(await counts()).toEqual([
    { at: "12:00", well: 1, failed: 1, stopped: 0, pulled: 7, accepted: 2, refused: 1 },
    nextMinute,
  ]);
  await cycle("2026-11-21T12:00:00Z", { ended: "well", pulled: 0, accepted: 0, refused: 0 });
  expect(await counts()).toEqual([nextMinute, { ...nextMinute, at: "12:00", well: 1, stopped: 0 }]);
});

test("what long work reads is counted, and is no cycle", async () => {
  await cycle("2026-11-20T12:00:00Z", { ended: null, pulled: 500, accepted: 0, refused: 0 }, "load");

  await cycle("2026-11-20T12:05:00Z", { ended: null, pulled: 0, accepted: 0, refused: 0 }, "load");

  expect(await counts()).toMatchObject([{ at: "12:00", well: 0, failed: 0, stopped: 0, pulled: 500 }]);
});

test("a cycle that was overtaken has not ended well, and what it moved is counted", async () => {
  const { store, lease } = await customer.cycle();
  await sql("UPDATE salesforce._bridge_state SET fence = fence + 1");

  const count = { ended: "well", pulled: 2, accepted: 0, refused: 0 } as const;
  await expect(store.finish(lease, { ...END, count })).rejects.toThrow();

  expect(await counts()).toMatchObject([{ well: 0, stopped: 1, pulled: 2 }]);
});
