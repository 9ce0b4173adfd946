import { expect, test } from "vitest";
import { handler as createMapping } from "../../../functions/api/create-mapping.ts";
import { handler as importConfig } from "../../../functions/api/import-config.ts";
import { handler as readMapping } from "../../../functions/api/read-mapping.ts";
import { mapped } from "../../support/worlds/worlds.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld();

interface Warned {
  readonly warnings?: readonly { readonly path: string; readonly message: string }[];
  readonly notices?: readonly { readonly message: string; readonly remedy: string }[];
}

const ask = (...asked: Parameters<typeof world.api.ask>) => world.ask<Warned>(...asked);

test.each<[string, string[], { sync_direction?: string }, string | null]>([
  ["lacks required fields", ["Email"], {}, "Lead requires LastName, Company"],
  ["has some of them", ["Email", "lastname"], {}, "Lead requires Company"],
  ["has all of them", ["LastName", "Company"], {}, null],
  ["only reads", ["Email"], { sync_direction: "sf_to_pg" }, null],
])(
  "a mapping that %s is warned of what Salesforce would refuse, as a plan of it is",
  async (_, fields, bridge, requires) => {
    const message = expect.stringContaining(`Salesforce will refuse rows that are inserted: ${requires}`);
    const config = {
      access: bridge.sync_direction ? "read_only" : "read_write",
      fields: Object.fromEntries(fields.map((field) => [field, {}])),
    };

    const plan = await ask(importConfig, "import-config", {
      query: { dry_run: "true" },
      body: { version: 1, mappings: [{ object_name: "Lead", config: { ...config, bridge } }] },
    });
    const created = await ask(createMapping, "create-mapping", { body: { sf_object: "Lead", fields, ...bridge } });

    expect(created.warnings).toEqual(requires ? [{ path: "body.fields", message }] : []);
    const warned = plan.warnings?.filter((one) => one.message.includes("refuse rows")) ?? [];
    expect(warned).toEqual(requires ? [{ path: "mappings[0].config.fields", message }] : []);
  },
);

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
