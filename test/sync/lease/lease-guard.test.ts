import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { endBy, guardLease } from "../../../lib/sync/lease/lease-guard.ts";
import type { CycleStore } from "../../../lib/sync/ports/cycle-ports.ts";
import { ModelClock } from "../../support/doubles/model-clock.ts";

const LEASE = { mappingId: "map_1", work: "cycle", fence: 1, owner: "test", configVersion: 1 } as const;

/** How many seconds a read may take with so many left of the invocation; null: it is not begun. */
async function readSeconds(left: number): Promise<number | null> {
  const clock = new ModelClock();
  const store = { renew: async () => "held" } as unknown as CycleStore;
  const hold = guardLease(store, LEASE, clock, clock.now() + left * 1000);
  try {
    await hold.mayRead();
  } catch {
    return null;
  }
  return await hold.during(async (milliseconds) => milliseconds / 1000);
}

test("a save is begun if it can end within its function, and only right after a renewal", async () => {
  const clock = new ModelClock();
  const saves = (left: number, markSeconds: number, answer = "held") => {
    const store = { renew: async () => answer } as unknown as CycleStore;
    const guard = guardLease(store, LEASE, clock, clock.now() + left * 1000);
    const mark = async () => {
      clock.pass(markSeconds);
      return "held" as const;
    };
    return guard.maySave(mark).then(
      () => "saved",
      (error: unknown) => endBy(error).stopped,
    );
  };

  expect([await saves(121, 0), await saves(119, 0)]).toEqual(["saved", "out of time"]);
  // Frozen for 40 seconds while it marked: its lease may have a new holder.
  expect([await saves(300, 4, "lost"), await saves(300, 40, "lost")]).toEqual(["saved", "lost"]);
  expect(await saves(300, 40)).toBe("saved");
});

test("the lease is renewed every ten seconds for as long as a call takes, and no longer", async () => {
  const clock = new ModelClock();
  let renewals = 0;
  const store = { renew: async () => (++renewals ? "held" : "lost") } as unknown as CycleStore;

  await guardLease(store, LEASE, clock, clock.now() + 300_000).during(async () => {
    for (let tens = 1; tens <= 11; tens += 1) {
      clock.pass(10);
      await setImmediate();
    }
  });
  clock.pass(60);
  expect(renewals).toBe(11);
});

test.each([
  [900, 110],
  [180, 110],
  [125, 110],
  [100, 85],
  [31, 16],
  [29, null],
])(
  "with %i seconds left of an invocation a read may take %s, so that its page can still be applied",
  async (left, seconds) => {
    expect(await readSeconds(left)).toBe(seconds);
  },
);
