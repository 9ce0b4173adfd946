import { afterEach, beforeEach, expect, test } from "vitest";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
  world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Contact", pg_table: "contact" }]);
});
afterEach(() => world.close());

const POLL = "POST /mappings/map_1/poll-now";
const CYCLE = "GET /mappings/map_1/cycles/cyc_1";
const STARTED = { triggered: true, mapping_id: "map_1", message: "Poll cycle started." };
const NOTHING = { asked_at: null, ended_at: null, pulled: null, accepted: null, refused: null, error: null };
const TIMES = { asked_at: "2026-11-20T12:00:00.000Z", ended_at: "2026-11-20T12:00:01.450Z" };
const ended = (more: object) => ({ ...NOTHING, ...TIMES, state: "ended", ...more });

/** The service starts a cycle, and answers so once it has ended. */
function answers(cycle: object): void {
  world.answer(POLL, STARTED, undefined, { "Bridge-Cycle": "cyc_1" });
  world.answer(CYCLE, cycle);
}

test.each([
  [{ pulled: 3, accepted: 2, refused: 0 }, "Contact: 2 changes sent, 3 records read, in 1.4 s.", 0],
  [{ pulled: 0, accepted: 0, refused: 0 }, "Contact: no changes sent, no records read, in 1.4 s.", 0],
  [
    { pulled: 0, accepted: 1, refused: 4 },
    "Contact: 1 change sent, 4 refused (bridge errors), no records read, in 1.4 s.",
    0,
  ],
  [
    { pulled: 1, accepted: 0, refused: 0, error: "it was aborted" },
    "Contact: no changes sent, 1 record read, in 1.4 s. It did not come to its end: it was aborted",
    10,
  ],
  [{ error: "the org cannot be reached" }, "Contact: no cycle has run, after 1.4 s: the org cannot be reached", 10],
])("a poll says what its cycle did: %j", async (outcome, sentence, code) => {
  answers(ended(outcome));

  const said = await world.line.run(["poll", "contact"]);
  const asJson = await world.line.run(["poll", "contact", "--json"]);

  expect([said.stdout, said.code]).toEqual([`${sentence}\n`, code]);
  expect(JSON.parse(asJson.stdout)).toEqual({ ...STARTED, cycle: ended(outcome) });
  expect(asJson.code).toBe(code);
  expect(world.asked.at(-1)?.call).toBe(`${CYCLE}?wait=20`);
});

test("a cycle that runs already is awaited first, and then one of its own", async () => {
  const runs = { triggered: false, mapping_id: "map_1", message: "A cycle of this mapping is running already." };
  world.answer(POLL, runs, undefined, { "Bridge-Cycle": "lease_7" });
  const polls = () => world.asked.filter(({ call }) => call === POLL).length;
  world.answer("GET /mappings/map_1/cycles/lease_7", {
    ...NOTHING,
    get state() {
      answers(ended({ pulled: 0, accepted: 1, refused: 0 })); // by now it has ended
      return "ended";
    },
  });

  const { stdout, code } = await world.line.run(["poll", "contact"]);

  expect([stdout, code]).toEqual(["Contact: 1 change sent, no records read, in 1.4 s.\n", 0]);
  expect(polls()).toBe(2);
});

test.each([
  ["its own", "cyc_1", true, "the cycle of Contact has not ended within 0 s. It continues without this command"],
  ["the running one", "lease_7", false, "the cycle of Contact that ran already has not ended within 0 s. No other one"],
])("a poll ends with a sentence when the time for %s is over", async (_, mark, triggered, sentence) => {
  world.answer(POLL, { ...STARTED, triggered }, undefined, { "Bridge-Cycle": mark });
  world.answer(`GET /mappings/map_1/cycles/${mark}`, { ...NOTHING, state: "waiting" });

  const { stderr, stdout, code } = await world.line.run(["poll", "contact", "--timeout", "0"]);

  expect([code, stdout]).toEqual([10, ""]);
  expect(stderr).toContain(`bridge: ${sentence}`);
  expect(stderr).toContain("wait longer with --timeout");
});

test("a poll that starts nothing says why at once: inactive, without its table, or paused", async () => {
  const message = "The mapping is not active. Activate it to poll.";
  world.answer(POLL, { triggered: false, mapping_id: "map_1", message });
  const inactive = await world.line.run(["poll", "contact"]);
  world.refuse(POLL, 409, "CONFLICT", [], "nothing is polled: the workspace is paused");
  const paused = await world.line.run(["poll", "contact"]);

  expect([inactive.code, inactive.stdout]).toEqual([10, `${message}\n`]);
  expect(paused.code).toBe(7);
  expect(paused.stderr).toContain("bridge: nothing is polled: the workspace is paused");
});

test("a poll that is not to wait, or at a service that names no cycle, ends at once", async () => {
  answers(ended({}));
  const unawaited = await world.line.run(["poll", "contact", "--no-wait"]);
  world.answer(POLL, STARTED);
  const older = await world.line.run(["poll", "contact"]);

  for (const { code, stdout } of [unawaited, older]) expect([code, stdout]).toEqual([0, `${STARTED.message}\n`]);
  expect(world.asked.filter(({ call }) => call.startsWith(CYCLE))).toEqual([]);
});

test("a poll's time limit is a whole number of seconds", async () => {
  expect((await world.line.run(["poll", "contact", "--timeout", "soon"])).code).toBe(6);
});
