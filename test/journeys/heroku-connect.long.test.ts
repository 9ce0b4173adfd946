import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Colleague, openColleague } from "../support/clients/colleague.ts";
import { type CommandLine, openCommandLine } from "../support/processes/command-line.ts";
import {
  AS_HEROKU_CONNECT,
  AS_THE_APPLICATION,
  HEARING_TRIGGER,
  herokuConnectSchema,
} from "../support/worlds/heroku-connect.ts";
import { type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";

/** Far more than it takes, so that a busy machine fails nothing. */
const SOON = { timeout: 300_000, interval: 250 };

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

let bridge: RunningBridge;
let line: CommandLine;
let database: Client;
let org: Colleague;
beforeAll(async () => {
  bridge = await startRunningBridge({ controls: true });
  const workspace = await bridge.createWorkspace();
  line = openCommandLine();
  await line.run(["login", bridge.baseUrl, "--workspace", workspace.id], { stdin: `${workspace.token}\n` });
  mkdirSync(join(line.folder, "data"), { recursive: true });
  const operator = { environment: { SCHEDULE_GROUP: "bridge-dev" } };
  writeFileSync(join(line.folder, "data", "operator.json"), JSON.stringify(operator));
  database = new Client({ connectionString: bridge.database.url });
  await database.connect();
  org = await openColleague(bridge.org.connection);
});
afterAll(async () => {
  await database.end();
  line.close();
  await bridge.close();
});

/** As `heroku connect:export` writes it (heroku-connect-facts 2.1). */
const mappingOf = (object_name: string, access: string, fields: readonly string[], more = {}) => ({
  object_name,
  config: {
    ...{ access, sf_notify_enabled: false, sf_polling_seconds: 600, sf_max_daily_api_calls: 30_000 },
    fields: Object.fromEntries(["Id", "SystemModstamp", "IsDeleted", ...fields].map((name) => [name, {}])),
    ...more,
  },
});
const EXPORT = {
  version: 1,
  connection: {
    ...{ app_name: "acme", organization_id: "00D000000000000", exported_at: "2026-11-19T17:13:42.743308+00:00" },
    ...{ features: { poll_db_no_merge: true, rest_count_only: false }, api_version: "57.0", name: "acme-connect" },
  },
  mappings: [
    mappingOf("Contact", "read_write", ["CreatedDate", "Email", "External_Id__c", "LastName"], {
      upsert_field: "External_Id__c",
      indexes: { Id: { unique: true }, SystemModstamp: { unique: false }, External_Id__c: { unique: true } },
    }),
    mappingOf("Account", "read_only", ["Name", "AnnualRevenue"]),
  ],
};

test("a team moves here from Heroku Connect by one command, and its application notices nothing", async () => {
  await heroku();
  const file = line.file("export.json", JSON.stringify(EXPORT));
  const untouched = await rows("SELECT id, xmin::text, ctid::text FROM salesforce.contact WHERE lastname = 'Hopper'");

  expect((await line.run(["config", "import", file])).code).toBe(0);
  await vi.waitFor(async () => expect(await states()).toEqual(REFUSED), SOON);
  const [refused] = await line.json<{ reason: string }[]>(["mapping", "list"]);
  expect(refused?.reason).toContain("bridge migrate heroku-connect FILE");

  const dry = await line.run(["migrate", "heroku-connect", file, "--dry-run"]);
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/contact +~\d+ +2 +0 +1\n/) });
  expect(await rows("SELECT to_regclass('salesforce._bridge_meta') AS ours")).toEqual([{ ours: null }]);

  const moved = await line.run(["migrate", "heroku-connect", file, "--yes"]);
  expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining("Keep Heroku Connect paused") });
  expect(await states()).toEqual({ Account: "running", Contact: "running" });

  await vi.waitFor(async () => {
    expect(await rows("SELECT state, count(*)::int FROM salesforce._trigger_log GROUP BY 1 ORDER BY 1")).toEqual([
      { state: "FAILED", count: 1 },
      { state: "SUCCESS", count: 2 },
    ]);
  }, SOON);
  expect(await records("SELECT LastName, Email FROM Contact ORDER BY LastName")).toEqual([
    { LastName: "Curie", Email: "marie@example.com" },
    { LastName: "Franklin", Email: null },
    { LastName: "Hopper", Email: null },
    { LastName: "Noether", Email: null },
  ]);
  expect(await rows("SELECT id, xmin::text, ctid::text FROM salesforce.contact WHERE lastname = 'Hopper'")).toEqual(
    untouched,
  );

  await aChangeEachWay();
  expect((await journal()).filter(({ api }) => api === "BULK")).toEqual([]);
});

const REFUSED = { Account: "provisioning_failed", Contact: "provisioning_failed" };

/** What the application and its triggers have always done continues. */
async function aChangeEachWay(): Promise<void> {
  await database.query("UPDATE salesforce.contact SET email = 'grace@example.com' WHERE lastname = 'Hopper'");
  await vi.waitFor(async () => {
    expect(await rows("SELECT _hc_lastop, _hc_err FROM salesforce.contact WHERE lastname = 'Hopper'")).toEqual([
      { _hc_lastop: "UPDATED", _hc_err: null },
    ]);
  }, SOON);
  expect(await records("SELECT Email FROM Contact WHERE LastName = 'Hopper'")).toEqual([
    { Email: "grace@example.com" },
  ]);

  await database.query("DELETE FROM public.seen");
  const [curie] = await records("SELECT Id FROM Contact WHERE LastName = 'Curie'");
  await org("PATCH", `/sobjects/Contact/${curie?.["Id"]}`, { LastName: "Sklodowska" });
  await vi.waitFor(async () => {
    await line.run(["poll", "Contact"]);
    expect(await rows("SELECT _hc_lastop FROM salesforce.contact WHERE lastname = 'Sklodowska'")).toHaveLength(1);
  }, SOON);
  expect(await rows("SELECT DISTINCT who FROM public.seen")).toEqual([{ who: "Salesforce" }]);
}

/** Heroku Connect's database: three contacts and an account read from the org, two changes that wait, one that failed. */
async function heroku(): Promise<void> {
  for (const LastName of ["Hopper", "Noether", "Curie"]) {
    await org("POST", "/sobjects/Contact", { LastName, External_Id__c: `K-${LastName}` });
  }
  await org("POST", "/sobjects/Account", { Name: "Acme", AnnualRevenue: 12.5 });
  await database.query(
    herokuConnectSchema([
      {
        table: "contact",
        columns: {
          createddate: "timestamp without time zone",
          email: "varchar(80)",
          external_id__c: "varchar(64)",
          lastname: "varchar(80)",
        },
        upsertColumn: "external_id__c",
      },
      { table: "account", columns: { name: "varchar(255)", annualrevenue: "double precision" }, readOnly: true },
    ]),
  );
  await database.query(`${AS_HEROKU_CONNECT}; SET timezone = 'Asia/Kolkata'`);
  await readInto("contact", "Contact", ["CreatedDate", "External_Id__c", "LastName"]);
  await readInto("account", "Account", ["Name", "AnnualRevenue"]);
  await database.query(AS_THE_APPLICATION);
  await database.query(HEARING_TRIGGER);
  await database.query("UPDATE salesforce.contact SET email = 'not an address' WHERE lastname = 'Noether'");
  await database.query("UPDATE salesforce._trigger_log SET state = 'FAILED', sf_message = 'INVALID_EMAIL_ADDRESS: no'");
  await database.query(
    `${AS_HEROKU_CONNECT}; UPDATE salesforce.contact SET _hc_lastop = 'FAILED' WHERE lastname = 'Noether'; ${AS_THE_APPLICATION}`,
  );
  await database.query("UPDATE salesforce.contact SET email = 'marie@example.com' WHERE lastname = 'Curie'");
  await database.query("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Franklin', 'K-Franklin')");
}

/** As Heroku Connect reads: instants without their zone, in UTC. */
async function readInto(table: string, object: string, fields: readonly string[]): Promise<void> {
  for (const record of await records(`SELECT Id, SystemModstamp, ${fields.join(", ")} FROM ${object}`)) {
    const values = fields.map((field) => withoutZone(field, record[field]));
    await database.query(
      `INSERT INTO salesforce.${table} (sfid, systemmodstamp, isdeleted, ${fields.join(", ")})
       VALUES ($1, $2, false, ${fields.map((_, at) => `$${at + 3}`).join(", ")})`,
      [record["Id"], withoutZone("SystemModstamp", record["SystemModstamp"]), ...values],
    );
  }
}

const withoutZone = (field: string, value: unknown) =>
  /Date$|stamp$/.test(field) ? new Date(String(value)).toISOString().slice(0, 19) : value;

const rows = async (text: string) => (await database.query(text)).rows as Record<string, unknown>[];

const states = async () =>
  Object.fromEntries(
    (await line.json<{ sf_object: string; state: string }[]>(["mapping", "list"])).map(({ sf_object, state }) => [
      sf_object,
      state,
    ]),
  );

async function records(query: string): Promise<Record<string, unknown>[]> {
  const { records: found } = await org("GET", `/query?q=${encodeURIComponent(query)}`);
  return (found as Record<string, unknown>[]).map(({ attributes: _, ...record }) => record);
}

async function journal(): Promise<{ readonly api: string }[]> {
  return (await bridge.org.control("GET", "/requests")) as { api: string }[];
}
