import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Org, startOrg } from "../../lib/local/org/start-org.ts";
import { type CommandLine, openCommandLine } from "../support/processes/command-line.ts";
import { keepSecret } from "../support/run/secrets.ts";
import { createTestDatabase, type TestDatabase } from "../support/worlds/postgres.ts";

/** One more than an answer of Salesforce holds. */
const CONTACTS = 2_001;
const AT_ONCE = 200;

let line: CommandLine;
let org: Org;
let database: TestDatabase;
beforeAll(async () => {
  line = openCommandLine();
  const folder = join(line.folder, "data");
  mkdirSync(folder);
  org = await startOrg({ dataDir: folder });
  for (const secret of [org.clientSecret, org.password, org.accessToken]) keepSecret(secret);
  const salesforce = { url: org.url, access_token: org.accessToken };
  database = await createTestDatabase();
  line.file("data/instance.json", JSON.stringify({ salesforce, database_url: database.url }));
  for (let made = 0; made < CONTACTS; made += AT_ONCE) await createContacts(Math.min(AT_ONCE, CONTACTS - made));
});
afterAll(async () => {
  await database.close();
  await org.close();
  line.close();
});

test("a query of more records than one answer holds is shown to its end", async () => {
  const contacts = await line.json<readonly object[]>(["soql", "SELECT LastName FROM Contact"]);

  expect(contacts).toHaveLength(CONTACTS);
  expect(contacts[0]).toEqual({ LastName: "Lovelace" });
});

test("a query that asks for the number alone is answered by it", async () => {
  const { stdout } = await line.run(["soql", "SELECT COUNT() FROM Contact"]);

  expect(stdout).toMatch(/count\s+2001/i);
});

test("a query that Salesforce refuses ends with its words", async () => {
  const { code, stderr } = await line.run(["soql", "SELECT Nothing FROM Contact"]);

  expect(code).toBe(6);
  expect(stderr).toContain("No such column 'Nothing' on entity 'Contact'");
});

test("columns of one name are all shown, each by a name of its own", async () => {
  const rows = await line.json(["sql", "SELECT count(*), count(NULL), 3 AS count, now() - now() AS age"]);

  expect(rows).toEqual([{ count: "1", "count 2": "0", "count 3": 3, age: expect.anything() }]);
});

test("a statement that PostgreSQL refuses ends as what is not acceptable, not as a token that allows too little", async () => {
  const { code, stderr } = await line.run(["sql", "SELECT nothing FROM nowhere"]);

  expect(code).toBe(6);
  expect(stderr).toContain('relation "nowhere" does not exist');
});

async function createContacts(count: number): Promise<void> {
  const records = Array.from({ length: count }, () => ({ attributes: { type: "Contact" }, LastName: "Lovelace" }));
  const answer = await fetch(`${org.url}/services/data/v66.0/composite/sobjects`, {
    method: "POST",
    headers: { authorization: `Bearer ${org.accessToken}`, "content-type": "application/json" },
    body: JSON.stringify({ allOrNone: true, records }),
  });
  if (!answer.ok) throw new Error(`the contacts were not made: ${await answer.text()}`);
}
