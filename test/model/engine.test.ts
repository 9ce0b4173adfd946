import { expect, test } from "vitest";
import type { CycleFailure, EngineState } from "../../lib/model/engine.ts";
import { afterCycle, afterDeath, afterLoad, deathsAlone, HEALTHY, isSameState } from "../../lib/model/engine.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 1, 3, 10, minute));
const outage: CycleFailure = { reason: "salesforce_unavailable", message: "HTTP_503" };
const refused: CycleFailure = { reason: "salesforce_authorization", message: "invalid_grant" };

/** The edges that a row of cycles crosses, and the state after it. */
function live(failures: readonly (CycleFailure | null)[], after: typeof afterCycle = afterCycle) {
  let state: EngineState = HEALTHY;
  const edges = failures.map((failure, minute) => {
    const next = after(state, failure, at(minute));
    state = next.state;
    return next.edge;
  });
  return { edges, state };
}
const edgesOf = (failures: readonly (CycleFailure | null)[]) => live(failures).edges;

test("three failed cycles in a row are broken, once, since the third, and one good cycle recovers, once", () => {
  const edges = [null, null, "broken", null, "recovered", null];
  expect(edgesOf([outage, outage, outage, outage, null, null])).toEqual(edges);
  expect(edgesOf([outage, outage, null, outage, outage, null])).toEqual(Array(6).fill(null));
  expect(live(Array(4).fill(outage)).state).toMatchObject({ brokenSince: at(2), failedCycles: 4 });
});

const missing: CycleFailure = { reason: "salesforce_schema", message: "INVALID_FIELD" };

test("loads that fail between good cycles break after three, once, and neither recovers what the other has broken", () => {
  type Step = readonly ["cycle" | "load", CycleFailure | null, "broken" | "recovered" | null];
  const steps: readonly Step[] = [
    ["load", missing, null],
    ["cycle", null, null],
    ["load", missing, null],
    ["cycle", null, null],
    ["load", missing, "broken"],
    ["cycle", null, null],
    ["cycle", outage, null],
    ["cycle", outage, null],
    ["cycle", outage, null],
    ["load", null, null], // the cycles are broken by now
    ["cycle", null, "recovered"],
    ["cycle", refused, "broken"],
    ["load", missing, null],
    ["load", missing, null],
    ["cycle", null, "recovered"], // two failed loads break nothing
    ["load", missing, "broken"],
    ["load", missing, null],
    ["load", null, "recovered"],
  ];
  let state: EngineState = HEALTHY;
  for (const [index, [what, failure, edge]] of steps.entries()) {
    const after = what === "load" ? afterLoad(state, failure, at(index)) : afterCycle(state, failure, at(index), true);
    expect.soft([index, after.edge]).toEqual([index, edge]);
    state = after.state;
  }
  expect(state).toEqual(HEALTHY);
});

test("a cycle that ends well forgets the failures of loads of which nothing is left to do, and beside a load that fails writes nothing", () => {
  const failedTwice = live([missing, missing], afterLoad).state;
  const broken = live([missing, missing, missing], afterLoad).state;

  expect(afterCycle(broken, null, at(4), false)).toEqual({ state: HEALTHY, edge: "recovered" });

  for (const one of [HEALTHY, failedTwice, broken])
    expect(isSameState(one, afterCycle(one, null, at(3), true).state)).toBe(true);
  expect(isSameState(failedTwice, broken)).toBe(false);
  expect(isSameState(broken, afterLoad(broken, null, at(3)).state)).toBe(false);
});

test("a refused login and what an org says of itself break at once", () => {
  expect(edgesOf([refused])).toEqual(["broken"]);
  const ofTheDatabase = ["capture_off", "rows_hidden", "column_gone", "table_gone"] as const;
  for (const reason of [...ofTheDatabase, "api_disabled", "org_read_only", "org_storage_full"] as const)
    expect(edgesOf([{ reason, message: "" }, null])).toEqual(["broken", "recovered"]);
});

test("no cycle begins for a minute after a refused login, and for five when the calls are used up", () => {
  expect(afterCycle(HEALTHY, refused, at(0)).state.restUntil).toEqual(at(1));
  expect(afterCycle(HEALTHY, { reason: "salesforce_limit", message: "" }, at(0)).state.restUntil).toEqual(at(5));
  expect(afterCycle(HEALTHY, outage, at(0)).state.restUntil).toBeNull();
});

test("deaths of its function count within a day of each other, from the second on", () => {
  const at = (hours: number) => new Date(hours * 3_600_000);
  const dead = (before: EngineState, hours: number) => ({ ...before, deaths: afterDeath(before, at(hours)) });
  const once = dead(HEALTHY, 0);

  expect([deathsAlone(once, at(1)), deathsAlone(dead(once, 25), at(26))]).toEqual([0, 0]);
  expect([46, 47].map((hours) => deathsAlone(dead(once, 23), at(hours)))).toEqual([2, 0]);
});
