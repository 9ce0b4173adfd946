import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
});
afterEach(() => world.close());

const hour = (sf_object: string, at: string, calls: number, changes: number) => ({
  ...{ mapping_id: `map_${sf_object}`, sf_object, at, calls, changes },
});

const budget = {
  ...{ calls_used: 9_700, calls_limit: 15_000, allowed_calls: 12_000, own_calls: 9_599 },
  ...{ forecast_calls_per_day: 8_646, pace: "normal", pace_seconds: 10, since: null },
  hours: [
    hour("Contact", "2026-02-03T09:00:00.000Z", 20, 7),
    hour("Account", "2026-02-03T09:00:00.000Z", 361, 0),
    hour("Account", "2026-02-03T10:00:00.000Z", 360, 5),
  ],
  with_doorbells: { calls_per_day: 366, pace_seconds: 10 },
};

describe("budget", () => {
  test("shows what each object's mapping has spent, and what all would cost with doorbells", async () => {
    world.answer("GET /monitoring/budget", budget);

    const { stdout, stderr } = await world.line.run(["budget", "--no-color"]);

    expect(stdout).toMatch(/Account +721 +5 +361 from 2026-02-03[T ]09:00:00.*\n.*Contact +20 +7 /);
    expect(stdout).toMatch(/with doorbells calls per day +366\n/);
    expect(stderr).toBe(""); // 9,599 of 12,000 are not yet 80 %
  });

  test("warns from 80 % of the share on, and says since when the share is spent", async () => {
    world.answer("GET /monitoring/budget", { ...budget, own_calls: 9_600 });
    const much = await world.line.run(["budget"]);
    const since = "2026-02-03T14:20:00.000Z";
    world.answer("GET /monitoring/budget", {
      ...budget,
      own_calls: 12_000,
      pace: "waiting",
      pace_seconds: 3_600,
      since,
    });
    const spent = await world.line.run(["budget"]);

    expect(much.stderr).toContain("Bridge has made 9600 of the 12000 calls of its share in 24 hours.");
    expect(spent.stderr).toContain(`Bridge's share was spent at ${since}: rows wait, pulls come every 3600 s.`);
    expect(spent.stderr).not.toContain("Bridge has made");
  });
});

describe("a change of a mapping", () => {
  const mapping = { id: "map_1", sf_object: "Lead", pg_table: "lead", state: "ready" };
  const current = {
    ...{ ...mapping, fields: ["LastName"], calls_per_day: 147, sync_direction: "read_only", filter: null },
    ...{ sf_polling_seconds: 600, when_quiet_seconds: null },
  };
  beforeEach(() => {
    world.answer("GET /monitoring/mappings", [mapping]);
    world.answer("GET /mappings/map_1", current);
    world.answer("PATCH /mappings/map_1", mapping);
    world.answer("GET /monitoring/budget", { with_mapping: { own_calls_per_day: 8_643 } });
  });

  test("that costs more of the org's calls says so before it is saved", async () => {
    const { stderr } = await world.line.run(["mapping", "update", "lead", "--interval", "10"]);

    expect(stderr).toContain("That costs 8643 of the org's API calls a day while nothing changes, 8496 more than now.");
    const calls = world.asked.map(({ call }) => call);
    const asking = calls.findIndex((call) => call.startsWith("GET /monitoring/budget"));
    expect(calls[asking]).toMatch(/mapping_id=map_1.*sf_polling_seconds=10&/);
    expect(asking).toBeLessThan(calls.indexOf("PATCH /mappings/map_1"));
  });

  test("that costs no more, or whose cost is unknown, is applied without a question", async () => {
    world.refuse("GET /monitoring/budget", 503, "UNAVAILABLE");
    const unknown = await world.line.run(["mapping", "update", "lead", "--interval", "10"]);
    world.answer("GET /monitoring/budget", { with_mapping: { own_calls_per_day: 75 } });
    const cheaper = await world.line.run(["mapping", "update", "lead", "--interval", "1200"]);

    expect([unknown.code, unknown.stderr, cheaper.code, cheaper.stderr]).toEqual([
      ...[0, expect.not.stringContaining("costs"), 0, expect.not.stringContaining("costs")],
    ]);
  });
});

describe("the plan of an import", () => {
  const planned = { created: 5, updated: 0, skipped: 0, changes: [], warnings: [] };
  const calls = {
    ...{ calls_per_day: 8_655, calls_per_day_now: 0, calls_limit: 15_000, allowed_calls: 12_000, pace_seconds: 10 },
  };

  test.each([
    [calls, ["8655 a day", "(0 now)", "57.7 % of the org's 15000", "may make 12000: pulls come as configured"]],
    [{ ...calls, pace_seconds: 43 }, ["may make 12000: pulls come at least 43 s apart"]],
    [
      { ...calls, calls_limit: null, allowed_calls: null, pace_seconds: null },
      ["The org has not reported its limit yet", "count against the org's limit, as Heroku Connect's do not"],
    ],
  ])("says the calls of %o", async (calls, said) => {
    world.answer("POST /config/import", { ...planned, calls });
    const file = world.line.file("document.json", "{}");

    const { stderr } = await world.line.run(["config", "plan", file]);

    for (const words of said) expect(stderr).toContain(words);
  });
});
