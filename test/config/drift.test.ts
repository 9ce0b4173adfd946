import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { database, mappings } from "../../functions/services/composition.ts";
import { auditPage } from "../support/clients/audit-page.ts";
import { call } from "../support/clients/call.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { type ConnectedOrg, startConnectedOrg } from "../support/worlds/connected-org.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

let cloud: BridgeCloud;
let org: ConnectedOrg;
let workspace: TestWorkspace;
beforeAll(async () => {
  [cloud, org] = await Promise.all([startBridgeCloud(), startConnectedOrg()]);
});
afterAll(() => Promise.all([cloud.close(), org.close()]));
beforeEach(async () => {
  workspace = await createTestWorkspace({ salesforce: org.connection });
});

const request = () => ({ path: { workspace_id: workspace.id }, token: workspace.token });
const importing = (...entries: readonly [string, Record<string, unknown>][]) =>
  ask("import-config", {
    ...request(),
    body: { version: 1, mappings: entries.map(([object_name, config]) => ({ object_name, config })) },
  });
const drift = () => ask("read-drift", request());
const idOf = async (object: string) =>
  (await mappings().list(workspace.id)).mappings.find(({ sfObject }) => sfObject === object)?.id;

test("without a baseline there is no drift to read: 404 BASELINE_NOT_FOUND", async () => {
  const answer = await drift();

  expect(answer.status).toBe(404);
  expect(answer.json?.error?.code).toBe("BASELINE_NOT_FOUND");
});

test("right after a baseline nothing has drifted", async () => {
  await importing(["Contact", { fields: { LastName: {} } }]);

  const saved = await ask("save-baseline", request());
  const answer = await drift();

  expect(saved.json?.data).toEqual({
    baseline_id: expect.stringMatching(/^bl_/),
    captured_at: new Date(cloud.clock.now()).toISOString(),
  });
  expect(answer.json).toEqual({
    success: true,
    data: { ...(saved.json?.data as object), drifted: false, changes: [] },
  });
  const { entries } = await auditPage(
    { workspaceId: workspace.id, actor: null, action: "config.baseline_saved" },
    { limit: 1, offset: 0 },
  );
  expect(entries).toHaveLength(1);
});

test("every kind of change is reported with its mapping, its object and its field", async () => {
  await importing(["Contact", { fields: { LastName: {}, Email: {} } }], ["Account", { fields: { Name: {} } }]);
  await ask("save-baseline", request());
  await importing(
    [
      "Contact",
      { fields: { LastName: {}, Phone: {} }, sf_polling_seconds: 60, bridge: { filter: "Department = 'R&D'" } },
    ],
    ["Account", { bridge: { active: false } }],
    ["Lead", { fields: { LastName: {} } }],
  );

  const answer = await drift();

  const [contact, account, lead] = [await idOf("Contact"), await idOf("Account"), await idOf("Lead")];
  expect(answer.json?.data).toMatchObject({
    drifted: true,
    changes: [
      { mapping_id: account, sf_object: "Account", type: "setting_changed", field: "active" },
      { mapping_id: contact, sf_object: "Contact", type: "field_added", field: "Phone" },
      { mapping_id: contact, sf_object: "Contact", type: "field_removed", field: "Email" },
      { mapping_id: contact, sf_object: "Contact", type: "setting_changed", field: "filter" },
      { mapping_id: contact, sf_object: "Contact", type: "setting_changed", field: "sf_polling_seconds" },
      { mapping_id: lead, sf_object: "Lead", type: "mapping_added", field: "" },
    ],
  });
});

test("a mapping that was deleted since is listed", async () => {
  await importing(["Contact", { fields: { LastName: {} } }]);
  await ask("save-baseline", request());
  const { generation, mappings: listed } = await mappings().list(workspace.id);
  const [contact] = listed;
  if (!contact) throw new Error("nothing was imported");
  const after = { ...contact, deletedAt: new Date(cloud.clock.now()), configVersion: contact.configVersion + 1 };
  await mappings().change(workspace.id, generation, { changes: [{ before: contact, after }], audit: [], events: [] });

  expect((await drift()).json?.data).toMatchObject({
    drifted: true,
    changes: [{ mapping_id: contact.id, sf_object: "Contact", type: "mapping_removed", field: "" }],
  });
});

test("a mapping that was deleted and made again is another one: its history is empty", async () => {
  const asPinned: [string, Record<string, unknown>] = ["Contact", { fields: { LastName: {} } }];
  await importing(asPinned, ["Account", { fields: { Name: {} } }]);
  await ask("save-baseline", request());
  const { generation, mappings: listed } = await mappings().list(workspace.id);
  const contact = listed.find(({ sfObject }) => sfObject === "Contact");
  if (!contact) throw new Error("nothing was imported");
  const after = { ...contact, deletedAt: new Date(cloud.clock.now()), configVersion: contact.configVersion + 1 };
  await mappings().change(workspace.id, generation, { changes: [{ before: contact, after }], audit: [], events: [] });
  await importing(asPinned);

  const made = await idOf("Contact");
  expect(made).not.toBe(contact.id);
  expect((await drift()).json?.data).toMatchObject({
    drifted: true,
    changes: [
      { mapping_id: made, sf_object: "Contact", type: "mapping_added", field: "" },
      { mapping_id: contact.id, sf_object: "Contact", type: "mapping_removed", field: "" },
    ],
  });
});

test("drift is measured against the most recent baseline", async () => {
  await ask("save-baseline", request());
  await importing(["Contact", { fields: { LastName: {} } }]);
  await cloud.clock.advance({ seconds: 1 });
  const second = await ask("save-baseline", request());

  expect((await drift()).json?.data).toEqual({ ...(second.json?.data as object), drifted: false, changes: [] });
});

test("baselines that newer ones have replaced take no room", async () => {
  const kept = async () => {
    const { client, table } = database();
    const query = { TableName: table("baselines"), KeyConditionExpression: "pk = :pk" };
    const answer = await client.send(
      new QueryCommand({ ...query, ExpressionAttributeValues: { ":pk": workspace.id } }),
    );
    return answer.Items?.length;
  };
  const save = () => ask("save-baseline", request());
  await save();
  await cloud.clock.advance({ seconds: 1 });
  await save();
  const two = await kept();
  await cloud.clock.advance({ seconds: 1 });

  const third = await save();

  expect(await kept()).toBe(two);
  expect((await drift()).json?.data).toMatchObject(third.json?.data as object);
});
