import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect } from "vitest";
import { createDrizzleApp } from "../../support/worlds/drizzle-app.ts";
import { AS_HEROKU_CONNECT, AS_THE_APPLICATION, herokuConnectSchema } from "../../support/worlds/heroku-connect.ts";
import type { Reader } from "../reader.ts";

/** Far more than it takes, so that a busy machine fails nothing. */
const SOON = { timeout: 300_000, interval: 250 };

const CREATE = "npx bridge workspace create Own --owner ada@example.com --login";

/** As `heroku connect:export` writes it (heroku-connect-facts 2.1). */
const EXPORT = {
  version: 1,
  connection: { app_name: "acme", organization_id: "00D000000000000", name: "acme-connect" },
  mappings: [
    {
      object_name: "Contact",
      config: {
        access: "read_write",
        sf_notify_enabled: false,
        sf_polling_seconds: 600,
        sf_max_daily_api_calls: 30_000,
        upsert_field: "External_Id__c",
        fields: { Id: {}, SystemModstamp: {}, IsDeleted: {}, Email: {}, External_Id__c: {}, LastName: {} },
        indexes: { Id: { unique: true }, SystemModstamp: { unique: false }, External_Id__c: { unique: true } },
      },
    },
  ],
};

/** Heroku Connect has read two contacts; a change of one waits, and one of the other was refused. Gives its database. */
async function herokuDatabase(reader: Reader): Promise<{ url: URL; superuser: URL }> {
  const { instance } = reader;
  const url = new URL(instance.file.database_url);
  const superuser = new URL(url);
  const password = readFileSync(join(instance.dataDir, "postgres/superuser-password"), "utf8").trim();
  Object.assign(superuser, { username: "postgres", password });
  await query(superuser.href, "CREATE DATABASE heroku OWNER bridge");
  url.pathname = "/heroku";
  const columns = { email: "varchar(80)", external_id__c: "varchar(64)", lastname: "varchar(80)" };
  await query(
    url.href,
    herokuConnectSchema([{ table: "contact", columns, upsertColumn: "external_id__c" }]),
    `${AS_HEROKU_CONNECT}; SET timezone = 'UTC'`,
    ...(await instance.soql(RECORDS)).map(
      ({ Id, SystemModstamp, External_Id__c, LastName, Email }) =>
        `INSERT INTO salesforce.contact (sfid, systemmodstamp, isdeleted, external_id__c, lastname, email)
         VALUES ('${Id}', '${SystemModstamp}', false, '${External_Id__c}', '${LastName}', '${Email}')`,
    ),
    AS_THE_APPLICATION,
    "UPDATE salesforce.contact SET email = 'not an address' WHERE external_id__c = 'demo-contact-12'",
    "UPDATE salesforce._trigger_log SET state = 'FAILED', sf_message = 'INVALID_EMAIL_ADDRESS: no'",
    `${AS_HEROKU_CONNECT}; UPDATE salesforce.contact SET _hc_lastop = 'FAILED' WHERE external_id__c = 'demo-contact-12'`,
    AS_THE_APPLICATION,
    "UPDATE salesforce.contact SET email = 'moved@example.com' WHERE external_id__c = 'demo-contact-11'",
  );
  writeFileSync(join(reader.folder, ".exported.json"), JSON.stringify(EXPORT));
  const app = { HEROKU_APP: "acme", HEROKU_RESOURCE: "herokuconnect-clear-12345", HEROKU_EXPORT: ".exported.json" };
  reader.stub("heroku", app);
  return { url, superuser };
}

/** The same, in one block on one day. */
export async function herokuAtOnce(reader: Reader): Promise<void> {
  const { url } = await herokuDatabase(reader);
  await reader.run(CREATE);
  await reader.types({
    answers: [
      [/Database URL.*: $/, url.href],
      [/\[y\/N\] $/, "y"],
    ],
  });

  expect(reader.calls).toEqual(["heroku connect:export --app acme", "heroku connect:pause --app acme"]);
  await expect.poll(() => reader.instance.soql(SENT), SOON).toMatchObject([{ Email: "moved@example.com" }]);
}

/** The same, and a copy of it. */
export async function herokuRehearsal(reader: Reader): Promise<void> {
  const { instance } = reader;
  const { url, superuser } = await herokuDatabase(reader);
  await query(superuser.href, "CREATE DATABASE heroku_copy OWNER bridge TEMPLATE heroku");
  writeFileSync(join(reader.folder, "copy.url"), url.href.replace("/heroku", "/heroku_copy"));
  await reader.run(CREATE);
  const said = await reader.types({
    answers: [
      [/Database URL.*: $/, url.href],
      [/\[y\/N\] $/, "y"],
    ],
  });

  expect(reader.calls).toEqual(["heroku connect:export --app acme"]);
  expect(said).toMatch(/STATE +paused\s+LOCKED MS +\d+\s+WAITING +1\s+FAILED +1\s/);
  expect(await instance.soql(SENT)).not.toMatchObject([{ Email: "moved@example.com" }]);
}

const SENT = "SELECT Email FROM Contact WHERE External_Id__c = 'demo-contact-11'";

/** The workspace of the block before, on the day. */
export async function herokuConnect(reader: Reader): Promise<void> {
  await reader.types({ answers: [[/\[y\/N\] $/, "y"]] });

  expect(reader.calls).toEqual(["heroku connect:pause --app acme"]);
  await expect.poll(() => reader.instance.soql(SENT), SOON).toMatchObject([{ Email: "moved@example.com" }]);
}

/** The workspace of the block before, in which Heroku Connect has left a refused change. */
export async function leftHerokuConnect(reader: Reader): Promise<void> {
  const doctor = await reader.types({ lines: 1, exits: [10] });
  const activity = await reader.types();

  expect(doctor.match(/^✗.*/gm)).toEqual([expect.stringContaining("refused 1 row")]);
  expect(activity).toMatch(/UPDATE +FAILED/);
}

const RECORDS =
  "SELECT Id, SystemModstamp, External_Id__c, LastName, Email FROM Contact WHERE External_Id__c IN ('demo-contact-11', 'demo-contact-12')";

async function query(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The application has a table of people, one of whom is a contact. */
export async function tableOfYours(reader: Reader): Promise<void> {
  const { instance } = reader;
  await reader.run(`${CREATE} && npx bridge connect postgres && npx bridge connect salesforce`);
  await instance.sql("CREATE SCHEMA IF NOT EXISTS own");
  await instance.sql("CREATE TABLE own.people (id bigserial PRIMARY KEY, lastname text, external_id__c text)");
  await instance.sql("INSERT INTO own.people (lastname, external_id__c) VALUES ('Byron', 'demo-contact-2')");
  const said = await reader.types();

  expect(said).toMatch(/LastName +Byron +\w+ +salesforce\n/);
  expect(await instance.sql("SELECT lastname FROM own.people")).toEqual([{ lastname: "Byron" }]);
}

/** The application's migrations are drizzle-kit's, and a mapping needs a table that they do not make yet. */
export async function drizzle(reader: Reader): Promise<void> {
  const app = await createDrizzleApp(reader.instance.file.database_url, {});
  try {
    await app.write("start", ["SELECT 1"]);
    symlinkSync(app.folder, join(reader.folder, "drizzle"));
    await reader.run("npx bridge schema changes propose && npx bridge mapping create Lead --fields LastName Company");
    await expect.poll(() => reader.run("npx bridge schema propose"), SOON).toContain("CREATE TABLE");
    await reader.types();

    expect(existsSync(join(app.folder, "0001_bridge.sql"))).toBe(true);
    await app.migrate();
    expect(await reader.run("npx bridge schema propose")).toContain("need no migration");
  } finally {
    await app.close();
  }
}

/** DynamoDB is lost with everything in it, while a change waits; the document was exported before. */
export async function lostWorkspace(reader: Reader): Promise<void> {
  await reader.run("npx bridge config export mappings.json && npx bridge pause --reason backup");
  await reader.instance.sql("UPDATE salesforce.contact SET title = 'Heiress' WHERE external_id__c = 'demo-contact-5'");
  await reader.restart({ flags: ["--no-demo"] }, (dataDir) => {
    for (const name of ["cloud", "instance.json"]) rmSync(join(dataDir, name), { recursive: true });
  });
  await reader.types();

  const sent = "SELECT Title FROM Contact WHERE External_Id__c = 'demo-contact-5'";
  await expect.poll(() => reader.instance.soql(sent), SOON).toMatchObject([{ Title: "Heiress" }]);
}
