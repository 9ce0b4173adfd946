import { describe, expect, test } from "vitest";
import { type Budget, FRESH_BUDGET } from "../../../lib/model/calls/budget.ts";
import { isPullDue } from "../../../lib/model/calls/interval.ts";
import type { Asked, Read } from "../../../lib/model/calls/next-pull.ts";
import { isBlind, isDue, isDueAgain, isPullNoted, nextPull } from "../../../lib/model/calls/next-pull.ts";
import { DEFAULT_SHARE, planCalls } from "../../../lib/model/calls/plan.ts";
import { contactShape, mappingOf } from "../../support/worlds/shapes.ts";

const now = new Date("2026-11-20T10:00:00Z");
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);

const mapping = mappingOf(contactShape());
const toSalesforce = mappingOf(contactShape({ direction: "pg_to_sf" }));

const usage = { used: 0, limit: 15_000, at: now };
const plan = planCalls({ now, usage, share: DEFAULT_SHARE, hours: [], mappings: [{ everySeconds: 10, queries: 1 }] });
const planned = (more: object): Budget => ({ ...FRESH_BUDGET, plan: { ...plan, ...more } });

/** A mapping that was pulled 20 s ago, and has changed then. */
const read = (more: Partial<Read["marks"]> = {}, lastPullAt: Date | null = ago(20)): Read => ({
  marks: { position: ago(80), slow: ago(40), lanes: { changed: { stamp: ago(20) } }, ...more },
  lastPullAt,
});

const BEAT: Asked = { kind: "beat", slot: now.getTime() / 1000, wakes: undefined, hasChanges: false, hasNews: null };
const RING = { ...BEAT, kind: "pull", slot: null, wakes: "pull" } as const;
const NUDGE = { ...BEAT, kind: "pull", slot: null, wakes: "push" } as const;
const CHANGED = { ...BEAT, hasChanges: true };
const RESTED = read({ lanes: { changed: { stamp: ago(400) } } }, ago(20.001));
const whenQuiet = { ...FRESH_BUDGET, whenQuiet: 60 };
const POLL = { ...BEAT, kind: "poll", slot: null } as const;

describe("a cycle pulls", () => {
  test.each<[string, Partial<Asked>, Read, Budget, ReturnType<typeof nextPull>]>([
    ["a beat after an interval, if the probe finds news", BEAT, read(), FRESH_BUDGET, "probe"],
    ["a beat within its interval", BEAT, read({}, ago(0)), FRESH_BUDGET, "never"],
    ["a beat whose probe has found news", { ...BEAT, hasNews: true }, read({}, ago(0)), FRESH_BUDGET, "now"],
    ["a beat whose probe has found none", { ...BEAT, hasNews: false }, read(), FRESH_BUDGET, "never"],
    ["a beat before the first load has ended", BEAT, read({ position: null }), FRESH_BUDGET, "never"],
    ["a beat after all rows were captured as changed", BEAT, read({ slow: null }, ago(0)), FRESH_BUDGET, "now"],
    ["a beat without a slot", { ...BEAT, slot: null }, read({}, ago(0)), FRESH_BUDGET, "now"],
    ["a poll by hand", POLL, read({}, ago(0)), FRESH_BUDGET, "now"],
    ["a beat with changes before two notes are missing", CHANGED, read({}, ago(80)), FRESH_BUDGET, "probe"],
    ["a beat with changes after two intervals and a note", CHANGED, read({}, ago(80.001)), FRESH_BUDGET, "now"],
    ["a beat with changes after two intervals of rest", CHANGED, RESTED, whenQuiet, "now"],
    ["a nudge with changes later", { ...NUDGE, hasChanges: true }, read({}, ago(81)), FRESH_BUDGET, "now"],
    ["a nudge with changes sooner", { ...NUDGE, hasChanges: true }, read({}, ago(79)), FRESH_BUDGET, "never"],
    ["a ring two seconds after the last pull", RING, read({}, ago(2)), FRESH_BUDGET, "now"],
    ["a ring one second after the last pull", RING, read({}, ago(1)), FRESH_BUDGET, new Date(now.getTime() + 1000)],
    ["a ring where the share is short", RING, read({}, ago(2)), planned({ ringSeconds: 10 }), ago(-8)],
    ["a ring where the next poll comes as soon", RING, read(), planned({ ringSeconds: 240 }), "never"],
  ])("%s", (_, asked, known, budget, next) => {
    expect(nextPull(budget, mapping, known, { ...BEAT, ...asked }, now)).toEqual(next);
  });

  test("never where a mapping does not read", () => {
    for (const asked of [BEAT, RING, NUDGE, POLL, { ...BEAT, hasNews: true }, { ...NUDGE, hasChanges: true }])
      expect(nextPull(FRESH_BUDGET, toSalesforce, read({ slow: null }), asked, now)).toBe("never");
  });
});

describe("a poll is due", () => {
  const rung: Budget["doorbell"] = {
    madeAt: ago(900),
    pepper: 1,
    heard: new Map([[mapping.id, { rungAt: ago(60), aliveSince: ago(600), missedAt: null }]]),
  };
  const quiet = { lanes: { changed: { stamp: ago(300) } } };
  const busy = { lanes: { changed: { stamp: ago(299) } } };
  const unknown = { lanes: {} };

  test.each<[string, Partial<typeof mapping>, Partial<Budget>, Read, number]>([
    ["ten seconds", {}, {}, read(), 10],
    ["its own interval", { pollingSeconds: 600 }, {}, read(), 600],
    ["its interval when quiet, five minutes after a change", { whenQuietSeconds: 60 }, {}, read(quiet), 60],
    ["the workspace's interval when quiet", {}, { whenQuiet: 90 }, read(quiet), 90],
    ["ten seconds before these five minutes are over", {}, { whenQuiet: 90 }, read(busy), 10],
    ["the interval when quiet where no change is known", {}, { whenQuiet: 90 }, read(unknown), 90],
    [
      "its own interval when quiet before the workspace's",
      { whenQuietSeconds: 10 },
      { whenQuiet: 90 },
      read(quiet),
      10,
    ],
    ["its own interval where that when quiet is shorter", { pollingSeconds: 600 }, { whenQuiet: 20 }, read(quiet), 600],
    ["four minutes where its doorbell works", { notifyEnabled: true }, { doorbell: rung }, read(), 240],
    ["ten seconds where it is switched off", {}, { doorbell: rung }, read(), 10],
  ])("after %s", (_, settings, budget, known, seconds) => {
    const of = (lastPullAt: Date) =>
      isDue({ ...FRESH_BUDGET, ...budget }, { ...mapping, ...settings }, { ...known, lastPullAt }, now);

    const times = Array.from({ length: seconds + 1 }, (_, at) => ago(at));
    expect(times.map(of)).toEqual(times.map((at) => isPullDue(mapping.workspaceId, seconds, at, now)));
  });

  test("during a push, by its interval and by a ring", () => {
    const bell = { ...FRESH_BUDGET, doorbell: rung };
    const own = { ...mapping, notifyEnabled: true };

    expect(isDueAgain(FRESH_BUDGET, mapping, read(), now)).toEqual({ poll: true, ring: false });
    expect(isDueAgain(FRESH_BUDGET, mapping, read({}, ago(0)), now)).toEqual({ poll: false, ring: false });
    expect(isDueAgain(bell, own, read({}, ago(2)), now)).toEqual({ poll: false, ring: true });
    expect(isDueAgain(bell, own, read({}, ago(1)), now)).toEqual({ poll: false, ring: false });
  });
});

test.each([
  ["it was pulled ten minutes ago", read({}, ago(600)), false],
  ["it was pulled longer ago", read({}, ago(600.001)), true],
  ["it was never pulled", read({}, null), false],
  ["all rows were captured as changed", read({ slow: null }, ago(1)), true],
])("a push waits for a whole pull where %s: %s", (_, known, blind) => {
  expect(isBlind(known, now)).toBe(blind);
});

test.each<[string, Read, Budget, boolean]>([
  ["was never pulled", read({}, null), FRESH_BUDGET, true],
  ["is pulled at each beat, and was noted a moment ago", read({}, ago(54.9)), FRESH_BUDGET, false],
  ["is pulled at each beat, and was noted a minute ago", read({}, ago(55)), FRESH_BUDGET, true],
  ["rests between pulls", RESTED, whenQuiet, true],
])("a pull without news is noted of a mapping that %s: %#", (_, known, budget, isNoted) => {
  expect(isPullNoted(budget, mapping, known, now)).toBe(isNoted);
});
