import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askingIn } from "../support/clients/ask.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { type ConnectedOrg, startConnectedOrg } from "../support/worlds/connected-org.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

/*
 * The forms of exports that teams have published, 2016 to 2020: their keys, their order and their kinds of names are as
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
const indexesOf = (...unique: readonly string[]) => ({
  ...{ Id: { unique: true }, SystemModstamp: { unique: false } },
  ...Object.fromEntries(unique.map((name) => [name, { unique: true }])),
});
const polled = (access: "read_only" | "read_write", sf_notify_enabled: boolean) => ({
  ...{ access, sf_notify_enabled, sf_polling_seconds: 600, sf_max_daily_api_calls: 30_000 },
});
const connection = { app_name: "demo1", organization_id: "00D000000000000", exported_at: "2015-06-01T00:00:00+00:00" };
const features = { disable_bulk_writes: false, poll_db_no_merge: true, poll_external_ids: false };

/** The mappings of an export, what it says of its connection, and the warnings of its plan: paths and what they say. */
const EXPORTS: Readonly<Record<string, readonly [mappings: object[], connection: object, warnings: object]>> = {
  "2016, parents by external id and a unique index, but no upsert field": [
    [
      {
        config: {
          ...polled("read_write", true),
          indexes: { ...indexesOf("PG_ID__c"), Account__c: { unique: false } },
          fields: { ...own, Name: {}, PG_ID__c: {}, Account__c: {}, Account__r__PG_ID__c: {} },
        },
        object_name: "TT_Project__c",
      },
    ],
    { app_name: "tracker", organization_id: "00D000000000000" },
    { "mappings[0].config.upsert_field": '"upsert_field": "PG_ID__c"' },
  ],
  "2016, read-only": [
    [
      {
        object_name: "Contact",
        config: {
          ...polled("read_only", false),
          fields: { ...own, Account__PG_ID__c: {}, ReportsToId: {}, PG_ID__c: {} },
          indexes: indexesOf("PG_ID__c"),
        },
      },
    ],
    connection,
    {},
  ],
  "2016, two unique external ids: a person must choose": [
    [
      {
        object_name: "Contact",
        config: {
          ...{ access: "read_write", fields: { ...own, LastName: {}, PG_ID__c: {}, Other_ID__c: {} } },
          indexes: indexesOf("PG_ID__c", "Other_ID__c"),
        },
      },
    ],
    connection,
    {},
  ],
  "2017, lower-case and plural names": [
    [
      {
        object_name: "customer_bikes__c",
        config: {
          ...{ ...polled("read_write", true), upsert_field: "pg_id__c" },
          fields: { ...own, pg_id__c: {}, project__r__pg_id__c: {} },
          indexes: indexesOf("pg_id__c"),
        },
      },
    ],
    { organization_id: "YOUR_ORG_ID", name: "ducati", app_name: "ducati", exported_at: "2017-09-01" },
    {},
  ],
  "2020, with features and a required field that is not mapped": [
    [
      {
        object_name: "Contact",
        config: {
          ...{ ...polled("read_write", false), upsert_field: "pg_id__c" },
          ...{ applied_at: "2020-02-14T01:40:34.070538Z", revision: 12 },
          ...{ fields: { ...own, pg_id__c: {}, Email: {} }, indexes: indexesOf("pg_id__c") },
        },
      },
      {
        object_name: "User",
        config: { access: "read_only", fields: { Id: {}, SystemModstamp: {}, Email: {} }, indexes: indexesOf() },
      },
    ],
    { ...connection, features, api_version: "47.0", name: "dc-utils", logplex_log_enabled: false },
    { "mappings[0].config.fields": "Contact requires LastName" },
  ],
};

test.each(Object.entries(EXPORTS))(
  "an export of %s is planned, and warned of is what matters alone",
  async (_, [mappings, connection, expected]) => {
    const body = { version: 1, connection, mappings };
    const answer = await askingIn(() => workspace)("import-config", { body, query: { dry_run: "true" } });

    expect(answer.status).toBe(200);
    const { warnings } = dataOf<{ warnings: { path: string; message: string }[] }>(answer);
    expect(warnings).toEqual(
      Object.entries(expected).map(([path, message]) => ({ path, message: expect.stringContaining(message) })),
    );
  },
);
