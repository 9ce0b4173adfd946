import { expect, test } from "vitest";
import { dataOf } from "../support/clients/data-of.ts";
import { anOrgForAllTests, openWorkspace } from "./org-of-workspaces.ts";

anOrgForAllTests();

const FILTER = "LastName != 'x'";

test("what a mapping would cost is what it costs once it is saved", async () => {
  const { budget, created: create, updated: update } = await openWorkspace();
  await create({ sf_object: "Account", fields: ["Name"] });
  const before = await budget({ sf_polling_seconds: "60", filtered: "true" });

  const contact = await create({ sf_object: "Contact", fields: ["LastName"], sf_polling_seconds: 60, filter: FILTER });

  const after = await budget();
  // Three questions of a minute's beat travel in the one call that Account's needs anyway.
  expect(after).toMatchObject({ forecast_calls_per_day: 8_640 + 6, with_mapping: null });
  expect(before.with_mapping).toEqual({
    own_calls_per_day: contact.calls_per_day,
    forecast_calls_per_day: after.forecast_calls_per_day,
  });

  const slower = (await budget({ sf_polling_seconds: "600", mapping_id: contact.id })).with_mapping;
  const saved = await update(contact.id, { sf_polling_seconds: 600, filter: null });
  expect(slower?.own_calls_per_day).toBe(saved.calls_per_day);
});

test("quiet mappings cost less where they or their workspace say so, as much as the forecast says, and what they cost with doorbells is beside it", async () => {
  const { budget, change, created: create, updated: update } = await openWorkspace();
  const account = await create({ sf_object: "Account", fields: ["Name"] });
  await change({ when_quiet_seconds: 60 });

  const contact = await create({ sf_object: "Contact", fields: ["LastName"], when_quiet_seconds: 600 });

  // Every ten minutes both share a call: 1,440 calls of one mapping, and half of the 144 of two, and three each.
  expect(await budget()).toMatchObject({ when_quiet_seconds: 60, forecast_calls_per_day: 1_440 + 6 });
  expect(contact.calls_per_day).toBe(72 + 3);
  const asked = { sf_polling_seconds: "10", when_quiet_seconds: "10", mapping_id: account.id };
  const { with_mapping } = await budget(asked);
  const faster = await update(account.id, { when_quiet_seconds: 10 });
  expect([with_mapping?.own_calls_per_day, faster.calls_per_day]).toEqual([8_640 - 72 + 3, 8_640 - 72 + 3]);
  await update(contact.id, { when_quiet_seconds: 10 });
  expect(await budget()).toMatchObject({
    forecast_calls_per_day: 8_640 + 6,
    with_doorbells: { calls_per_day: 360 + 6, pace_seconds: null }, // the org has not reported its limit
  });
});

test("the dry run of an import says what it will cost of the org's calls, and how far apart pulls will be", async () => {
  const { change, created: create, planned } = await openWorkspace();
  await create({ sf_object: "Account", fields: ["Name"], sf_polling_seconds: 600 });
  await change({ most_calls: 2_000 });

  const { calls } = await planned(
    { object_name: "Account", config: { fields: { Name: {} }, sf_polling_seconds: 10 } },
    { object_name: "Contact", config: { fields: { LastName: {} }, sf_polling_seconds: 600 } },
  );

  const org = { calls_limit: 15_000, allowed_calls: 2_000 };
  expect(calls).toMatchObject({ calls_per_day: 8_646, calls_per_day_now: 147, ...org });
  // 2,000 calls a day are one in 43 seconds; a part is left to what changes.
  expect(calls?.pace_seconds).toBeGreaterThan(43);
  expect(calls?.pace_seconds).toBeLessThan(70);
});

test("a workspace says what of the org's calls Bridge may make, and what is left out stays", async () => {
  const { audited, budget, change } = await openWorkspace();
  const fresh = { calls_share: 0.8, most_calls: null, when_quiet_seconds: null };
  expect(await budget()).toMatchObject({ ...fresh, allowed_calls: null, hours: [] });

  await change({ most_calls: 8_000 });
  const changed = await change({ calls_share: 0.5 });
  await change({ calls_share: 0.5 });

  expect(dataOf(changed)).toMatchObject({ calls_share: 0.5, most_calls: 8_000 });
  expect(await budget()).toMatchObject({ calls_share: 0.5, most_calls: 8_000 });
  expect((await audited("workspace.budget_changed")).map(({ detail }) => detail)).toEqual([
    { from: { ...fresh, most_calls: 8_000 }, to: { ...fresh, calls_share: 0.5, most_calls: 8_000 } },
    { from: fresh, to: { ...fresh, most_calls: 8_000 } },
  ]);
});

test.each([
  [{ calls_share: 5e-324 }, "body.calls_share"], // DynamoDB keeps no number below 1e-130
  [{ most_calls: 1.5 }, "body.most_calls"],
  [{ when_quiet_seconds: 9 }, "body.when_quiet_seconds"],
])("%j is refused with its place", async (body, path) => {
  const { ask, audited, change } = await openWorkspace();

  const refused = await change(body);
  const asked = await ask("read-budget", { query: { sf_polling_seconds: "9" } });

  expect(refused.json?.error).toMatchObject({ code: "VALIDATION_ERROR", details: [{ path }] });
  expect(asked.json?.error).toMatchObject({ code: "VALIDATION_ERROR", details: [{ path: "sf_polling_seconds" }] });
  expect((await audited("workspace.budget_changed")).map(({ detail }) => detail)).toEqual([]);
});
