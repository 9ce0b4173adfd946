import { expect, test } from "vitest";
import { eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();

const POLL = "POST /mappings/map_1/poll-now";
const CYCLE = "GET /mappings/map_1/cycles/cyc_1";
const STARTED = { triggered: true, mapping_id: "map_1", message: "Poll cycle started." };
const NOTHING = { asked_at: null, ended_at: null, pulled: null, accepted: null, refused: null, error: null };
const TIMES = { asked_at: "2026-11-20T12:00:00.000Z", ended_at: "2026-11-20T12:00:01.450Z" };
const ONE_READ = { pulled: 1, accepted: 0, refused: 0 };
const ended = (more: object) => ({ ...NOTHING, ...TIMES, state: "ended", ...more });

/** The service starts a cycle, and answers so once it has ended. */
function answers(cycle: object): void {
  world.answer(POLL, STARTED, undefined, { "Bridge-Cycle": "cyc_1" });
  world.answer(CYCLE, cycle);
}

test.each([
  [{ pulled: 3, accepted: 2, refused: 0 }, "2 changes sent, 3 records read, in 1.4 s.", 0],
  [{ pulled: 0, accepted: 1, refused: 4 }, "1 change sent, 4 refused (bridge errors), no records read, in 1.4 s.", 0],
  [
    { ...ONE_READ, error: "aborted" },
    "no changes sent, 1 record read, in 1.4 s. It did not come to its end: aborted",
    10,
  ],
  [{ error: "the org cannot be reached" }, "no cycle has run, after 1.4 s: the org cannot be reached", 10],
])("a poll says what its cycle did: %j", async (outcome, sentence, code) => {
  answers(ended(outcome));

  const asJson = await world.run("poll contact --json");

  expect(await world.run("poll contact")).toMatchObject({ stdout: `Contact: ${sentence}\n`, code });
  expect(JSON.parse(asJson.stdout)).toEqual({ ...STARTED, cycle: ended(outcome) });
  expect(asJson.code).toBe(code);
  expect(world.calls().at(-1)).toBe(`${CYCLE}?wait=20`);
});

test("a cycle that runs already is awaited first, and then one of its own", async () => {
  const runs = { triggered: false, mapping_id: "map_1", message: "A cycle of this mapping is running already." };
  world.answer(POLL, runs, undefined, { "Bridge-Cycle": "lease_7" });
  world.answer("GET /mappings/map_1/cycles/lease_7", {
    ...NOTHING,
    get state() {
      answers(ended({ pulled: 0, accepted: 1, refused: 0 })); // by now it has ended
      return "ended";
    },
  });

  const stdout = "Contact: 1 change sent, no records read, in 1.4 s.\n";
  expect(await world.run("poll contact")).toMatchObject({ code: 0, stdout });
  expect(world.calls(POLL)).toHaveLength(2);
});

test.each([
  ["its own", "cyc_1", true, "the cycle of Contact has not ended within 0 s. It continues without this command"],
  ["the running one", "lease_7", false, "the cycle of Contact that ran already has not ended within 0 s. No other one"],
])("a poll ends with a sentence when the time for %s is over", async (_, mark, triggered, sentence) => {
  world.answer(POLL, { ...STARTED, triggered }, undefined, { "Bridge-Cycle": mark });
  world.answer(`GET /mappings/map_1/cycles/${mark}`, { ...NOTHING, state: "waiting" });

  const { stderr, ...late } = await world.run("poll contact --timeout 0");

  expect(late).toEqual({ code: 10, stdout: "" });
  expect(stderr).toContain(`bridge: ${sentence}`);
  expect(stderr).toContain("wait longer with --timeout");
});

test("a poll that starts nothing, is not to wait, or is of a service that names no cycle, says so at once", async () => {
  const message = "The mapping is not active. Activate it to poll.";
  world.answer(POLL, { triggered: false, mapping_id: "map_1", message });
  const inactive = await world.run("poll contact");
  world.refuse(POLL, 409, "CONFLICT", [], "nothing is polled: the workspace is paused");
  const paused = await world.run("poll contact");
  answers(ended({}));
  const unawaited = await world.run("poll contact --no-wait");
  world.answer(POLL, STARTED);
  const older = await world.run("poll contact");

  expect([inactive.code, inactive.stdout]).toEqual([10, `${message}\n`]);
  expect(paused).toMatchObject({ code: 7, stderr: has("bridge: nothing is polled: the workspace is paused") });
  for (const at of [unawaited, older]) expect(at).toMatchObject({ code: 0, stdout: `${STARTED.message}\n` });
  expect(world.calls(CYCLE)).toEqual([]);
});
