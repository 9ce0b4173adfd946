import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type CyclesMessage, cyclesIn, type Outgoing, type TickMessage } from "../../../lib/model/messages.ts";
import { fanOut } from "../../../lib/sync/beat/fan-out.ts";
import { fillTicks, sendMissing } from "../../../lib/sync/beat/missing-beats.ts";
import type { Ticks } from "../../../lib/sync/ports/schedule-ports.ts";

const WORKSPACE = "ws_h"; // its periods begin four minutes after each five, its slots four seconds after each ten
const BEGIN = Date.parse("2026-02-03T10:00:00Z") / 1000;
const MINUTE = 60;

interface Story {
  readonly minutes: number;
  readonly mappings?: number;
  /** The minute in which the mappings become active. */
  readonly activeFrom?: number;
  /** How often the tick of this time (seconds from the beginning) comes; once unless given. */
  readonly comes?: (at: number) => number;
  /** Minutes between two ticks: 5, or 1 by a version before. */
  readonly every?: number;
  /** Seconds that each schedule fires late, below 60. */
  readonly late?: (at: number) => number;
}

interface Beats {
  /** The slots (seconds from the beginning) that had a beat in time, each mapping's in their order. */
  readonly slots: ReadonlyMap<string, readonly number[]>;
  readonly messages: readonly CyclesMessage[];
  /** The minutes in which the sweep sent beats. */
  readonly filled: readonly number[];
}

/** Schedules, fan-out and sweep, second by second. */
async function beatsOf(story: Story): Promise<Beats> {
  const { minutes, mappings = 1, activeFrom = 0, comes = () => 1, every = 5, late = () => 59 } = story;
  const ids = Array.from({ length: mappings }, (_, at) => `map_${at}`);
  const active = ids.map((id) => ({ id, workspaceId: WORKSPACE, provisioning: { state: "ready" } }) as Mapping);
  const noted = new Map<string, number>();
  const ticks: Ticks = {
    note: async (_, some, period) => {
      for (const id of some) noted.set(id, period);
    },
    read: async () => new Map(noted),
  };
  let now = 0;
  const messages: CyclesMessage[] = [];
  const kept = new Map<string, number[]>(ids.map((id) => [id, []]));
  const send = async (sent: readonly Outgoing<CyclesMessage>[]) => {
    for (const { message, delaySeconds = 0 } of sent) {
      if (delaySeconds > 900) throw new Error("SQS holds back no message for so long");
      messages.push(message);
      const slot = (message.slot ?? 0) - BEGIN;
      if (now + delaySeconds - slot > 20) continue; // it would be dropped
      for (const { mapping_id } of cyclesIn(message)) kept.get(mapping_id)?.push(slot);
    }
  };
  const clock = { now: () => (BEGIN + now) * 1000 };
  const needs = { cycles: { send }, ticks, now: () => new Date(clock.now()), log: () => undefined };
  const coming: { readonly at: number; readonly tick: TickMessage }[] = [];
  const filled: number[] = [];
  for (now = 0; now < minutes * MINUTE; now += 1) {
    const minute = now / MINUTE;
    if (minute === activeFrom) for (const id of ids) await sendMissing(needs, WORKSPACE, [id]);
    if (Number.isInteger(minute) && minute > activeFrom && minute % every === 4 % every)
      for (const mapping_id of ids)
        for (let time = 0; time < comes(now); time += 1) {
          const scheduled_at = new Date(clock.now()).toISOString();
          coming.push({ at: now + late(now) + 75, tick: { workspace_id: WORKSPACE, mapping_id, scheduled_at } });
        }
    const came = coming.filter(({ at }) => at === now).map(({ tick }) => tick);
    if (came.length > 0) await fanOut({ cycles: { send }, ticks, clock }, came);
    if (minute > activeFrom && now % MINUTE === 37 && (await fillTicks(needs, active)) > 0)
      filled.push(Math.floor(minute));
  }
  const slots = new Map([...kept].map(([id, all]) => [id, all.toSorted((one, other) => one - other)]));
  return { slots, messages, filled };
}

/** Every ten seconds from the first beat on, as far as all ticks of the story reach. */
function expectEverySlot({ slots }: Beats, until: number, from = 0) {
  for (const [id, all] of slots) {
    const once = [...new Set(all)].filter((slot) => slot < until * MINUTE);
    expect(once[0], id).toBeLessThanOrEqual(from * MINUTE + 10);
    expect(once, id).toEqual(once.map((_, at) => (once[0] ?? 0) + at * 10));
    expect(once.at(-1), id).toBeGreaterThanOrEqual(until * MINUTE - 10);
  }
}

const doubled = ({ slots }: Beats) => [...slots.values()].map((all) => all.length - new Set(all).size);

test.each([5, 1])(
  "a tick every %i minutes, one as a version before sends them, gives a beat every ten seconds, each once",
  async (every) => {
    const beats = await beatsOf({ minutes: 60, every });

    expectEverySlot(beats, 60);
    expect(doubled(beats)).toEqual([0]);
    expect(beats.filled).toEqual([]);
  },
);

test("however late schedules fire, and whenever a mapping becomes active, no slot is without a beat", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 9 }), async (late, activeFrom) => {
      expectEverySlot(await beatsOf({ minutes: 40, activeFrom, late: () => late }), 40, activeFrom);
    }),
    { numRuns: 20 },
  );
});

describe("ticks that get lost", () => {
  test("one: the sweep sends its beats before the first of them is due", async () => {
    const beats = await beatsOf({ minutes: 60, comes: (at) => (at === 24 * MINUTE ? 0 : 1) });

    expectEverySlot(beats, 60);
    expect(doubled(beats)).toEqual([0]);
    expect(beats.filled).toEqual([26]);
  });

  test("all, for an hour: beats continue by the sweep alone", async () => {
    const beats = await beatsOf({ minutes: 90, comes: (at) => (at > 20 * MINUTE && at < 80 * MINUTE ? 0 : 1) });

    expectEverySlot(beats, 90);
    expect(beats.filled).toHaveLength(12);
  });

  test("those of one mapping of many: the others' beats are sent once", async () => {
    const beats = await beatsOf({ minutes: 30, mappings: 63 });

    const slots = Map.groupBy(beats.messages, ({ slot }) => (slot ?? 0) - BEGIN);
    expect(slots.get(20 * MINUTE + 4)?.map((message) => cyclesIn(message).length)).toEqual([50, 13]);
    expectEverySlot(beats, 30);
  });
});

test("a tick that comes twice at different times sends beats twice, which the lease of each cycle bears", async () => {
  let times = 0;
  const beats = await beatsOf({ minutes: 60, comes: () => 2, late: () => (times++ % 2) * 30 });

  expectEverySlot(beats, 60);
  expect(Math.max(...[...beats.slots.values()].map((all) => all.filter((one) => one === all[100]).length))).toBe(2);
});

test("a mapping of a version before, of which no tick was noted, has its beats with the first sweep", async () => {
  const beats = await beatsOf({ minutes: 30, activeFrom: -1, comes: (at) => (at < 5 * MINUTE ? 0 : 1) });

  expectEverySlot(beats, 30, 1);
  expect(beats.filled[0]).toBe(0);
});

test("ticks share messages by workspace and period, a tick that came twice or between two periods adds none, and what was sent is noted", async () => {
  const [one, other] = ["ws_d", "ws_e"]; // their periods begin at 10:00 and 10:01
  const tick = (workspace_id: string, mapping_id: string, time: string): TickMessage => ({
    ...{ workspace_id, mapping_id, scheduled_at: `2026-02-03T${time}:00Z` },
  });
  const sent: CyclesMessage[] = [];
  const noted: Parameters<Ticks["note"]>[] = [];
  const cycles = {
    send: async (messages: readonly Outgoing<CyclesMessage>[]) =>
      void sent.push(...messages.map(({ message }) => message)),
  };
  const note = async (...what: Parameters<Ticks["note"]>) => void noted.push(what);
  const clock = { now: () => Date.parse("2026-02-03T10:00:15Z") };

  await fanOut({ cycles, ticks: { note }, clock }, [
    ...[tick(one, "map_1", "10:00"), tick(one, "map_2", "10:00"), tick(one, "map_1", "10:00")],
    ...[tick(one, "map_late", "10:01"), tick(other, "map_3", "10:01"), tick(one, "map_4", "09:55")],
  ]);

  const ids = sent.map((message) =>
    cyclesIn(message)
      .map(({ mapping_id }) => mapping_id)
      .join(),
  );
  expect(ids.toSorted()).toEqual(["map_1,map_2", "map_3", "map_4"].flatMap((some) => Array(30).fill(some)));
  const at = (time: string) => Date.parse(`2026-02-03T${time}:00Z`) / 1000;
  expect(noted).toEqual([
    [one, ["map_1", "map_2"], at("10:00")],
    [other, ["map_3"], at("10:01")],
    [one, ["map_4"], at("09:55")],
  ]);
});
