import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { createDrizzleApp } from "../../support/worlds/drizzle-app.ts";
import { AS_HEROKU_CONNECT, AS_THE_APPLICATION, herokuConnectSchema } from "../../support/worlds/heroku-connect.ts";
import type { Reader } from "../reader.ts";
import { CREATE, jsonOf, type Preparations, query, SOON, superuserOf } from "./shared.ts";

export const databases = {
  /** The same, in one block on one day. */
  "heroku-at-once": async (reader) => {
    const { url } = await herokuDatabase(reader);
    await reader.run(CREATE);
    await reader.types({ answers: [[/Database URL.*: $/, url.href], YES] });

    expect(reader.calls).toEqual(["heroku connect:export --app acme", "heroku connect:pause --app acme"]);
    await expect.poll(() => reader.instance.soql(SENT), SOON).toMatchObject([{ Email: "moved@example.com" }]);
  },

  /** The same, and a copy of it. */
  "heroku-rehearsal": async (reader) => {
    const { instance } = reader;
    const { url, superuser } = await herokuDatabase(reader);
    await query(superuser.href, "CREATE DATABASE heroku_copy OWNER bridge TEMPLATE heroku");
    writeFileSync(join(reader.folder, "copy.url"), url.href.replace("/heroku", "/heroku_copy"));
    await reader.run(CREATE);
    const output = await reader.types({ answers: [[/Database URL.*: $/, url.href], YES] });

    expect(reader.calls).toEqual(["heroku connect:export --app acme"]);
    expect(output).toMatch(/STATE +paused\s+LOCKED MS +\d+\s+WAITING +1\s+FAILED +1\s/);
    expect(await instance.soql(SENT)).not.toMatchObject([{ Email: "moved@example.com" }]);
  },

  /** The workspace of the block before, on the day. */
  "heroku-connect": async (reader) => {
    await reader.types({ answers: [YES] });

    expect(reader.calls).toEqual(["heroku connect:pause --app acme"]);
    await expect.poll(() => reader.instance.soql(SENT), SOON).toMatchObject([{ Email: "moved@example.com" }]);
  },

  /** The workspace of the block before, in which Heroku Connect has left a refused change. */
  "left-heroku-connect": async (reader) => {
    const doctor = await reader.types({ lines: 1, exits: [10] });
    const activity = await reader.types();

    expect(doctor.match(/^✗.*/gm)).toEqual([expect.stringContaining("refused 1 row")]);
    expect(activity).toMatch(/UPDATE +FAILED/);
  },

  /** The application has a table of people, one of whom is a contact. */
  "table-of-yours": async (reader) => {
    const { instance } = reader;
    await reader.run(`${CREATE} && npx bridge connect postgres && npx bridge connect salesforce`);
    await instance.sql("CREATE SCHEMA IF NOT EXISTS own");
    await instance.sql("CREATE TABLE own.people (id bigserial PRIMARY KEY, lastname text, external_id__c text)");
    await instance.sql("INSERT INTO own.people (lastname, external_id__c) VALUES ('Byron', 'demo-contact-2')");
    const output = await reader.types();

    expect(output).toMatch(/LastName +Byron +\w+ +salesforce\n/);
    expect(await instance.sql("SELECT lastname FROM own.people")).toEqual([{ lastname: "Byron" }]);
  },

  /** The application's migrations are drizzle-kit's, and a mapping needs a table that they do not make yet. */
  drizzle: async (reader) => {
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
  },

  /** DynamoDB is lost with everything in it, while a change waits; the document was exported before. */
  "lost-workspace": async (reader) => {
    await reader.run("npx bridge config export mappings.json && npx bridge pause --reason backup");
    await reader.instance.sql(
      "UPDATE salesforce.contact SET title = 'Heiress' WHERE external_id__c = 'demo-contact-5'",
    );
    await reader.restart({ flags: ["--no-demo"] }, (dataDir) => {
      for (const name of ["cloud", "instance.json"]) rmSync(join(dataDir, name), { recursive: true });
    });
    await reader.types();

    const sent = "SELECT Title FROM Contact WHERE External_Id__c = 'demo-contact-5'";
    await expect.poll(() => reader.instance.soql(sent), SOON).toMatchObject([{ Title: "Heiress" }]);
  },

  "own-database": async (reader) => {
    await shopDatabase(reader);
    await reader.types();

    expect((await jsonOf<Record<string, object>>(reader, "connections"))["postgres"]).toMatchObject({
      database: "shop",
      schema: "salesforce",
    });
  },

  /** The database and the mapping of the blocks before. */
  "own-row": async (reader) => {
    reader.stub("psql");
    await reader.types();

    const sent = "SELECT LastName FROM Contact WHERE External_Id__c = 'shop-1'";
    await expect.poll(() => reader.instance.soql(sent), SOON).toMatchObject([{ LastName: "Lovelace" }]);
  },

  /** The password of a connected database was changed a moment ago. */
  "new-password": async (reader) => {
    const superuser = await shopDatabase(reader);
    await reader.run(
      "npx bridge workspace create Shop --owner ada@example.com --login && npx bridge connect postgres --url-file url.txt --schema salesforce && npx bridge connect salesforce && npx bridge mapping create Lead --fields LastName Company && npx bridge mapping show Lead --wait",
    );
    await query(superuser.href, "ALTER ROLE shop PASSWORD 'second'");
    const file = join(reader.folder, "url.txt");
    writeFileSync(file, readFileSync(file, "utf8").replace("shop:first", "shop:second"));
    await reader.types();

    await query(readFileSync(file, "utf8"), "INSERT INTO salesforce.lead (lastname, company) VALUES ('Ada', 'Shop')");
    const sent = "SELECT Company FROM Lead WHERE LastName = 'Ada'";
    await expect.poll(() => reader.instance.soql(sent), SOON).toMatchObject([{ Company: "Shop" }]);
  },
} satisfies Preparations;

/** As `heroku connect:export` writes it (heroku-connect-facts 2.1). */
const FIELDS = { Id: {}, SystemModstamp: {}, IsDeleted: {}, Email: {}, External_Id__c: {}, LastName: {} };
const CONFIG = { access: "read_write", sf_notify_enabled: false, sf_polling_seconds: 600, fields: FIELDS };
const EXPORT = {
  version: 1,
  connection: { app_name: "acme", organization_id: "00D000000000000", name: "acme-connect" },
  mappings: [{ object_name: "Contact", config: { ...CONFIG, upsert_field: "External_Id__c" } }],
};

/** Heroku Connect has read two contacts; a change of one waits, and one of the other was refused. Gives its database. */
async function herokuDatabase(reader: Reader): Promise<{ url: URL; superuser: URL }> {
  const superuser = superuserOf(reader);
  const url = Object.assign(new URL(reader.instance.file.database_url), { pathname: "/heroku" });
  await query(superuser.href, "CREATE DATABASE heroku OWNER bridge");
  const columns = { email: "varchar(80)", external_id__c: "varchar(64)", lastname: "varchar(80)" };
  await query(
    url.href,
    herokuConnectSchema([{ table: "contact", columns, upsertColumn: "external_id__c" }]),
    `${AS_HEROKU_CONNECT}; SET timezone = 'UTC'`,
    ...(await reader.instance.soql(RECORDS)).map(
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
  reader.stub("heroku");
  return { url, superuser };
}

const YES = [/\[y\/N\] $/, "y"] as const;
const SENT = "SELECT Email FROM Contact WHERE External_Id__c = 'demo-contact-11'";

const RECORDS =
  "SELECT Id, SystemModstamp, External_Id__c, LastName, Email FROM Contact WHERE External_Id__c IN ('demo-contact-11', 'demo-contact-12')";

/** A database beside that of the instance, and a role of it that the page has made; its URL is in `url.txt`. */
async function shopDatabase(reader: Reader): Promise<URL> {
  const superuser = superuserOf(reader);
  await query(superuser.href, "CREATE ROLE shop LOGIN PASSWORD 'first'", "CREATE DATABASE shop OWNER shop");
  const url = Object.assign(new URL(superuser), { username: "shop", password: "first", pathname: "/shop" });
  writeFileSync(join(reader.folder, "url.txt"), url.href);
  return superuser;
}
