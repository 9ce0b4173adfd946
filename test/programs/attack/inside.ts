import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import pLimit from "p-limit";
import { Client } from "pg";
import { doorbells, pepper } from "../../../functions/services/composition.ts";
import { takeRingToken } from "../../../lib/access/ring-token.ts";
import { mintToken } from "../../../lib/access/token.ts";
import type { OpenApi } from "../../../lib/http/openapi/open-api.ts";
import { ROUTES, type Route } from "../../../lib/http/routes.ts";
import { SCOPES, type Scope } from "../../../lib/model/workspace/token.ts";
import { NEVER_A_NAME, NEVER_A_TABLE, NEVER_AN_API_NAME } from "../../conformance/hostile-names.ts";
import { dataOf } from "../../support/clients/data-of.ts";
import { type Generated, generatedRequests } from "../../support/doubles/generated-requests.ts";
import { secretsIn } from "../../support/run/secrets.ts";
import type { HttpAnswer } from "../../support/worlds/running-bridge.ts";
import { operatorsWorkspace, type TestWorkspace } from "../../support/worlds/workspace.ts";
import { type Attacked, cycle, HANG_MILLISECONDS, inTime, type Part } from "./world.ts";

const AT_ONCE = 16;
const SLICE = 500;

/** What is wrong with any answer at all; null: nothing. */
function complaint(answer: HttpAnswer | string): string | null {
  if (typeof answer === "string") return answer;
  const { status, text } = answer;
  if (status >= 500) return `a ${status}: ${text.slice(0, 300)}`;
  if (/(\n|\\n)\s+at .+:\d+:\d+|node_modules|\/functions\/|file:\/\/[^\s"]+:\d+/.test(text))
    return `a stack trace: ${text.slice(0, 300)}`;
  return null;
}

/** Who asks, where, and the expected result: this status, or `in` for whatever lets in. */
interface Caller {
  readonly who: string;
  readonly authorization: string | null;
  readonly workspaceId?: string;
  readonly query?: string;
  readonly right: (route: Route) => number | "in";
}

const isEnough = (held: Scope, { scope }: Route) => SCOPES.indexOf(held) >= SCOPES.indexOf(scope ?? "read");

/** Every endpoint by every kind of token: exactly those that are meant to are let in. */
export const matrix: Part = async (world) => {
  const { doors, size } = world;
  // Of its own: what lets in begins a restore, after which nothing is sent.
  const workspace = await world.bridge.createWorkspace("asked of everything");
  const callers = await callersOf({ ...world, workspace });
  const guarded = Object.entries<Route>(ROUTES).filter(([, { scope }], at) => scope !== null && at % size.every === 0);
  const findings: string[] = [];
  for (const [name, route] of guarded)
    for (const { who, authorization, workspaceId = workspace.id, query = "", right } of callers) {
      const url = route.path.replace("{workspace_id}", workspaceId).replace(/\{\w+\}/g, "none") + query;
      const headers = authorization === null ? {} : { Authorization: authorization };
      const answer = await inTime(doors.ask(route.method, url, { headers }), HANG_MILLISECONDS);
      const wrong = complaint(answer);
      const must = right(route);
      const isRight = (status: number) => (must === "in" ? status !== 401 && status !== 403 : status === must);
      if (wrong !== null) findings.push(`${name} with ${who}: ${wrong}`);
      else if (typeof answer !== "string" && !isRight(answer.status))
        findings.push(`${name} with ${who}: ${answer.status}`);
    }
  const rings = [`${workspace.id}/ring_${"A".repeat(43)}`, `${workspace.id}/${workspace.token}`, "deployment/ring_"];
  for (const place of rings) {
    const answer = await inTime(doors.ask("POST", `/ring/${place}`, {}), HANG_MILLISECONDS);
    const status = typeof answer === "string" ? answer : answer.status;
    if (status !== 404) findings.push(`/ring/${place} answers ${status}`);
  }
  return { tried: guarded.length * callers.length + rings.length, findings };
};

/** Every kind of token there is: a new kind gets its lines here. */
async function callersOf({ doors, bridge, workspace }: Attacked): Promise<readonly Caller[]> {
  const [other, operators] = await Promise.all([bridge.createWorkspace("other"), operatorsWorkspace()]);
  const revoked = await workspace.tokenWith(["admin"]);
  const list = await doors.ask("GET", `/api/v1/t/${workspace.id}/tokens/current`, { token: revoked });
  const { id } = dataOf<{ id: string }>(list);
  await doors.ask("DELETE", `/api/v1/t/${workspace.id}/tokens/${id}`, { token: workspace.token });
  const byAda = { workspaceId: workspace.id, actor: "ada@example.com", at: new Date(), rotates: false };
  const { token: ringToken } = await takeRingToken({ doorbells: doorbells(), pepper: pepper() }, byAda);
  const unmade = mintToken("admin");
  const misspelt = unmade.slice(0, -1) + (unmade.endsWith("0") ? "1" : "0");
  const admin = workspace.token;
  const unauthorized: readonly (readonly [string, string | null, string?])[] = [
    ["none", null],
    ["an empty one", "Bearer "],
    ["another scheme", `Basic ${Buffer.from(`x:${admin}`).toString("base64")}`],
    ["the scheme left out", admin],
    ["a malformed one", "Bearer brg_a123"],
    ["a misspelt one", `Bearer ${misspelt}`],
    ["one that was never made", `Bearer ${unmade}`],
    ["an expired one", `Bearer ${await workspace.tokenWith(["admin"], new Date(Date.now() - 1000))}`],
    ["a revoked one", `Bearer ${revoked}`],
    ["two in one header", `Bearer ${admin}, Bearer ${admin}`],
    ["one with more behind it", `Bearer ${admin} x`],
    ["a webhook's secret", `Bearer whsec_${"A".repeat(43)}=`],
    ["its doorbell's", `Bearer ${ringToken}`],
    ["one in the query", null, `?token=${admin}&access_token=${admin}&authorization=Bearer%20${admin}`],
  ];
  const ofScopes = async ({ tokenWith }: TestWorkspace, who: string, more: Pick<Caller, "workspaceId" | "right">) =>
    await Promise.all(
      SCOPES.map(async (scope) => ({
        ...more,
        who: `${who} of scope ${scope}`,
        authorization: `Bearer ${await tokenWith([scope])}`,
        right: (route: Route) => (isEnough(scope, route) && !route.byInvitation ? more.right(route) : 403),
      })),
    );
  const refused = (status: number) => () => status;
  return [
    ...unauthorized.map(([who, authorization, query = ""]) => ({ who, authorization, query, right: refused(401) })),
    { who: "another workspace's", authorization: `Bearer ${other.token}`, right: refused(403) },
    {
      who: "a workspace that is not there",
      authorization: `Bearer ${admin}`,
      workspaceId: "ws_none",
      right: refused(404),
    },
    ...(await ofScopes(workspace, "its own", { right: ({ deployment }) => (deployment === "only" ? 404 : "in") })),
    { who: "an operator's", authorization: `Bearer ${operators.token}`, right: refused(403) },
    { who: "its own, for all", authorization: `Bearer ${admin}`, workspaceId: operators.id, right: refused(403) },
    ...(await ofScopes(operators, "an operator's, for all", {
      workspaceId: operators.id,
      right: ({ deployment }) => (deployment === undefined ? 404 : "in"),
    })),
  ];
}

const DESCRIPTION = join(import.meta.dirname, "../../../lib/http/openapi/openapi.json");

/** Requests near and far from what the API takes, and bytes that are hardly HTTP. */
export const fuzz: Part = async ({ doors, bridge, workspace, contactId, size }) => {
  const whole = JSON.parse(readFileSync(DESCRIPTION, "utf8")) as OpenApi;
  const paths = Object.fromEntries(Object.entries(whole.paths).filter(([path]) => size.paths.test(path)));
  const document = { ...whole, paths };
  const ids = { mapping_id: [contactId], object_name: ["Contact", "Account"], row_id: ["1"] };
  const requests = generatedRequests(document, workspace.id, ids);
  const findings: string[] = [];
  const atOnce = pLimit(AT_ONCE);
  const crowdedOut: (() => Promise<void>)[] = [];
  const attempt = async (one: Generated, at: number, isAlone = false) => {
    const answer = await inTime(doors.ask(...asked(one, workspace.token)), HANG_MILLISECONDS);
    // All connections that the workspace allows itself are in use by the other requests: it is tested again, alone.
    if (typeof answer !== "string" && answer.json?.error?.code === "UNAVAILABLE" && !isAlone) {
      crowdedOut.push(() => attempt(one, at, true));
      return;
    }
    const wrong = complaint(answer);
    if (wrong !== null) findings.push(`request ${at}, ${one.route}: ${wrong}`);
    if (at % 20 === 0) {
      const raw = RAW[(at / 20) % RAW.length] ?? "";
      const said = await inTime(rawAnswer(bridge.baseUrl, raw.replaceAll("TOKEN", workspace.token)), HANG_MILLISECONDS);
      if (/^HTTP\/1.1 (5(?!01|05)|2)\d/.test(said) || said.startsWith("no end"))
        findings.push(`${JSON.stringify(raw.slice(0, 80))} is answered ${said.slice(0, 60)}`);
    }
  };
  // Slice by slice: while requests are generated this process, which Bridge runs in as well, does nothing else, and
  // connections that have been idle for five seconds would be cut under the requests that come next.
  for (let at = 0; at < size.requests; at += SLICE) {
    const numRuns = Math.min(SLICE, size.requests - at);
    const slice = fc.sample(requests, { numRuns, seed: size.seed + at });
    await Promise.all(slice.map((one, next) => atOnce(attempt, one, at + next)));
  }
  for (const ask of crowdedOut) await ask();
  const alive = await inTime(doors.ask("GET", "/api/metrics", {}), HANG_MILLISECONDS);
  if (typeof alive === "string" || alive.status !== 200) findings.push("the service does not answer any more");
  return { tried: size.requests + Math.ceil(size.requests / 20), findings };
};

function asked({ route, request }: Generated, token: string): Parameters<Attacked["doors"]["ask"]> {
  const { method, path } = ROUTES[route];
  const part = (text: string) => encodeURIComponent(text.toWellFormed()).replace(/^\.{1,2}$/, "%252e");
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => part(request.path?.[name] ?? "") || "%20");
  const query = new URLSearchParams(
    Object.entries(request.query ?? {}).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one.toWellFormed()]),
    ),
  );
  const headers = Object.entries(request.headers ?? {}).map(([name, value]) => [
    name,
    value.replace(/[^\x20-\x7e]/g, "?"),
  ]);
  const { body } = request;
  return [
    method,
    `${url}?${query}`,
    { token, headers: Object.fromEntries(headers), ...(body !== undefined && { body }) },
  ];
}

const HEAD = "GET /api/v1/t/none/health HTTP/1.1\r\nHost: x\r\n";
const POST = "POST /api/v1/t/none/config/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\n";
const RAW = [
  `${POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `${POST}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`,
  `${POST}Content-Length: -1\r\n\r\n`,
  `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  `${HEAD}Host: y\r\n\r\n`,
  `${HEAD}Authorization: Bearer TOKEN\r\nAuthorization: Bearer TOKEN\r\n\r\n`,
  `${HEAD}X: a\r\n b: c\r\n\r\n`,
  `${HEAD}X : a\r\n\r\n`,
  `${HEAD}X: \u0000\r\n\r\n`,
  `${HEAD}X: ${"a".repeat(40_000)}\r\n\r\n`,
  `${HEAD}${"X: a\r\n".repeat(5_000)}\r\n`,
  "GET http://169.254.169.254/ HTTP/1.1\r\nHost: x\r\n\r\n",
  "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n",
  "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n",
  `GET /${"../".repeat(50)}etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n`,
  "GET /%ff%00%zz HTTP/1.1\r\nHost: x\r\n\r\n",
  "GET / HTTP/9.9\r\n\r\n",
  "\u0016\u0003\u0001\u0002\u0000\u0001\u0000",
];

/** What comes back for these bytes, until the other side ends it or has said its headers. */
async function rawAnswer(baseUrl: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  socket.write(bytes, "latin1");
  let said = "";
  socket.on("data", (chunk) => {
    said += chunk.toString("latin1");
    if (said.includes("\r\n\r\n")) socket.destroy();
  });
  await once(socket, "close");
  return said;
}

/** Names that break out of SQL or SOQL, wherever the API takes a name: none is accepted, and none touches another table. */
export const names: Part = async ({ doors, workspace, ask, sql, size }) => {
  await sql("CREATE TABLE IF NOT EXISTS salesforce.victim (id int PRIMARY KEY)");
  const state = async () => ({
    tables: await sql("SELECT oid::regclass::text, relkind FROM pg_class WHERE relkind IN ('r', 'v', 'm') ORDER BY 1"),
    mappings: (await ask("GET", "/config/export")).text,
  });
  const before = JSON.stringify(await state());
  const some = (list: readonly string[]) => list.filter((_, at) => at % size.every === 1 % size.every);
  const fields = { Name: {} };
  const documents = [
    ...some([...NEVER_A_NAME, ...NEVER_AN_API_NAME]).flatMap((name) => [
      { object_name: name, config: { fields } },
      { object_name: "Lead", config: { fields: { [name]: {} } } },
      { object_name: "Lead", config: { fields, upsert_field: name } },
    ]),
    ...some([...NEVER_A_NAME, ...NEVER_A_TABLE]).map((pg_table) => ({
      object_name: "Lead",
      config: { fields, bridge: { pg_table } },
    })),
  ];
  const queries = some([...NEVER_A_NAME, ...NEVER_A_TABLE]).map(
    (name) => `/monitoring/activity?table=${encodeURIComponent(name.toWellFormed())}`,
  );
  const token = workspace.token;
  const findings: string[] = [];
  const look = async (method: string, path: string, body?: unknown) => {
    const asked = doors.ask(method, `/api/v1/t/${workspace.id}${path}`, { token, body });
    const wrong = complaint(await inTime(asked, HANG_MILLISECONDS));
    if (wrong !== null) findings.push(`${path} ${JSON.stringify(body)}: ${wrong}`);
  };
  for (const mapping of documents) await look("POST", "/config/import", { version: 1, mappings: [mapping] });
  for (const path of queries) await look("GET", path);
  if (JSON.stringify(await state()) !== before) findings.push("there are other tables or mappings than before");
  return { tried: documents.length + queries.length, findings };
};

/** Roles without any right of Bridge's: they read, write and call nothing of it. */
export const roles: Part = async ({ bridge, sql }) => {
  const name = `walker_${Math.random().toString(36).slice(2, 8)}`;
  await bridge.database.asSuperuser(`CREATE ROLE ${name} LOGIN PASSWORD '${name}'; GRANT USAGE ON SCHEMA salesforce TO ${name};
    GRANT SELECT, INSERT, UPDATE, DELETE ON salesforce.contact TO ${name}`);
  const url = Object.assign(new URL(bridge.database.url), { username: name, password: name }).href;
  const client = new Client({ connectionString: url });
  await client.connect();
  const tables = await sql<{ one: string; column: string }>(
    `SELECT c.oid::regclass::text AS one, a.attname AS column FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1
     WHERE c.relnamespace = 'salesforce'::regnamespace AND c.relkind IN ('r', 'v') AND starts_with(c.relname, '_')`,
  );
  const functions = await sql<{ one: string }>(
    `SELECT oid::regprocedure::text AS one FROM pg_proc WHERE pronamespace = 'salesforce'::regnamespace AND starts_with(proname, '_bridge')`,
  );
  const steps = [
    ...tables.flatMap(({ one, column }) => [
      `SELECT FROM ${one}`,
      `DELETE FROM ${one}`,
      `UPDATE ${one} SET "${column}" = "${column}"`,
      `INSERT INTO ${one} DEFAULT VALUES`,
      `TRUNCATE ${one}`,
      `CREATE TRIGGER own AFTER INSERT ON ${one} EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
    ]),
    ...functions.flatMap(({ one }) => [
      `SELECT ${one.replace(/\(.*/, "()")}`,
      `CREATE TEMP TABLE own (id int); CREATE TRIGGER own AFTER INSERT ON own EXECUTE FUNCTION ${one}`,
    ]),
    ...[
      "ALTER TABLE salesforce.contact DISABLE TRIGGER ALL",
      "DROP TABLE salesforce.contact",
      "CREATE TABLE salesforce.own ()",
    ],
    ...["TRUNCATE salesforce.contact", "SET session_replication_role = replica", "SET ROLE postgres"],
  ];
  const findings: string[] = [];
  for (const step of steps) {
    const refusal = await client.query(`BEGIN; ${step}`).then(
      () => null,
      (error: unknown) => String(error),
    );
    await client.query("ROLLBACK");
    if (refusal === null) findings.push(`a role without any right may: ${step}`);
  }
  await client.end();
  await bridge.database.asSuperuser(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
  return { tried: steps.length, findings };
};

/** Values that are huge, or that SQL, SOQL, XML, CSV or JSON could trip over; beside each a good row must continue. */
export const rows: Part = async (world) => {
  const { doors, sql, workspace, size } = world;
  const huge = [0.01, 0.1, 1, size.rowMegabytes].map((megabytes) => `${Math.ceil(megabytes * 1_000_000)}`);
  const values = [
    ...["'; DROP TABLE salesforce.contact; --", "' OR LastName != '", "</LastName><Id>003</Id>", "]]>"],
    ...["<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>", "=1+1", "\u0001\u0008", "\ufffe\uffff", "\u202e"],
    ...["{{7*7}}", "$1", "\\", "\r\n", "&#0;", "𝕬".repeat(200), "a\u2028b", "null"],
  ];
  const made: number[] = [];
  const insert = async (text: string, value: string) => {
    const [row] = await sql<{ id: number }>(`INSERT INTO salesforce.contact (lastname) VALUES (${text}) RETURNING id`, [
      value,
    ]);
    if (row) made.push(row.id);
  };
  await sql("ALTER TABLE salesforce.contact ALTER COLUMN lastname TYPE text");
  for (const value of values) await insert("$1", value);
  for (const length of huge) await insert("repeat('x', $1::int)", length);
  await insert("$1", "A good one");
  const findings: string[] = [];
  let open = made;
  for (let round = 0; open.length > 0 && round < 240; round += 1) {
    await cycle(world);
    const settled = await sql<{ id: number }>(
      "SELECT id FROM salesforce.contact WHERE id = ANY ($1) AND _ab_lastop IN ('INSERTED', 'FAILED')",
      [made],
    );
    open = made.filter((id) => !settled.some((row) => row.id === id));
  }
  for (const id of open) findings.push(`row ${made.indexOf(id)} of ${made.length} has no end`);
  const [good] = await sql<{ _ab_lastop: string; _ab_err: string | null }>(
    "SELECT _ab_lastop, left(_ab_err, 300) AS _ab_err FROM salesforce.contact WHERE id = $1",
    [made.at(-1)],
  );
  if (good?._ab_lastop !== "INSERTED")
    findings.push(`the good row beside them did not arrive: ${JSON.stringify(good)}`);
  const reads = [
    "monitoring/activity?limit=200",
    "monitoring/errors",
    "monitoring/failures",
    "health",
    "audit-log?format=csv",
  ];
  for (const path of reads) {
    const asked = doors.ask("GET", `/api/v1/t/${workspace.id}/${path}`, { token: workspace.token });
    const answer = await inTime(asked, HANG_MILLISECONDS);
    const wrong = complaint(answer);
    if (wrong !== null) findings.push(`${path}: ${wrong}`);
    else if (typeof answer !== "string" && answer.text.length > 10_000_000)
      findings.push(`${path}: ${answer.text.length} characters`);
    else if (typeof answer !== "string" && secretsIn(answer.text).length > 0) findings.push(`${path} shows a secret`);
  }
  return { tried: made.length, findings };
};
