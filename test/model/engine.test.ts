import { expect, test } from "vitest";
import { afterCycle, type CycleFailure, type EngineState, HEALTHY } from "../../lib/model/engine.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 1, 3, 10, minute));
const outage: CycleFailure = { reason: "salesforce_unavailable", message: "HTTP_503" };
const refused: CycleFailure = { reason: "salesforce_authorization", message: "invalid_grant" };

/** The edges that a row of cycles crosses. */
function edgesOf(failures: readonly (CycleFailure | null)[]): (string | null)[] {
  let state: EngineState = HEALTHY;
  return failures.map((failure, minute) => {
    const after = afterCycle(state, failure, at(minute));
    state = after.state;
    return after.edge;
  });
}

test("three failed cycles in a row are broken, once, and one good cycle recovers, once", () => {
  expect(edgesOf([outage, outage, outage, outage, null, null])).toEqual([
    null,
    null,
    "broken",
    null,
    "recovered",
    null,
  ]);
});

test("failures with good cycles between them break nothing", () => {
  expect(edgesOf([outage, outage, null, outage, outage, null])).toEqual(Array(6).fill(null));
});

test("a refused login, held deletes and what an org says of itself break at once", () => {
  expect(edgesOf([refused])).toEqual(["broken"]);
  for (const reason of ["deletes_held", "api_disabled", "org_read_only", "org_storage_full"] as const)
    expect(edgesOf([{ reason, message: "" }, null])).toEqual(["broken", "recovered"]);
});

test("broken since is when it broke, not when it failed last", () => {
  const broken = [outage, outage, outage, outage].reduce<EngineState>(
    (state, failure, minute) => afterCycle(state, failure, at(minute)).state,
    HEALTHY,
  );

  expect(broken).toMatchObject({ brokenSince: at(2), failedCycles: 4 });
});

test("beats rest a minute after a refused login, and five when the calls are used up", () => {
  expect(afterCycle(HEALTHY, refused, at(0)).state.restUntil).toEqual(at(1));
  expect(afterCycle(HEALTHY, { reason: "salesforce_limit", message: "" }, at(0)).state.restUntil).toEqual(at(5));
  expect(afterCycle(HEALTHY, outage, at(0)).state.restUntil).toBeNull();
});
