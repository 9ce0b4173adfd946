import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect } from "vitest";
import type { Reader } from "../reader.ts";

/** Far more than it takes, so that a busy machine fails nothing. */
const SOON = { timeout: 300_000, interval: 250 };

/** A database beside that of the instance, and a role of it that the page has made; its URL is in `url.txt`. */
async function shopDatabase({ instance, folder }: Reader): Promise<URL> {
  const superuser = new URL(instance.file.database_url);
  const password = readFileSync(join(instance.dataDir, "postgres/superuser-password"), "utf8").trim();
  Object.assign(superuser, { username: "postgres", password });
  await query(superuser.href, "CREATE ROLE shop LOGIN PASSWORD 'first'", "CREATE DATABASE shop OWNER shop");
  const url = new URL(superuser);
  Object.assign(url, { username: "shop", password: "first", pathname: "/shop" });
  writeFileSync(join(folder, "url.txt"), url.href);
  return superuser;
}

export async function ownDatabase(reader: Reader): Promise<void> {
  await shopDatabase(reader);
  await reader.types();

  const connections = JSON.parse(await reader.run("npx bridge connections --json")) as Record<string, object>;
  expect(connections["postgres"]).toMatchObject({ database: "shop", schema: "salesforce" });
}

/** The database and the mapping of the blocks before. */
export async function ownRow(reader: Reader): Promise<void> {
  reader.stub("psql");
  await reader.types();

  const sent = "SELECT LastName FROM Contact WHERE External_Id__c = 'shop-1'";
  await expect.poll(() => reader.instance.soql(sent), SOON).toMatchObject([{ LastName: "Lovelace" }]);
}

/** The password of a connected database was changed a moment ago. */
export async function newPassword(reader: Reader): Promise<void> {
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
}

async function query(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
