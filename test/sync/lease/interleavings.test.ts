import fc from "fast-check";
import { expect, test } from "vitest";
import { FRESH_BUDGET } from "../../../lib/model/calls/budget.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { runCycle } from "../../../lib/sync/run-cycle.ts";
import { ModelClock } from "../../support/doubles/model-clock.ts";
import { type Fate, ModelOrg } from "../../support/doubles/model-org.ts";
import { ModelStore } from "../../support/doubles/model-store.ts";
import { NOTHING_SHARED } from "../../support/doubles/nothing-shared.ts";
import { column, contactShape } from "../../support/worlds/shapes.ts";

/**
 * Cycles of one mapping that overlap, stall past their lease, die and lose answers, in a thousand orders of their steps.
 * The cycle is the real one; its store and its org are models of their rules.
 */
const SCHEDULES = 1_000;

interface Story {
  /** By the row, what the application, or a page of long work, does in order. */
  readonly writes: readonly { readonly recordId: number; readonly action: "write" | "delete" | "merge" }[];
  /** Seconds that pass, one after the other. */
  readonly times: readonly number[];
  readonly fates: readonly Fate[];
  /** Invocations: the step before which each dies, if it does. */
  readonly workers: readonly (number | null)[];
  readonly hasKey: boolean;
}

const story: fc.Arbitrary<Story> = fc.record({
  writes: fc.array(
    fc.record({
      recordId: fc.integer({ min: 1, max: 3 }),
      action: fc.constantFrom("write", "write", "write", "delete", "merge"),
    }),
    { minLength: 2, maxLength: 8 },
  ),
  times: fc.array(fc.constantFrom(1, 4, 11, 31, 45, 700), { minLength: 2, maxLength: 10 }),
  fates: fc.array(
    fc.constantFrom<Fate>("answered", "answered", "answered", "never arrives", "answer lost", "commits late"),
    {
      minLength: 1,
      maxLength: 8,
    },
  ),
  workers: fc.array(fc.option(fc.integer({ min: 1, max: 30 })), { minLength: 2, maxLength: 4 }),
  hasKey: fc.boolean(),
});

const mapping = { id: "map_contact", configVersion: 1, syncDirection: "pg_to_sf", pollingSeconds: 10 } as Mapping;

interface Played {
  readonly wrong: readonly string[];
  readonly met: ModelStore["met"];
}

/** Runs a story in the order that the scheduler chooses, then advances time until nothing waits. */
async function play(scheduler: fc.Scheduler, chosen: Story): Promise<Played> {
  const clock = new ModelClock();
  const columns = [column("Key__c"), column("LastName", { nillable: false })];
  const shape = contactShape({ direction: "pg_to_sf", columns, upsertField: chosen.hasKey ? "Key__c" : null });
  const store = new ModelStore(clock, shape);
  const org = new ModelOrg(clock);
  const fates = [...chosen.fates];
  const step = async (label: string) => {
    await scheduler.schedule(Promise.resolve(), label);
  };

  const cycle = (stepping: (label: string) => Promise<void>) =>
    runCycle(
      {
        store: store.opened(stepping),
        salesforce: org.connected(stepping, () => fates.shift() ?? "answered"),
        shared: NOTHING_SHARED,
        clock,
        random: () => 0,
      },
      {
        mapping,
        kind: "poll",
        saves: "all",
        callSize: 200,
        hasToPull: null,
        highWater: [],
        rewoundAt: null,
        slot: null,
        writers: async () => ["005000000000001AAA"],
        budget: FRESH_BUDGET,
        owner: "test",
        deadline: clock.now() + 180_000,
      },
    );

  const tasks = [
    ...chosen.workers.map(async (dies, worker) => {
      for (let turn = 0; turn < 2; turn++) {
        await step(`worker ${worker} wakes up`);
        await cycle(dyingAt(step, dies));
      }
    }),
    (async () => {
      for (const { recordId, action } of chosen.writes) {
        await step("the application writes");
        if (action === "merge") store.merge(recordId);
        else store.write(recordId, action);
      }
    })(),
    (async () => {
      for (const seconds of chosen.times) {
        await step(`${seconds} s pass`);
        clock.pass(seconds);
      }
    })(),
  ];
  // Those that die never come to an end.
  for (const task of tasks) task.catch(() => undefined);
  await scheduler.waitIdle();
  fates.length = 0;
  for (let turn = 0; turn < 12 && !(turn > 2 && store.isSettled()); turn++) {
    clock.pass(turn % 3 === 2 ? 700 : 65);
    await cycle(async () => undefined);
  }
  clock.pass(1_200);
  return { wrong: wrongIn(store, org), met: store.met };
}

function dyingAt(step: (label: string) => Promise<void>, dies: number | null) {
  let steps = 0;
  return async (label: string) => {
    await step(label);
    steps += 1;
    if (dies !== null && steps >= dies) await new Promise(() => undefined);
  };
}

/** Nothing lost, nothing doubled, nothing written over by what is older. */
function wrongIn(store: ModelStore, org: ModelOrg): string[] {
  const wrong = org.stale.map((write) => `stale: ${write}`);
  for (const { id, state } of store.log) if (state !== "SUCCESS") wrong.push(`change ${id} ended ${state}`);
  const living = org.records.filter(({ isDeleted }) => !isDeleted);
  for (const row of store.rows.values()) {
    const own = living.find(({ id }) => id === row.sfid);
    if (own?.name !== row.name) wrong.push(`row ${row.recordId} holds ${row.name}, its record ${own?.name}`);
  }
  if (living.length !== store.rows.size) wrong.push(`${living.length} records for ${store.rows.size} rows`);
  return wrong;
}

test("claim, lease and fence keep every change, once and in order, in a thousand schedules of overlapping, dying and stalled cycles", async () => {
  const schedulesWith = { doubts: 0, lostLeases: 0, takenOver: 0 };
  const property = fc.asyncProperty(fc.scheduler(), story, async (scheduler, chosen) => {
    const { wrong, met } = await play(scheduler, chosen);
    for (const danger of ["doubts", "lostLeases", "takenOver"] as const)
      if (met[danger] > 0) schedulesWith[danger] += 1;
    expect(wrong).toEqual([]);
  });

  await fc.assert(property, { numRuns: SCHEDULES });

  for (const schedules of Object.values(schedulesWith)) expect(schedules).toBeGreaterThan(SCHEDULES / 40);
});
