import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Org, startOrg } from "../../lib/local/org/start-org.ts";
import { askRest } from "../support/clients/org-rest.ts";
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
});
afterAll(async () => {
  await database.close();
  await org.close();
  line.close();
});

test("a query of more records than one answer holds is shown to its end, and one for the number by it", async () => {
  const attributes = { type: "Contact" };
  for (let made = 0; made < CONTACTS; made += AT_ONCE) {
    const records = Array(Math.min(AT_ONCE, CONTACTS - made)).fill({ attributes, LastName: "Lovelace" });
    await askRest(org, "POST", "/composite/sobjects", { allOrNone: true, records });
  }

  const contacts = await line.json<readonly object[]>(["soql", "SELECT LastName FROM Contact"]);
  const { stdout } = await line.run(["soql", "SELECT COUNT() FROM Contact"]);

  expect(contacts).toHaveLength(CONTACTS);
  expect(contacts[0]).toEqual({ LastName: "Lovelace" });
  expect(stdout).toMatch(/count\s+2001/i);
});

test.each([
  ["SELECT 1 AS a; SELECT 2 AS a, 3 AS a;", [[{ a: 1 }], [{ a: 2, "a 2": 3 }]], /^a\n1\na +a 2\n2 +3\n$/],
  ["CREATE TEMP TABLE t (a int); INSERT INTO t VALUES (7), (8)", [[], []], /^CREATE\nINSERT 2\n$/],
  ["SELECT 1 AS a;;", [{ a: 1 }], /^a\n1\n$/],
  ["/* a comment */", [], /^no statement\n$/],
  ["SELECT '290000-01-01'::timestamp AS far", [{ far: null }], /^far\n/],
  ["SELECT 'infinity'::timestamptz AS never", [{ never: null }], /^never\nInfinity\n$/],
] as const)("statements in one text are all run, and what each gave is shown: %s", async (text, rows, shown) => {
  expect(await line.json(["sql", text])).toEqual(rows);
  expect(await line.run(["sql", text])).toMatchObject({ code: 0, stdout: expect.stringMatching(shown) });
});

test.each([
  ["sql", "SELECT 1; SELECT nothing FROM nowhere", 'relation "nowhere" does not exist'],
  ["sql", "SELECT pg_terminate_backend(pg_backend_pid())", ""],
  ["soql", "SELECT Nothing FROM Contact", "No such column 'Nothing' on entity 'Contact'"],
])("a text that fails ends as not acceptable, with the words of its side: %s %s", async (command, text, says) => {
  const { code, stderr } = await line.run([command, text]);

  expect([code, stderr]).toEqual([6, expect.stringContaining(says)]);
  expect(stderr).not.toMatch(/^ +at /m);
});
