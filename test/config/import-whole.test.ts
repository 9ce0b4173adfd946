import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { counters, eventWakeUps, importPlans, mappings, queue } from "../../functions/services/composition.ts";
import type { ImportPlan } from "../../lib/config/ports.ts";
import { rollForward } from "../../lib/config/roll-forward.ts";
import { eventIdOf } from "../../lib/webhooks/derived-id.ts";
import { askingIn } from "../support/clients/ask.ts";
import { auditPage } from "../support/clients/audit-page.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { type ConnectedOrg, startConnectedOrg } from "../support/worlds/connected-org.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

let cloud: BridgeCloud;
let org: ConnectedOrg;
let workspace: TestWorkspace;
beforeAll(async () => {
  [cloud, org] = await Promise.all([startBridgeCloud(), startConnectedOrg({ things: 30 })]);
});
afterAll(() => Promise.all([cloud.close(), org.close()]));
beforeEach(async () => {
  workspace = await createTestWorkspace({ salesforce: org.connection });
  await cloud.clock.advance({ minutes: 2 }); // a new minute of the rate limit
});

const ask = askingIn(() => workspace);
const importing = (body: unknown) => ask("import-config", { body });
const exported = async () => (await ask("export-config")).text;

const things = (pollingSeconds: number) => ({
  version: 1,
  mappings: Array.from({ length: 30 }, (_, at) => ({
    object_name: `Thing${at + 1}__c`,
    config: { fields: { Code__c: {}, Name: {} }, sf_polling_seconds: pollingSeconds },
  })),
});

const needs = () => ({
  plans: importPlans(),
  provisioning: queue("provisioning"),
  events: eventWakeUps(),
  counters: counters(),
  eventIdOf,
  now: () => new Date(cloud.clock.now()),
});

/** A plan as an import makes it, and the entry that is committed with it. */
function planOf(name: string, changes: ImportPlan["changes"]) {
  const at = new Date(cloud.clock.now());
  const [id, workspaceId, actor] = [`imp_${name}`, workspace.id, "owner@example.com"];
  const plan: ImportPlan = { id, workspaceId, actor, at, changes };
  const common = { workspaceId, actor, action: "config.imported", resourceId: id, detail: {}, createdAt: at } as const;
  return { plan, entry: { ...common, id: `aud_${name}` } };
}

test("readers see a committed import before any of it is carried out, and the same after", async () => {
  const plans = importPlans();
  const { generation } = await mappings().list(workspace.id);
  await importing(things(60));
  const listed = await mappings().list(workspace.id);
  const [first] = listed.mappings;
  if (!first) throw new Error("nothing was imported");
  const after = { ...first, pollingSeconds: 99, configVersion: 2 };
  const { plan, entry } = planOf("left", [{ before: first, after }]);

  expect(await plans.commit(plan, generation, entry)).toBe(false);
  expect(await plans.commit(plan, listed.generation, entry)).toBe(true);

  expect((await mappings().find(workspace.id, first.id))?.pollingSeconds).toBe(99);
  const left = await exported();
  expect(JSON.parse(left).data.mappings[0].config.sf_polling_seconds).toBe(99);
  expect(await plans.commit({ ...plan, id: "imp_next" }, listed.generation + 1, entry)).toBe(false);
  expect(await Promise.all([1, 2, 3].map(() => rollForward(needs(), workspace.id)))).toEqual([true, true, true]);
  expect(await exported()).toBe(left);
  expect((await auditOf(workspace)).entries.filter(({ action }) => action === "mapping.updated")).toHaveLength(1);
});

test("what a dead process left of an import, the next one ends before it begins", async () => {
  await importing(things(60));
  const { generation, mappings: listed } = await mappings().list(workspace.id);
  const changes = listed.map((before) => ({ before, after: { ...before, active: false, configVersion: 2 } }));
  const { plan, entry } = planOf("dead", changes);
  await importPlans().commit(plan, generation, entry);
  let batches = 0;
  expect(await rollForward(needs(), workspace.id, () => batches++ < 2)).toBe(false);

  const answer = await importing(things(60));

  expect(answer.json?.data).toEqual({ created: 0, updated: 0, skipped: 30 });
  expect((await mappings().list(workspace.id)).mappings.every(({ active }) => !active)).toBe(true);
  const { entries } = await auditOf(workspace);
  expect(entries.filter(({ action }) => action === "mapping.deactivated")).toHaveLength(30);
});

const auditOf = ({ id }: TestWorkspace) =>
  auditPage({ workspaceId: id, actor: null, action: null }, { limit: 500, offset: 0 });
