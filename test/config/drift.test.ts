import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { database, mappings } from "../../functions/services/composition.ts";
import { askingIn } from "../support/clients/ask.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
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

const ask = askingIn(() => workspace);
const importing = (...entries: readonly [string, Record<string, unknown>][]) => {
  const mappings = entries.map(([object_name, config]) => ({ object_name, config }));
  return ask("import-config", { body: { version: 1, mappings } });
};
const drift = () => ask("read-drift");
const save = () => ask("save-baseline");
const idOf = async (object: string) =>
  (await mappings().list(workspace.id)).mappings.find(({ sfObject }) => sfObject === object)?.id;

test("every kind of change is reported with its mapping, its object and its field", async () => {
  await importing(["Contact", { fields: { LastName: {}, Email: {} } }], ["Account", { fields: { Name: {} } }]);
  await save();
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

test("a mapping that was deleted and made again is another one: its history is empty", async () => {
  const asPinned: [string, Record<string, unknown>] = ["Contact", { fields: { LastName: {} } }];
  await importing(asPinned, ["Account", { fields: { Name: {} } }]);
  await save();
  const contact = (await idOf("Contact")) ?? "";
  await ask("delete-mapping", { path: { mapping_id: contact } });
  await importing(asPinned);

  const made = await idOf("Contact");
  expect(made).not.toBe(contact);
  expect((await drift()).json?.data).toMatchObject({
    drifted: true,
    changes: [
      { mapping_id: made, sf_object: "Contact", type: "mapping_added", field: "" },
      { mapping_id: contact, sf_object: "Contact", type: "mapping_removed", field: "" },
    ],
  });
});

test("drift is measured against the most recent baseline; those that newer ones have replaced take no room", async () => {
  const kept = async () => {
    const { client, table } = database();
    const query = { TableName: table("baselines"), KeyConditionExpression: "pk = :pk" };
    const answer = await client.send(
      new QueryCommand({ ...query, ExpressionAttributeValues: { ":pk": workspace.id } }),
    );
    return answer.Items?.length;
  };
  await save();
  await cloud.clock.advance({ seconds: 1 });
  await save();
  expect((await drift()).json?.data).toMatchObject({ drifted: false });
  const two = await kept();
  await cloud.clock.advance({ seconds: 1 });

  await importing(["Contact", { fields: { LastName: {} } }]);
  const third = await save();

  expect(await kept()).toBe(two);
  expect((await drift()).json?.data).toEqual({ ...(third.json?.data as object), drifted: false, changes: [] });
  const { entries } = await auditedIn(workspace.id, "config.baseline_saved", 9);
  expect(entries.map(({ detail }) => detail)).toEqual([1, 0, 0].map((mappings) => ({ mappings })));
});
