import { describe, expect, test } from "vitest";
import type { Plan } from "../../../lib/model/calls/plan.ts";
import { plannedBudget } from "../../support/doubles/planned-budget.ts";
import { eachInAWorld, LOST, world } from "../world.ts";

eachInAWorld(() => world.mapContact(["External_Id__c", "LastName"], { upsertField: "External_Id__c" }));

/** A plan that leaves so much. */
async function planned(plan: Partial<Plan>): Promise<void> {
  await world.pass(1);
  const usage = { used: 86, limit: 100, at: new Date(world.cloud.clock.now()) };
  await world.services.engine.saveBudget(world.workspaceId, async () => plannedBudget(usage, plan));
}

test("pulls keep to the pace of the plan, and rows still go out", async () => {
  await world.cycles();
  await world.create("New there");
  await world.insertKeyed(1);
  await planned({ paceSeconds: 3_000 });
  const there = () => world.sql("SELECT FROM salesforce.contact WHERE lastname = 'New there'");

  await world.cycle(world.contact, "beat");
  expect([await world.states(), await there()]).toEqual([["SUCCESS"], []]);

  await world.cycle(world.contact, "poll");
  expect(await there()).toHaveLength(1);
});

test("once the share is spent rows wait, changes in doubt as well, but not for manual polls", async () => {
  await world.insertKeyed(1);
  await world.fault(LOST);
  await world.cycles();
  await world.insertKeyed(1, 1);
  await planned({ paceSeconds: 3_600, pushCalls: 0, spareCalls: 0 });
  const before = await world.requests();

  await world.cycle(world.contact, "beat");

  expect([await world.states(), (await world.requests()) - before]).toEqual([["PENDING", "NEW"], 0]);
  await world.cycle(world.contact, "poll");
  expect(await world.states()).toEqual(["SUCCESS", "SUCCESS"]);
});

describe("calls that run low", () => {
  const shown = async () => {
    const { state, reason } = (await world.shown())[0] ?? {};
    return { state, reason };
  };
  const lines = () => world.log.filter(({ event }) => event === "budget");
  const orgHasUsed = (used: number) => world.control("PUT", "/calls", { used });
  const beats = async () => {
    for (let cycles = 0; cycles < 4; cycles++) {
      await world.pass(60);
      await world.cycle(world.contact, "poll");
    }
  };

  test("are reported once for each change of the pace, not for each cycle, with what is held back", async () => {
    await world.cycles();
    await orgHasUsed(14_000);
    await beats();

    expect(lines()).toMatchObject([{ level: "warn", calls_limit: 15_000, pace: "stretched" }]);
    const reason = expect.stringMatching(
      /^Salesforce counts 140\d\d of 15000 API calls in 24 hours, Bridge \d of the \d+ that are left to its share \(80 % of them\): pulls of a mapping come every \d+ s/,
    );
    expect(await shown()).toEqual({ state: "sparing_calls", reason });

    await orgHasUsed(100);
    await beats();
    expect(lines().map(({ level, pace }) => [level, pace])).toEqual([
      ["warn", "stretched"],
      ["info", "normal"],
    ]);
    expect(await shown()).toEqual({ state: "running", reason: null });
  });

  test("stretch pulls until there are more, whatever the plan before says", async () => {
    await world.cycles();
    await orgHasUsed(14_000);
    await beats();

    expect(lines().map(({ pace }) => pace)).toEqual(["stretched"]);
  });

  test("are counted by mapping and hour, and the plan knows of them", async () => {
    await world.insertKeyed(1);
    await world.cycles();
    await world.pass(3_600);
    await world.cycles();
    await world.pass(60);
    await world.cycles();
    await world.pass(60);
    await world.cycles();

    const [{ hours } = { hours: [] }] = await world.services.counters.hours(world.workspaceId);
    const all = Math.max(...hours.map(({ calls }) => calls));
    const [kept] = await world.sql("SELECT api_calls FROM salesforce._bridge_state");
    const made = Object.values(kept?.["api_calls"] as Record<string, number>).reduce((sum, calls) => sum + calls, 0);
    expect(all).toBe(made);
    const { budget } = await world.services.engine.read(world.workspaceId, world.contact.id);
    expect(budget.plan?.used).toBe(made);
  });
});
