import { expect, test } from "vitest";
import { CONTACT, eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();

const hour = (sf_object: string, of: number, calls: number, changes: number) => ({
  ...{ mapping_id: `map_${sf_object}`, sf_object, at: `2026-02-03T${of}:00:00.000Z`, calls, changes },
});
const budget = {
  ...{ calls_used: 9_700, calls_limit: 15_000, allowed_calls: 12_000, own_calls: 9_599 },
  ...{ forecast_calls_per_day: 8_646, pace: "normal", pace_seconds: 10, since: null },
  hours: [hour("Contact", 10, 20, 7), hour("Account", 10, 361, 0), hour("Account", 11, 360, 5)],
  with_doorbells: { calls_per_day: 366, pace_seconds: 10 },
};
const since = "2026-02-03T14:20:00.000Z";
const spent = { own_calls: 12_000, pace: "waiting", pace_seconds: 3_600, since };

test("the budget shows what each object's mapping has spent and all would cost with doorbells, warns, and ends well", async () => {
  world.answer("GET /monitoring/budget", budget);
  const { stdout, stderr } = await world.run("budget --no-color");

  expect(stdout).toMatch(/Account +721 +5 +361 from 2026-02-03[T ]10:00:00.*\n.*Contact +20 +7 /);
  expect(stdout).toMatch(/with doorbells calls per day +366\n/);
  expect(stderr).toBe(""); // 9,599 of 12,000 are not yet 80 %
  for (const [more, says] of [
    [{ forecast_calls_per_day: 16_640 }, "The forecast of 16640 calls a day is above the org's 15000"],
    [{ own_calls: 9_600 }, "Bridge has made 9600 of the 12000 calls of its share in 24 hours."],
    [spent, `Bridge's share was spent at ${since}: rows wait, pulls come every 3600 s.`],
  ] as const) {
    world.answer("GET /monitoring/budget", { ...budget, ...more });
    const warned = await world.run("budget");
    expect(warned).toMatchObject({ code: 0, stderr: has(says) });
    if (more === spent) expect(warned.stderr).not.toContain("Bridge has made");
  }
});

test("a change of a mapping that costs more of the org's calls says so before it is saved, and no other", async () => {
  const settings = { fields: ["LastName"], calls_per_day: 147, sync_direction: "read_only", filter: null };
  world.answer("GET /mappings/map_1", { ...CONTACT, ...settings, sf_polling_seconds: 600, when_quiet_seconds: null });
  world.answer("PATCH /mappings/map_1", { ...CONTACT, state: "ready" });
  world.answer("GET /monitoring/budget", { with_mapping: { own_calls_per_day: 8_643 } });

  const { stderr } = await world.run("mapping update contact --interval 10");

  expect(stderr).toContain("That costs 8643 of the org's API calls a day while nothing changes, 8496 more than now.");
  const calls = world.calls();
  const asking = calls.findIndex((call) => call.startsWith("GET /monitoring/budget"));
  expect(calls[asking]).toMatch(/mapping_id=map_1.*sf_polling_seconds=10&/);
  expect(asking).toBeLessThan(calls.indexOf("PATCH /mappings/map_1"));
  world.answer("GET /monitoring/budget", { with_mapping: { own_calls_per_day: 75 } });
  const cheaper = await world.run("mapping update contact --interval 1200");
  world.refuse("GET /monitoring/budget", 503, "UNAVAILABLE");
  const unknown = await world.run("mapping update contact --interval 10");
  for (const { code, stderr } of [cheaper, unknown])
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("costs")]);
});

const org = { calls_limit: 15_000, allowed_calls: 12_000, pace_seconds: 10 };
const unknown = { calls_limit: null, allowed_calls: null, pace_seconds: null };

test.each([
  [{}, ["8655 a day", "(0 now)", "57.7 % of the org's 15000", "may make 12000: pulls come as configured"]],
  [{ pace_seconds: 43 }, ["may make 12000: pulls come at least 43 s apart"]],
  [unknown, ["The org has not reported its limit yet", "count against the org's limit, as Heroku Connect's do not"]],
])("the plan of an import says its calls, with %o", async (more, said) => {
  const planned = { created: 5, updated: 0, skipped: 0, changes: [], warnings: [] };
  const calls = { calls_per_day: 8_655, calls_per_day_now: 0, ...org, ...more };
  world.answer("POST /config/import", { ...planned, calls });

  const { stderr } = await world.run(`config plan ${world.line.file("document.json", "{}")}`);

  for (const words of said) expect(stderr).toContain(words);
});
