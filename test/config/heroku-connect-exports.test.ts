import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { type ConnectedOrg, startConnectedOrg } from "../support/worlds/connected-org.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

/*
 * The forms of exports that teams have published, 2015 to 2020: their keys, their order and their kinds of names are as
 * they were, their objects are shorter.
 */

const pgId = { name: "PG_ID__c", type: "text", length: 40, externalId: true, unique: true } as const;
const other = { name: "Other_ID__c", type: "text", length: 40, externalId: true, unique: true } as const;
const DEFINITION = {
  objects: [
    { name: "Account", fields: [pgId] },
    { name: "Contact", fields: [pgId, other] },
    { name: "TT_Project__c", fields: [pgId, { name: "Account__c", type: "lookup", to: ["Account"] }] },
    { name: "Customer_Bikes__c", fields: [pgId, { name: "Project__c", type: "lookup", to: ["TT_Project__c"] }] },
  ],
};

let cloud: BridgeCloud;
let org: ConnectedOrg;
let workspace: TestWorkspace;
beforeAll(async () => {
  [cloud, org] = await Promise.all([startBridgeCloud(), startConnectedOrg({ definition: DEFINITION as never })]);
});
afterAll(() => Promise.all([cloud.close(), org.close()]));
beforeEach(async () => {
  workspace = await createTestWorkspace({ salesforce: org.connection });
});

const own = { Id: {}, SystemModstamp: {}, IsDeleted: {} };
const ofOwn = { Id: { unique: true }, SystemModstamp: { unique: false } };

/** An export, and the warnings of its plan, each a path and what its message says. */
const EXPORTS: Readonly<Record<string, readonly [object, Readonly<Record<string, string>>]>> = {
  "2015, without indexes and with system fields": [
    {
      version: 1,
      connection: { organization_id: "00D000000000000", app_name: "demo1", exported_at: "2015-06-01T00:00:00+00:00" },
      mappings: [
        {
          object_name: "Contact",
          config: {
            sf_max_daily_api_calls: 3000,
            access: "read_write",
            sf_polling_seconds: 600,
            fields: { ...own, LastName: {}, LastModifiedDate: {}, MailingLatitude: {} },
          },
        },
      ],
    },
    {},
  ],
  "2016, parents by external id and a unique index, but no upsert field": [
    {
      mappings: [
        {
          config: {
            sf_max_daily_api_calls: 30_000,
            sf_notify_enabled: true,
            indexes: { ...ofOwn, PG_ID__c: { unique: true }, Account__c: { unique: false } },
            fields: { ...own, Name: {}, PG_ID__c: {}, Account__c: {}, Account__r__PG_ID__c: {} },
            access: "read_write",
            sf_polling_seconds: 120,
          },
          object_name: "TT_Project__c",
        },
      ],
      connection: { app_name: "tracker", organization_id: "00D000000000000" },
      version: 1,
    },
    { "mappings[0].config.upsert_field": '"upsert_field": "PG_ID__c"' },
  ],
  "2016, read-only": [
    {
      version: 1,
      mappings: [
        {
          object_name: "Contact",
          config: {
            access: "read_only",
            sf_notify_enabled: false,
            sf_polling_seconds: 600,
            sf_max_daily_api_calls: 30_000,
            fields: { ...own, Account__PG_ID__c: {}, ReportsToId: {}, PG_ID__c: {} },
            indexes: { ...ofOwn, PG_ID__c: { unique: true } },
          },
        },
      ],
    },
    {},
  ],
  "2016, two unique external ids: a person must choose": [
    {
      version: 1,
      mappings: [
        {
          object_name: "Contact",
          config: {
            access: "read_write",
            fields: { ...own, LastName: {}, PG_ID__c: {}, Other_ID__c: {} },
            indexes: { ...ofOwn, PG_ID__c: { unique: true }, Other_ID__c: { unique: true } },
          },
        },
      ],
    },
    {},
  ],
  "2017, lower-case and plural names": [
    {
      version: 1,
      connection: { organization_id: "YOUR_ORG_ID", name: "ducati", app_name: "ducati", exported_at: "2017-09-01" },
      mappings: [
        {
          object_name: "customer_bikes__c",
          config: {
            access: "read_write",
            sf_notify_enabled: true,
            sf_polling_seconds: 600,
            sf_max_daily_api_calls: 30_000,
            upsert_field: "pg_id__c",
            fields: { ...own, pg_id__c: {}, project__r__pg_id__c: {} },
            indexes: { ...ofOwn, pg_id__c: { unique: true } },
          },
        },
      ],
    },
    {},
  ],
  "2020, with features and a required field that is not mapped": [
    {
      version: 1,
      connection: {
        app_name: "dc-utils",
        organization_id: "00D000000000000",
        exported_at: "2020-02-15T17:13:42.743308+00:00",
        features: { disable_bulk_writes: false, poll_db_no_merge: true, poll_external_ids: false },
        api_version: "47.0",
        name: "dc-utils",
        logplex_log_enabled: false,
      },
      mappings: [
        {
          object_name: "Contact",
          config: {
            access: "read_write",
            sf_notify_enabled: false,
            sf_polling_seconds: 600,
            sf_max_daily_api_calls: 30_000,
            upsert_field: "pg_id__c",
            applied_at: "2020-02-14T01:40:34.070538Z",
            revision: 12,
            fields: { ...own, pg_id__c: {}, Email: {} },
            indexes: { ...ofOwn, pg_id__c: { unique: true } },
          },
        },
        {
          object_name: "User",
          config: { access: "read_only", fields: { Id: {}, SystemModstamp: {}, Email: {} }, indexes: ofOwn },
        },
      ],
    },
    { "mappings[0].config.fields": "Contact requires LastName" },
  ],
};

test.each(Object.entries(EXPORTS))(
  "an export of %s is planned, and warned of is what matters alone",
  async (_, [document, expected]) => {
    const answer = await ask("import-config", {
      path: { workspace_id: workspace.id },
      token: workspace.token,
      body: document,
      query: { dry_run: "true" },
    });

    expect(answer.status).toBe(200);
    const { warnings } = dataOf<{ warnings: { path: string; message: string }[] }>(answer);
    expect(warnings).toEqual(
      Object.entries(expected).map(([path, message]) => ({ path, message: expect.stringContaining(message) })),
    );
  },
);
