import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createTestClock, type TestClock } from "../../lib/local/clock.ts";
import { allowWriter, startWriter } from "../../lib/local/demo/demo-writer.ts";
import { fillOrg } from "../../lib/local/demo/sample-data.ts";
import { type Org, startOrg } from "../../lib/local/org/start-org.ts";
import { keepSecret } from "../support/run/secrets.ts";
import { createTestDatabase, type TestDatabase } from "../support/worlds/postgres.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let dataDir: string;
let org: Org;
let database: TestDatabase;
let client: Client;
let clock: TestClock;
const said: string[] = [];
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "bridge-writer-"));
  [org, database] = await Promise.all([startOrg({ dataDir }), createTestDatabase()]);
  for (const secret of [org.clientSecret, org.password, org.accessToken]) keepSecret(secret);
  client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`CREATE SCHEMA salesforce;
    CREATE TABLE salesforce._bridge_conflicts (id int);
    CREATE TABLE salesforce.contact (external_id__c text, sfid text, phone text);
    INSERT INTO salesforce.contact SELECT 'demo-contact-' || n, n::text FROM generate_series(1, 80) n`);
  await fillOrg(org);
});
afterAll(async () => {
  await client.end();
  await Promise.all([org.close(), database.close()]);
  rmSync(dataDir, { recursive: true });
});
beforeEach(() => {
  clock = createTestClock(new Date());
  said.length = 0;
  allowWriter(dataDir);
});

test("the writer changes sample rows for its time, makes none, and says that it has stopped", async () => {
  writeFileSync(join(dataDir, "demo-writer.json"), '{"left":40}');
  const writer = begin();

  await clock.advance({ minutes: 10 });
  await writer.close();

  expect(left()).toBe(0);
  expect(said).toEqual(["  the demo's writer has stopped: an hour is over; npx bridge demo start resumes it"]);
  const { rows } = await client.query(
    "SELECT count(*)::int AS rows, count(phone)::int AS changed FROM salesforce.contact",
  );
  expect(rows).toEqual([{ rows: 80, changed: 20 }]);
  expect(await records("SELECT COUNT(Id) n FROM Account")).toMatchObject([{ n: 20 }]);
});

test("a writer that is stopped writes no more, until it is started again", async () => {
  const writer = begin();
  await clock.advance({ seconds: 80 });
  expect(left()).toBe(440); // of 450, one every eight seconds: an hour

  writeFileSync(join(dataDir, "demo-writer.json"), '{"left":0}');
  const before = await phones();
  await clock.advance({ minutes: 5 });
  expect([left(), await phones()]).toEqual([0, before]);
  writeFileSync(join(dataDir, "demo-writer.json"), '{"left":450}');
  await clock.advance({ seconds: 24 });
  await writer.close();

  expect(left()).toBe(447);
});

test("the writer never writes once the workspace is connected to another database or org", async () => {
  const before = await phones();
  const writer = begin(async () => false);

  await clock.advance({ minutes: 5 });
  await writer.close();

  expect(await phones()).toEqual(before);
  expect(left()).toBe(0);
  expect(said.join()).toContain("the workspace is connected to another database or org");
});

const begin = (isOurs = async () => true) =>
  startWriter({ dataDir, databaseUrl: database.url, org, isOurs, show: (line) => said.push(line), clock });

const left = (): number => JSON.parse(readFileSync(join(dataDir, "demo-writer.json"), "utf8")).left;

/** What both sides hold of what it changes. */
async function phones() {
  const { rows } = await client.query("SELECT phone FROM salesforce.contact ORDER BY external_id__c");
  return [rows, await records("SELECT Phone FROM Account ORDER BY External_Id__c")];
}

async function records(soql: string): Promise<unknown> {
  const answer = await fetch(`${org.url}/services/data/v68.0/query?q=${encodeURIComponent(soql)}`, {
    headers: { authorization: `Bearer ${org.accessToken}` },
  });
  return ((await answer.json()) as { readonly records: unknown }).records;
}
