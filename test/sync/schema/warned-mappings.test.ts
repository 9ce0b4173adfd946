import { expect, test } from "vitest";
import { handler as createMapping } from "../../../functions/api/create-mapping.ts";
import { handler as importConfig } from "../../../functions/api/import-config.ts";
import { handler as readMapping } from "../../../functions/api/read-mapping.ts";
import { type ApiClient, apiClient } from "../../support/clients/api-client.ts";
import { dataOf } from "../../support/clients/data-of.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
let api: ApiClient;
aWorldForEachTest(async (made) => {
  world = made.world;
  api = await apiClient(world.workspaceId);
});

interface Warned {
  readonly id: string;
  readonly warnings?: readonly { readonly path: string; readonly message: string }[];
  readonly notices?: readonly { readonly message: string; readonly remedy: string }[];
}

const ask = async (...asked: Parameters<ApiClient["ask"]>) => dataOf<Warned>(await api.ask(...asked));
const create = (body: object) => ask(createMapping, "create-mapping", { body });

test.each([
  ["lacks required fields", { sf_object: "Lead", fields: ["Email"] }, "Lead requires LastName, Company"],
  ["has some of them", { sf_object: "Lead", fields: ["Email", "lastname"] }, "Lead requires Company"],
])("a mapping that %s is created with a warning, which a plan of it has as well", async (_, body, requires) => {
  const message = expect.stringContaining(`Salesforce will refuse rows that are inserted: ${requires}`);

  const mapping = {
    object_name: body.sf_object,
    config: { access: "read_write", fields: Object.fromEntries(body.fields.map((field) => [field, {}])) },
  };
  const plan = await ask(importConfig, "import-config", {
    query: { dry_run: "true" },
    body: { version: 1, mappings: [mapping] },
  });
  const created = await create(body);

  expect(created.warnings).toEqual([{ path: "body.fields", message }]);
  expect(plan.warnings).toContainEqual({ path: "mappings[0].config.fields", message });
});

test.each([
  ["has all of them", { sf_object: "Lead", fields: ["LastName", "Company"] }],
  ["only reads", { sf_object: "Lead", fields: ["Email"], sync_direction: "sf_to_pg" }],
])("a mapping that %s is created without a warning", async (_, body) => {
  expect((await create(body)).warnings).toEqual([]);
});

test("required fields that are lacking, and columns that never hold their fields, are notices of the mapping", async () => {
  await world.sql(`CREATE SCHEMA IF NOT EXISTS salesforce; CREATE TABLE salesforce.opportunity (id serial PRIMARY KEY, name text, amount money, closedate timestamptz,
    nextstep jsonb, description char(20), accountid char(18), probability numeric)`);
  const fields = ["Name", "Amount", "CloseDate", "NextStep", "Description", "AccountId", "Probability"];

  const { id } = await mapped(world, { object: "Opportunity", fields });

  const { notices = [] } = await ask(readMapping, "read-mapping", { path: { mapping_id: id } });
  expect(notices.map(({ message }) => message).sort()).toEqual([
    "Salesforce will refuse rows that are inserted: Opportunity requires StageName",
    "the column amount is money, which can never hold its field",
    "the column closedate is timestamp with time zone, which can never hold its field",
    "the column description is character(20), which can never hold its field",
    "the column nextstep is jsonb, which can never hold its field",
  ]);
  expect(notices.map(({ remedy }) => remedy)).toContain(
    "ALTER TABLE opportunity ALTER COLUMN amount TYPE numeric USING …",
  );
});
