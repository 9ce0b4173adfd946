import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { counters } from "../../functions/services/composition.ts";
import { eventIdOf } from "../../lib/webhooks/derived-id.ts";
import { askingIn } from "../support/clients/ask.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { longTest } from "../support/run/whole-grid.ts";
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
const importing = (body: unknown, query: Record<string, string> = {}) => ask("import-config", { body, query });
/** An import of one Contact's config. */
const contact = (config: object, query: Record<string, string> = {}) =>
  importing({ version: 1, mappings: [{ object_name: "Contact", config }] }, query);

const exported = async () => (await ask("export-config")).text;
const document = async () =>
  JSON.parse(await exported()).data as { mappings: { object_name: string; config: Config }[] };
const kept = async () => (await document()).mappings[0]?.config;

interface Config {
  readonly fields: object;
  readonly bridge: Readonly<Record<string, unknown>>;
}

const LAST_NAME = { fields: { LastName: {} } };
const CONTACT = { fields: { LastName: {}, Email: {} } };

describe("an import (contract 4.1.7)", () => {
  test("creates what is new, and notifies workers and webhooks", async () => {
    const answer = await contact(CONTACT);

    expect(answer.json).toEqual({ success: true, data: { created: 1, updated: 0, skipped: 0 } });
    const list = await ask("list-mappings");
    expect(list.json?.data).toEqual([
      {
        id: expect.stringMatching(/^map_/),
        sf_object: "Contact",
        pg_table: "contact",
        sync_direction: "bidirectional",
        active: true,
        field_count: 2,
        created_at: expect.stringMatching(/^2026-.*Z$/),
      },
    ]);
    const [first] = (list.json?.data ?? []) as { id: string }[];
    const id = first?.id ?? "";
    await cloud.clock.advance({ seconds: 15 });
    expect(await cloud.take("provisioning")).toEqual(
      expect.arrayContaining([
        { workspace_id: workspace.id, mapping_id: id, import_id: null },
        { workspace_id: workspace.id, mapping_id: null, import_id: expect.stringMatching(/^imp_/) },
      ]),
    );
    const eventId = eventIdOf("mapping.activated", id, 1);
    expect(await cloud.take("events")).toEqual([{ workspace_id: workspace.id, event_id: eventId }]);
    const { totals, calls } = await counters().readAll();
    expect(calls).toContainEqual({ workspaceId: workspace.id, apiCalls: { REST: 2 } });
    expect(totals).toContainEqual(
      expect.objectContaining({ workspaceId: workspace.id, sfObject: "Contact", rowsSynced: 0, rowsFailed: 0 }),
    );
  });

  test("updates what differs, skips what does not, and leaves alone what the file does not name", async () => {
    await importing({
      version: 1,
      mappings: [
        { object_name: "Account", config: { fields: { Name: {} } } },
        { object_name: "Contact", config: LAST_NAME },
        { object_name: "Lead", config: LAST_NAME },
      ],
    });

    const answer = await importing({
      version: 1,
      mappings: [
        { object_name: "contact", config: { fields: { LastName: {}, email: {} }, sf_polling_seconds: 3600 } },
        { object_name: "Lead", config: { fields: { LastName: {} } } },
      ],
    });

    expect(answer.json?.data).toEqual({ created: 0, updated: 1, skipped: 1 });
    const { mappings } = await document();
    expect(mappings.map(({ object_name }) => object_name)).toEqual(["Account", "Contact", "Lead"]);
    expect(mappings[1]?.config).toEqual({
      access: "read_write",
      bridge: {
        active: true,
        batch_size: 200,
        capture: "origin",
        conflict_policy: "salesforce_wins",
        delete_limit: "auto",
        filter: null,
        pg_table: "contact",
        sweep_days: 1,
        keep_history: true,
        check_before_save: "auto",
        sync_direction: "bidirectional",
        when_quiet_seconds: null,
      },
      fields: { Email: {}, LastName: {} },
      sf_notify_enabled: false,
      sf_polling_seconds: 3600,
    });
  });

  test("of an export changes nothing, byte for byte, also in another workspace", async () => {
    await importing({
      version: 1,
      mappings: [
        { object_name: "Thing2__c", config: { fields: { Code__c: {}, Name: {} }, upsert_field: "Code__c" } },
        { object_name: "Account", config: { access: "read_only", fields: { Name: {} }, bridge: { active: false } } },
      ],
    });
    const before = await exported();

    expect((await importing(before)).json?.data).toEqual({ created: 0, updated: 0, skipped: 2 });
    expect(await exported()).toBe(before);
    workspace = await createTestWorkspace({ salesforce: org.connection });
    expect((await importing(JSON.parse(before).data)).json?.data).toEqual({ created: 2, updated: 0, skipped: 0 });
    expect(await exported()).toBe(before);
  });

  test("takes a setting only from its own place: the same word elsewhere is another product's", async () => {
    const bridge = { sf_polling_seconds: "soon", upsert_field: "Email" };
    const answer = await contact({ ...LAST_NAME, active: false, filter: 7, bridge });

    expect(answer.json?.data).toEqual({ created: 1, updated: 0, skipped: 0 });
    const config = await kept();
    expect(config).toMatchObject({ active: false, filter: 7, sf_polling_seconds: 10 });
    expect(config).not.toHaveProperty("upsert_field");
    expect(config?.bridge).toMatchObject({ active: true, filter: null });
  });

  test("leaves a mapping that only writes as it is where access says read_write", async () => {
    await contact({ ...LAST_NAME, bridge: { sync_direction: "pg_to_sf" } });
    await contact({ ...LAST_NAME, access: "read_write" });

    expect(await kept()).toMatchObject({ bridge: { sync_direction: "pg_to_sf" } });
  });

  test("takes Heroku Connect's own export as it is, and gives its foreign keys back", async () => {
    const fields = { Id: {}, SystemModstamp: {}, IsDeleted: {}, CreatedDate: {}, Name: {}, Code__c: {} };
    const indexes = { Id: { unique: true }, SystemModstamp: { unique: false }, Code__c: { unique: true } };
    const polling = { sf_notify_enabled: false, sf_polling_seconds: 600, sf_max_daily_api_calls: 30000 };
    const applied = { upsert_field: "Code__c", applied_at: "2023-02-14T01:40:34.070538Z" };
    const features = { features: { poll_db_no_merge: true }, api_version: "57.0", logplex_log_enabled: false };
    const answer = await importing({
      mappings: [
        { object_name: "Thing1__c", config: { access: "read_only", ...polling, ...applied, fields, indexes } },
      ],
      connection: { app_name: "app", organization_id: "00D", ...features },
      version: 1,
    });

    expect(answer.json?.data).toEqual({ created: 1, updated: 0, skipped: 0 });
    const config = await kept();
    expect(config).toMatchObject({
      access: "read_only",
      sf_max_daily_api_calls: 30000,
      sf_polling_seconds: 600,
      upsert_field: "Code__c",
      indexes: { Id: { unique: true } },
      bridge: { sync_direction: "sf_to_pg" },
    });
    expect(config).not.toHaveProperty("applied_at");
    expect(Object.keys(config?.fields ?? {})).toEqual([
      "Code__c",
      "CreatedDate",
      "Id",
      "IsDeleted",
      "Name",
      "SystemModstamp",
    ]);
  });

  test("with dry_run shows the plan and changes nothing", async () => {
    await contact(CONTACT);

    const answer = await importing(
      {
        version: 1,
        mappings: [
          { object_name: "Contact", config: { fields: { LastName: {}, Phone: {} }, sf_polling_seconds: 60 } },
          { object_name: "Account", config: { fields: { Name: {} } } },
        ],
      },
      { dry_run: "true" },
    );

    expect(answer.json?.data).toEqual({
      created: 1,
      updated: 1,
      skipped: 0,
      changes: [
        {
          ...{ object_name: "Contact", pg_table: "contact", action: "update" },
          ...{ fields_added: ["Phone"], fields_removed: ["Email"], settings_changed: ["sf_polling_seconds"] },
          settings: [{ name: "sf_polling_seconds", before: "10", after: "60" }],
        },
        {
          ...{ object_name: "Account", pg_table: "account", action: "create" },
          ...{ fields_added: ["Name"], fields_removed: [], settings_changed: [], settings: [] },
        },
      ],
      warnings: [],
      calls: expect.objectContaining({ calls_per_day: 8_646, calls_per_day_now: 8_643, pace_seconds: 10 }),
    });
    expect((await document()).mappings).toHaveLength(1);
  });

  test("with dry_run warns of keys without effect, by the nearest that has one, and of an upsert field that would be lost", async () => {
    const fields = { External_Id__c: {}, LastName: {} };
    const identified = { fields, upsert_field: "External_Id__c" };
    await contact({ ...identified, sf_max_daily_api_calls: 5 });

    const config = { fields, sf_poling_seconds: 60, revision: 7, bridge: { direction: "sf_to_pg" } };
    const mappings = [{ object_name: "Contact", config, table: "x" }];
    const answer = await importing({ version: 1, mappings, name: "x" }, { dry_run: "true" });
    const stays = await contact({ ...identified, sf_max_daily_api_calls: 6 }, { dry_run: "true" });

    const nearest = (name: string) => `is not known and has no effect; the nearest that has is ${name}`;
    expect(answer.json?.data).toMatchObject({
      warnings: [
        {
          path: "mappings[0].config.upsert_field",
          message:
            'External_Id__c would be lost, by which records are recognised: "upsert_field": "External_Id__c" keeps it',
        },
        { path: "name", message: expect.stringMatching(/^is not known and has no effect/) },
        { path: "mappings[0].table", message: expect.stringMatching(/^is not known/) },
        { path: "mappings[0].config.sf_poling_seconds", message: nearest("sf_polling_seconds") },
        { path: "mappings[0].config.bridge.direction", message: nearest("sync_direction") },
      ],
    });
    expect(stays.json?.data).toMatchObject({ warnings: [] });
  });

  longTest(
    "names fifty of 60,000 unknown keys, fields or objects, and of one as long as the body its beginning",
    async () => {
      await contact(CONTACT);
      const many = (of: unknown) => Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`k${at}`, of]));
      const named = Array.from({ length: 2_000 }, (_, at) => ({ object_name: `No_${at}__c`, config: {} }));
      const compared = vi.spyOn(String.prototype, "toLowerCase");

      const answer = await contact(many(1), { dry_run: "true" });
      const long = await contact({ ["x".repeat(900_000)]: 1 }, { dry_run: "true" });
      // The work: how many letters were compared with how many.
      const letters = compared.mock.contexts.filter((text) => String(text).length > 64);
      expect([compared.mock.calls.length < 20_000, letters]).toEqual([true, []]);
      compared.mockRestore();
      const refused = [
        await importing({ version: 1, mappings: named }),
        await contact({ fields: many({}) }),
        await importing({ version: 1, mappings: [{ object_name: "x".repeat(900_000), config: {} }] }),
      ];

      const { warnings } = dataOf<{ warnings: { path: string; message: string }[] }>(answer);
      expect(warnings).toHaveLength(51);
      expect(warnings.at(-1)).toEqual({ path: "mappings", message: "and 59950 more warnings" });
      expect(long.json?.data).toMatchObject({ warnings: [{ path: expect.stringMatching(/^.{100,250}$/) }] });
      for (const { status, json, text } of refused) {
        expect([status, (json?.error?.details?.length ?? 0) <= 50]).toEqual([400, true]);
        expect(text.length).toBeLessThan(20_000);
      }
    },
  );

  test("is in the audit log with everything that it changed", async () => {
    await contact(CONTACT);
    await contact({ bridge: { active: false } });

    const { entries, total } = await auditedIn(workspace.id, null, 500);

    expect(total).toBe(6);
    const detail = { sf_object: "Contact", pg_table: "contact" };
    expect(entries.slice(0, 4).map(({ action, detail }) => ({ action, detail }))).toEqual([
      { action: "mapping.deactivated", detail },
      { action: "config.imported", detail: { created: 0, updated: 1, skipped: 0 } },
      { action: "mapping.created", detail },
      { action: "config.imported", detail: { created: 1, updated: 0, skipped: 0 } },
    ]);
    expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set(["owner@example.com"]));
  });
});

describe("an import with one bad entry changes nothing and says what is wrong", () => {
  const good = { object_name: "Account", config: { fields: { Name: {} } } };
  const filter = (text: unknown) => ({ ...LAST_NAME, bridge: { filter: text } });
  const table = (pg_table: string) => ({ ...LAST_NAME, bridge: { pg_table } });
  const NAME = { fields: { Name: {} } };

  test.each<[string, unknown, string, unknown?]>([
    ["an unknown object", NAME, "object_name", "Nothing__c"],
    ["an unknown field", { fields: { LastName: {}, Nothing__c: {} } }, "config.fields.Nothing__c"],
    ["a compound field", { fields: { MailingAddress: {} } }, "config.fields.MailingAddress"],
    ["no fields for a new mapping", {}, "config.fields"],
    ["an upsert field that is not mapped", { ...NAME, upsert_field: "Code__c" }, "config.upsert_field", "Thing1__c"],
    ["an upsert field that is no external id", { ...LAST_NAME, upsert_field: "LastName" }, "config.upsert_field"],
    ["polling below ten seconds", { ...NAME, sf_polling_seconds: 9 }, "config.sf_polling_seconds"],
    ["polling in halves", { ...NAME, sf_polling_seconds: 10.5 }, "config.sf_polling_seconds"],
    ["polling as text", { ...NAME, sf_polling_seconds: "600" }, "config.sf_polling_seconds"],
    ["an unknown access", { ...NAME, access: "write_only" }, "config.access"],
    [
      "access against direction",
      { ...LAST_NAME, access: "read_only", bridge: { sync_direction: "bidirectional" } },
      "config.access",
    ],
    ["fields as a list", { fields: ["Name"] }, "config.fields"],
    ["a field without an object", { fields: { Name: true } }, "config.fields.Name"],
    ["a field twice but for case", { fields: { Name: {}, name: {} } }, "config.fields.name"],
    ["an object twice but for case", NAME, "object_name", "ACCOUNT"],
    ["the table of another entry", table("account"), "config.bridge.pg_table"],
    ["a table of the service's own", table("_trigger_log"), "config.bridge.pg_table"],
    ["a filter that is no condition", filter("Email = 'a' ORDER BY Email"), "config.bridge.filter"],
    ["a filter by a field that the object does not have", filter("Gone__c = 1"), "config.bridge.filter"],
    ["a filter that is no text", filter(["Email = null"]), "config.bridge.filter"],
    ["a config that is none", null, "config"],
    ["an object that is a number", NAME, "object_name", 5],
  ])("%s", async (_, config, place, object_name = "Contact") => {
    const answer = await importing({ version: 1, mappings: [good, { object_name, config }] });

    const path = `mappings[1].${place}`;
    expect(answer.status).toBe(400);
    expect(answer.json?.error).toMatchObject({ code: "VALIDATION_ERROR", details: [{ path }] });
    expect(answer.json?.error?.message).toContain(path);
    expect((await document()).mappings).toEqual([]);
  });

  test.each([
    ["null", "null"],
    ["a list", []],
    ["no version", { mappings: [] }],
    ["another version", { version: 2, mappings: [] }],
    ["no mappings", { version: 1 }],
    ["mappings as an object", { version: 1, mappings: {} }],
    ["an entry that is a text", { version: 1, mappings: [good, "Contact"] }],
    ["a million brackets", "[".repeat(1_000_000)],
    ["a key named __proto__", '{"version":1,"mappings":[],"__proto__":{"a":1}}'],
    [
      "a field named __proto__",
      '{"version":1,"mappings":[{"object_name":"Contact","config":{"fields":{"__proto__":{}}}}]}',
    ],
  ])("a body of %s", async (_, body) => {
    const answer = await importing(body);

    expect(answer.status).toBe(400);
    expect(answer.json?.success).toBe(false);
    expect((await document()).mappings).toEqual([]);
  });

  test("more than 2,000 mappings", async () => {
    const answer = await importing({ version: 1, mappings: Array(2001).fill(good) });

    const details = [{ path: "mappings", message: "must hold at most 2000 mappings" }];
    expect([answer.status, answer.json?.error?.details]).toEqual([400, details]);
  });

  test("a table that another mapping of the workspace has: 409 CONFLICT", async () => {
    await importing({ version: 1, mappings: [good] });

    const answer = await contact(table("account"));

    expect(answer.status).toBe(409);
    expect(answer.json?.error).toMatchObject({
      code: "CONFLICT",
      details: [{ path: "mappings[0].config.bridge.pg_table", message: "is the table of the mapping of Account" }],
    });
  });

  test("a workspace without an org: 409 with the remedy", async () => {
    workspace = await createTestWorkspace();

    const answer = await contact(CONTACT);

    expect(answer.status).toBe(409);
    expect(answer.json?.error?.message).toContain("connect an org first");
  });
});

/** Keys of another product, on each level that may have them. */
const FOREIGN = { ...LAST_NAME, sf_max_daily_api_calls: 30_000, hc: { a: [1], b: 2 } };

describe("keys of another product that an earlier import brought", () => {
  const importedAgain = async (config: object) => {
    await contact(FOREIGN);
    return contact(config);
  };

  test.each([
    ["without any of them", LAST_NAME],
    ["without its fields, too", {}],
    ["with one of them", { ...LAST_NAME, sf_max_daily_api_calls: 30_000 }],
    ["with all of them", FOREIGN],
    ["with all of them in another order", { ...FOREIGN, hc: { b: 2, a: [1] } }],
  ])("stay when a document %s is imported, which changes nothing", async (_, again) => {
    const answer = await importedAgain(again);

    expect(answer.json?.data).toEqual({ created: 0, updated: 0, skipped: 1 });
    expect(await kept()).toMatchObject({ sf_max_daily_api_calls: 30_000, hc: { a: [1] } });
  });

  test("stay beside a setting that changes, and take a new value where one is given", async () => {
    const answer = await importedAgain({ ...CONTACT, sf_max_daily_api_calls: 5 });

    expect(answer.json?.data).toEqual({ created: 0, updated: 1, skipped: 0 });
    expect(await kept()).toMatchObject({ sf_max_daily_api_calls: 5, hc: { a: [1] }, ...CONTACT });
  });
});
