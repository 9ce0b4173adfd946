import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
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

test.each([
  ["SELECT 1 AS a; SELECT 2 AS b", [[{ a: 1 }], [{ b: 2 }]], /^a\n1\nb\n2\n$/],
  ["SELECT 1 AS a; SELECT 2 AS a, 3 AS a;", [[{ a: 1 }], [{ a: 2, "a 2": 3 }]], /^a\n1\na +a 2\n2 +3\n$/],
  [
    "CREATE TEMP TABLE t (a int); INSERT INTO t VALUES (7), (8); SELECT a FROM t",
    [[], [], [{ a: 7 }, { a: 8 }]],
    /^CREATE\nINSERT 2\na\n7\n8\n$/,
  ],
  ["BEGIN; SELECT 1 AS a; COMMIT", [[], [{ a: 1 }], []], /^BEGIN\na\n1\nCOMMIT\n$/],
  ["SELECT 1 AS a;;", [{ a: 1 }], /^a\n1\n$/],
  ["", [], /^no statement\n$/],
  ["/* a comment */", [], /^no statement\n$/],
  [
    "SELECT '290000-01-01'::timestamp AS far, 'infinity'::timestamptz AS never",
    [{ far: null, never: null }],
    /^far +never\n +Infinity\n$/,
  ],
] as const)("statements in one text are all run, and what each gave is shown: %s", async (text, rows, shown) => {
  expect(await line.json(["sql", text])).toEqual(rows);
  const { code, stdout } = await line.run(["sql", text]);

  expect(code).toBe(0);
  expect(stdout).toMatch(shown);
});

test.each([
  ["SELECT 1; SELECT nothing FROM nowhere", 6],
  ["COPY pg_class FROM STDIN", 6],
  ["SELECT pg_terminate_backend(pg_backend_pid())", 6],
])("a text that fails ends with a sentence, without a stack trace: %s", async (text, code) => {
  const ended = await line.run(["sql", text]);

  expect(ended.code, ended.stderr).toBe(code);
  expect(ended.stderr).not.toMatch(/^ +at /m);
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

test("doctor says since when the instance of this machine does not run, and the last error of its log", async () => {
  const stopped = openCommandLine();
  onTestFinished(() => stopped.close());
  mkdirSync(join(stopped.folder, "data"));
  const gone = { pid: 2 ** 30, base_url: "http://127.0.0.1:1", workspace_id: "ws_1", api_token: "brg_1" };
  stopped.file("data/instance.json", JSON.stringify(gone));
  const error = { at: "2026-11-29T05:48:50.000Z", level: "error", message: "the embedded PostgreSQL has ended" };
  stopped.file("data/bridge.log", `${JSON.stringify(error)}\n{"level":"info"}\n`);

  const { code, stderr } = await stopped.run(["doctor"]);

  expect(code).toBe(9);
  expect(stderr).toMatch(
    /it does not run since 20\d\d-.*05:48:50\.000Z the embedded PostgreSQL has ended\. Start it: npm start/,
  );
});
