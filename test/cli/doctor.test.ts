import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { writeProfiles } from "../../lib/cli/profiles.ts";
import { CONTACT, eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();

const encrypted = { check: "tls", ok: true, message: "the connection is encrypted", remedy: null };
const budget = {
  ...{ calls_used: 10, calls_limit: 15_000, calls_left: 14_990, counted_at: null, since: null },
  ...{ forecast_calls_per_day: 9_216, pace: "normal", allowed_calls: 12_000, own_calls: 9_599 },
};
const page = { total: 0, limit: 1, offset: 0 };
const running = { ...CONTACT, state: "running", failure: null, reason: null, upsert_field: "Key__c" };
const incident = {
  ...{ cause: "rows_refused", stops: false, message: "Salesforce refused 11 rows of Contact", objects: ["Contact"] },
  ...{ said: "REQUIRED_FIELD_MISSING: \u001b[2J", since: null, waiting: null, next_try_at: null },
  ...{ remedy: "correct the values", commands: ["bridge errors --grouped"] },
};
beforeEach(() => {
  world.answer("GET /openapi.json", {});
  world.answer("POST /connections/postgres/test", { ok: true, findings: [encrypted] });
  world.answer("POST /connections/salesforce/test", { ok: true, findings: [] });
  for (const call of ["mappings", "failures"]) world.answer(`GET /monitoring/${call}`, []);
  for (const call of ["inbound-errors", "conflicts"]) world.answer(`GET /monitoring/${call}`, [], page);
  world.answer("GET /monitoring/budget", budget);
  world.answer("GET /health", { sync: {} });
  world.answer("GET /doorbell", { created_at: null, mappings: [] });
  world.answer("GET /webhooks", []);
});

const doctor = (options = "") => world.run(`doctor ${options}`.trim());

test("folds what is well into one line, which --all opens", async () => {
  const { code, stdout: folded } = await doctor();
  const { stdout } = await doctor("--all");

  expect(code).toBe(0);
  expect(folded).toMatch(/^✓ \d checks passed; --all lists them\n$/);
  expect(stdout).not.toMatch(/^[!✗]/m);
  world.answer("GET /monitoring/budget", { ...budget, own_calls: 9_600 });
  const much = "! Bridge has made 9600 of the 12000 calls of its share: 10 used in 24 hours\n"; // 80 %
  expect(await doctor()).toMatchObject({ code: 0, stdout: has(much) });
  expect(stdout).toContain("✓ the mappings cost 9216 API calls a day while nothing changes; the org allows 15000\n");
});

test("says what is wrong with the token, not with a connection that it may not look at", async () => {
  world.refuse("POST /connections/postgres/test", 403, "FORBIDDEN");
  world.refuse("POST /connections/salesforce/test", 409, "CONFLICT");

  const { code, stdout } = await doctor();

  expect(code).toBe(10);
  expect(stdout).toContain("a token that has the scope admin");
  expect(stdout).not.toContain("bridge connect postgres");
  expect(stdout).toContain("bridge connect salesforce");
});

test("warns of what works and should be checked, and ends well", async () => {
  const findings = [{ ...encrypted, message: "the connection is not encrypted", remedy: "use ?sslmode=verify-full" }];
  world.answer("POST /connections/postgres/test", { ok: true, findings });
  world.answer("GET /monitoring/conflicts", [{ at: new Date().toISOString() }, { at: "2026-01-01T00:00:00Z" }]);
  world.answer("GET /monitoring/budget", { ...budget, forecast_calls_per_day: 16_640, pace: "stretched" });
  world.refuse("GET /doorbell", 403, "FORBIDDEN");
  const upgrade = "the schema salesforce is being upgraded from version 8 to 9";
  world.answer("GET /health", { sync: { upgrade }, incidents: [{ ...incident, cause: "webhook_paused", said: null }] });
  world.answer("GET /monitoring/mappings", [
    { ...running, upsert_field: null, sync_direction: "bidirectional" },
    { ...running, sf_object: "Lead", upsert_field: null, sync_direction: "sf_to_pg" },
  ]);

  const { code, stdout } = await doctor();

  expect(code).toBe(0);
  expect(stdout).not.toMatch(/^✗|Lead/m);
  for (const warned of [
    "the connection is not encrypted\n    use ?sslmode=verify-full\n",
    "1 conflict in the last 24 hours",
    "pulls are further apart",
    "the mappings cost 16640 API calls a day while nothing changes; the org allows 15000\n",
    "doorbells could not be checked: in words\n    sign in with a token",
    `${upgrade}\n`,
    "Salesforce refused 11 rows of Contact\n", // of a webhook that is paused
    "Contact has no upsert field\n",
  ])
    expect(stdout).toContain(`! ${warned}`);
});

test("names a check that failed to run as one that ran", async () => {
  const checks = async () => new Set((await doctor("--json")).stdout.match(/"check": *"[^"]*"/g));
  const before = await checks();
  for (const path of ["inbound-errors", "conflicts"]) world.refuse(`GET /monitoring/${path}`, 403, "FORBIDDEN");

  expect(await checks()).toEqual(before);
});

test("begins with incidents, each with what waits, what helps and how; nothing is well that they stop", async () => {
  const limit = {
    ...{ ...incident, cause: "salesforce_limit", stops: true, message: "the org's calls are used up", said: null },
    ...{ since: "2026-11-29T05:40:00Z", waiting: 2, next_try_at: "2026-11-29T05:45:00Z" },
    ...{ remedy: "wait", commands: ["bridge poll Contact"] },
  };
  const session = { check: "session", ok: false, message: "refused", remedy: "wait" };
  world.answer("GET /health", { sync: {}, incidents: [limit, incident] });
  world.answer("POST /connections/salesforce/test", { ok: false, findings: [session] });
  const broken = { state: "broken", failure: "salesforce_limit", reason: "spent" };
  const notices = [{ message: "one call saves 38", remedy: "correct" }];
  world.answer("GET /monitoring/mappings", [
    { ...running, ...broken },
    { ...running, sf_object: "Case", notices },
  ]);
  world.answer("GET /monitoring/inbound-errors", [{ error: "value too long" }], { ...page, total: 41 });

  const { code, stdout } = await doctor("--all");
  const { stdout: json } = await doctor("--json");

  expect(code).toBe(10);
  const lines = [
    "^✗ the org's calls are used up",
    " +since 2026-11-29T05:40:00Z, 2 rows wait, next try 2026-11-29T05:45:00Z",
    " +wait",
    " +bridge poll Contact",
    "✗ Salesforce refused 11 rows of Contact",
    " +REQUIRED_FIELD_MISSING: \\\\u001b\\[2J",
    " +correct the values",
    " +bridge errors --grouped\n",
  ];
  expect(stdout).toMatch(new RegExp(lines.join("\n")));
  expect(stdout).toContain("✗ 41 records could not become rows, for example: value too long\n");
  expect(stdout).toContain("✗ Case: one call saves 38\n    correct\n");
  expect(stdout.match(/✗/g)).toHaveLength(4);
  expect(stdout).not.toMatch(/pulls and pushes|the mappings cost/);
  expect(JSON.parse(json).findings[0]).toMatchObject({ check: "salesforce_limit", ok: false, remedy: "wait" });
});

test("says once who paused the workspace, or that the database is gone, and nothing of what only that knows", async () => {
  const why = "the workspace is paused since 2026-11-25T03:00:00.000Z by ada@example.com (the org moves; call Bo)";
  const reason = `${why}; resume it with: bridge resume`;
  const paused = { ...running, active: true, state: "paused", reason, notices: [] };
  world.answer("GET /monitoring/mappings", [paused, { ...paused, sf_object: "Account" }]);
  const { stdout: pause } = await doctor("--all");
  const message = "PostgreSQL db:5432 does not answer";
  const gone = { ...incident, cause: "postgres_unavailable", stops: true, message };
  world.answer("GET /health", { sync: {}, incidents: [gone] });
  world.refuse("GET /monitoring/inbound-errors", 503, "UNAVAILABLE");

  const { code, stdout } = await doctor();

  expect([code, JSON.parse((await doctor("--json")).stdout).ok]).toEqual([10, false]);
  expect(pause).toContain(`! ${why}\n    resume it with: bridge resume\n`);
  expect(pause.match(/the org moves/g)).toHaveLength(1);
  expect(pause).toContain("✓ Contact is paused");
  expect(stdout.startsWith(`✗ ${message}\n`)).toBe(true);
  expect(stdout).not.toContain("could not be checked");
});

test("says of an object that can be saved when Salesforce last accepted a change, and of doorbells where a mapping listens", async () => {
  const saving = { check: "saving", ok: true, message: "Contact can be saved: the user may", remedy: null };
  world.answer("POST /connections/salesforce/test", { ok: true, findings: [saving] });
  world.answer("GET /monitoring/mappings", [running]);
  world.answer("GET /monitoring/activity", [{ id: 7, state: "SUCCESS" }]);
  const change = { id: 7, sent_at: "2026-11-29T05:40:00.000Z", synced_at: "2026-11-29T05:40:01.000Z" };
  world.answerEach("GET /monitoring/activity/7", change, { ...change, sent_at: null });
  const since = "2026-03-04T05:00:00.000Z";
  const bell = (sf_object: string, state: string) => ({ mapping_id: "map_1", sf_object, state, since, rung_at: null });
  const mappings = [bell("Contact", "dead"), bell("Account", "alive"), bell("Lead", "off")];
  world.answerEach("GET /doorbell", { mappings }, { mappings: [bell("Contact", "alive")], url_outdated: true });
  const [{ stdout: accepted }, { stdout: lost }] = [await doctor("--all"), await doctor("--all")];

  expect(accepted).toContain(`✓ ${saving.message}; it last accepted a change at 2026-11-29T05:40:01.000Z\n`);
  expect(lost).toContain(`✓ ${saving.message}\n`);
  expect(world.calls()).toContain("GET /monitoring/activity?table=contact&state=SUCCESS&limit=1");
  expect(accepted).toContain(`! the doorbell of Contact is dead since ${since}\n    Changes of Contact came`);
  expect(accepted).toContain(`✓ the doorbell of Account is alive since ${since}\n`);
  expect(accepted).not.toContain("Lead");
  // A URL that is outdated is a warning.
  expect(lost).toMatch(/! the doorbell of Contact is alive since .*\n {4}An operator has .*doorbell --prepare/);
});

describe("where this user is signed in to another workspace of the deployment", () => {
  const forecast = { ...budget, forecast_calls_per_day: 8_646, calls_share: 0.8 };
  const spend = "the workspaces Acme (ws_1) and Demo (ws_2) spend the calls of one org";
  const other = "/api/v1/t/ws_2";
  const signedIn = (url = world.url) => {
    const profiles = { other: { url, workspaceId: "ws_2", token: "brg_r_other" } };
    writeProfiles({ HOME: world.line.folder }, { current: null, profiles });
  };
  beforeEach(() => {
    signedIn();
    for (const [below, id, name] of [
      ["", "ws_1", "Acme"],
      [other, "ws_2", "Demo"],
    ]) {
      world.answer(`GET ${below}/health`, { sync: {}, sf: { status: "healthy", org_id: "00D000000000001AAA" } });
      world.answer(`GET ${below}`, { id, name });
      world.answer(`GET ${below}/monitoring/budget`, forecast);
    }
  });

  test("warns that both spend the calls of one org, with their sum, unless the shares add up to one's", async () => {
    const says = `! ${spend}: together 17292 a day while nothing changes; the org allows 15000\n    give each its share: bridge budget --share 40%\n`;

    expect(await doctor()).toMatchObject({ code: 0, stdout: has(says) });
    for (const below of ["", other]) world.answer(`GET ${below}/monitoring/budget`, { ...forecast, calls_share: 0.4 });
    expect((await doctor("--all")).stdout).toContain(`✓ ${spend}`);
  });

  test.each([
    ["has another org", () => world.answer(`GET ${other}/health`, { sync: {}, sf: { org_id: "00D000000000002" } })],
    ["does not let this user in any more", () => world.refuse(`GET ${other}/health`, 401, "UNAUTHORIZED")],
    ["is another deployment's", () => signedIn("http://127.0.0.1:9")],
  ])("says nothing where it %s", async (_, happens) => {
    happens();

    expect((await doctor("--all")).stdout).not.toContain("spend the calls of one org");
  });
});

test("says since when the instance of this machine does not run, and the last error of its log", async () => {
  const stopped = world.user();
  mkdirSync(join(stopped.folder, "data"));
  const gone = { pid: 2 ** 30, base_url: "http://127.0.0.1:1", workspace_id: "ws_1", api_token: "brg_1" };
  stopped.file("data/instance.json", JSON.stringify(gone));
  const error = { at: "2026-11-29T05:48:50.000Z", level: "error", message: "the embedded PostgreSQL has ended" };
  stopped.file("data/bridge.log", `${JSON.stringify(error)}\n{"level":"info"}\n`);

  const { code, stderr } = await stopped.run(["doctor"]);

  const says = /it does not run since 20\d\d-.*05:48:50\.000Z the embedded PostgreSQL has ended\. Start it: npm start/;
  expect([code, stderr]).toEqual([9, expect.stringMatching(says)]);
});
