import { describe, expect, test } from "vitest";
import { engineReports, mappings, rowQueriesOf, workspaces } from "../../../functions/services/composition.ts";
import { afterAnswer } from "../../../lib/model/budget.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { readStates } from "../../../lib/settings/mapping-states.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  const fields = ["External_Id__c", "LastName"];
  contact = await mapped(world, { object: "Contact", fields, upsertField: "External_Id__c" });
});

/** Others use up so many of the org's hundred calls; the steps are those of the model's table. */
async function othersUse(used: number, step: number): Promise<void> {
  await world.pass(1);
  const usage = { used, limit: 100, at: new Date(cloud.clock.now()) };
  await world.services.engine.saveBudget(world.workspaceId, { usage, step });
}
const states = async () =>
  (await world.sql("SELECT state FROM salesforce._trigger_log ORDER BY id")).map((row) => row["state"]);
const insert = (key: string) =>
  world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Curie', $1)", [key]);

test("from 85 % of the org's calls rows still go out, and nothing is pulled", async () => {
  await world.rest("POST", "/sobjects/Contact", { LastName: "New there" });
  await insert("K-1");
  await othersUse(86, 4);

  await world.cycle(contact, "beat");

  expect(await states()).toEqual(["SUCCESS"]);
  expect(await world.sql("SELECT FROM salesforce.contact WHERE lastname = 'New there'")).toEqual([]);
});

test("from 95 % everything waits, doubts as well, but for whoever polls by hand", async () => {
  await insert("K-1");
  await world.fault({ kind: "saveThenDrop", path: "services/Soap" });
  await world.cycle(contact);
  await insert("K-2");
  await othersUse(96, 5);
  const before = await world.requests();

  await world.cycle(contact, "beat");

  expect([await states(), (await world.requests()) - before]).toEqual([["PENDING", "NEW"], 0]);
  await world.cycle(contact, "poll");
  expect(await states()).toEqual(["SUCCESS", "SUCCESS"]);
});

describe("calls that run low", () => {
  const statesOf = async () => {
    const workspace = await workspaces().find(world.workspaceId);
    if (!workspace) throw new Error("the workspace is gone");
    const needs = { mappings: mappings(), engine: engineReports(), desks: rowQueriesOf() };
    return (await readStates(needs, workspace, false, new Date(cloud.clock.now()))).map(
      ({ state, reason, failure }) => ({
        state,
        reason,
        failure,
      }),
    );
  };
  const lines = () => world.log.filter(({ event }) => event === "budget");
  const orgHasUsed = (used: number) => world.control("PUT", "/calls", { used });
  const beat = async () => {
    await world.pass(300);
    await world.cycle(contact, "beat");
  };

  test("are told once for each change of the pace, not for each cycle, with the time by which it ends", async () => {
    await world.cycle(contact);
    await orgHasUsed(10_600);
    const began = cloud.clock.now();
    for (let cycles = 0; cycles < 4; cycles++) await beat();

    expect(lines()).toMatchObject([
      {
        level: "warn",
        workspace_id: world.workspaceId,
        calls_limit: 15_000,
        message: expect.stringMatching(
          /^Salesforce counts 106\d\d of 15000 API calls in 24 hours: pulls run 3 times less/,
        ),
      },
    ]);
    const endsBy = new Date(String(lines()[0]?.["ends_by"])).getTime();
    expect(Math.abs(endsBy - began - 24 * 3_600_000)).toBeLessThan(310_000);

    const by = new Date(endsBy).toISOString().slice(0, 16);
    const reason = expect.stringMatching(
      new RegExp(`pulls run 3 times less often, .* below 10050 calls, by ${by}Z unless`),
    );
    expect(await statesOf()).toEqual([{ state: "sparing_calls", reason, failure: null }]);

    await orgHasUsed(12_900);
    for (let cycles = 0; cycles < 4; cycles++) await beat();
    expect(lines().map(({ message }) => String(message).replace(/^.*hours: |;.*$/g, ""))).toEqual([
      "pulls run 3 times less often, changes are still sent",
      "pulls have stopped, changes are still sent",
    ]);

    await orgHasUsed(100);
    for (let cycles = 0; cycles < 4; cycles++) await beat();
    expect(lines().at(-1)).toMatchObject({ level: "info", ends_by: null });
    expect(lines()).toHaveLength(3);
    expect(await statesOf()).toEqual([{ state: "running", reason: null, failure: null }]);
  });

  test("are told once by cycles that hear of it at the same time", async () => {
    await world.cycle(contact);
    const { budget } = await world.services.engine.read(world.workspaceId, contact.id);
    await world.pass(1);
    const after = afterAnswer(budget, { used: 80, limit: 100, at: new Date(cloud.clock.now()) });
    await world.pass(1);
    const later = afterAnswer(budget, { used: 80, limit: 100, at: new Date(cloud.clock.now()) });

    const { saveBudget } = world.services.engine;
    expect([await saveBudget(world.workspaceId, after), await saveBudget(world.workspaceId, later)]).toEqual([
      true,
      false,
    ]);
  });
});
