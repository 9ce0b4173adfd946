import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import * as drizzle from "drizzle-orm/pg-core";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Machine, Operator } from "../../lib/cli/operator.ts";
import { writeProfiles } from "../../lib/cli/profiles.ts";
import { openCommandLine } from "../support/processes/command-line.ts";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
});
afterEach(() => world.close());

describe("secrets", () => {
  const made = { id: "tok_1", owner: "ada@example.com", scopes: ["read"], token: "brg_rNEW" };

  test("a new token is alone on standard output, so that it can be piped", async () => {
    world.answer("POST /tokens", made);

    const { stdout, stderr } = await world.line.run(["token", "create", "ci", "--owner", "ada@example.com"]);

    expect(stdout).toBe("brg_rNEW\n");
    expect(stderr).toContain("shown this once");
    expect(world.asked[0]?.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("a rotated token is alone on standard output before the old one gets its end", async () => {
    const old = { id: "tok_0", name: "ci", owner: "ada@example.com", scopes: ["operate"], state: "valid" };
    world.answer("GET /tokens", [{ ...old, created_at: "2026-03-01T12:00:00Z", valid_until: "2026-03-31T12:00:00Z" }]);
    world.answer("POST /tokens", made);
    world.refuse("DELETE /tokens/tok_0", 500, "INTERNAL_ERROR");
    const failed = await world.line.run(["token", "rotate", "ci"]);
    world.answer("DELETE /tokens/tok_0", old);

    const rotated = await world.line.run(["token", "rotate", "ci", "--overlap", "48"]);

    expect([failed.code, failed.stdout]).toEqual([1, "brg_rNEW\n"]);
    expect([rotated.code, rotated.stdout]).toEqual([0, "brg_rNEW\n"]);
    expect(rotated.stderr).toContain("valid for 48 more hours");
    expect(world.asked.at(-1)?.call).toContain("in_hours=48");
    expect(JSON.parse(world.asked.at(-2)?.body ?? "")).toEqual({
      ...{ name: "ci", owner: "ada@example.com", scopes: ["operate"], valid_days: 30 },
    });
  });

  test("a webhook's new secret is alone on standard output", async () => {
    world.answer("POST /webhooks/whk_1/rotate-secret", { secret: "whsec_NEW" });
    const rotate = (hours: string) => world.line.run(["webhook", "rotate", "whk_1", "--overlap", hours]);

    const rotated = await rotate("48");
    const refused = await rotate("169");

    expect(rotated.stdout).toBe("whsec_NEW\n");
    expect(rotated.stderr).toContain("the old one signs for 48 hours, too");
    expect(world.asked.map(({ call }) => call)).toEqual(["POST /webhooks/whk_1/rotate-secret?overlap_seconds=172800"]);
    expect(refused.code).toBe(6);
  });

  test("a replay asks page by page, and says how much is sent again", async () => {
    world.answer("POST /webhooks/whk_1/replay", { queued: 3, next: "dlv_9" });
    const running = world.line.run(["webhook", "replay", "whk_1", "--since", "2026-01-31"]);
    await expect.poll(() => world.asked.length).toBeGreaterThan(1);
    world.answer("POST /webhooks/whk_1/replay", { queued: 1, next: null });

    const { stdout } = await running;

    const pages = world.asked.length;
    expect(stdout).toContain(`Deliveries that are sent again: ${3 * (pages - 1) + 1}.`);
    expect(world.asked.map(({ call }) => call)).toEqual([
      "POST /webhooks/whk_1/replay?since=2026-01-31",
      ...Array<string>(pages - 1).fill("POST /webhooks/whk_1/replay?since=2026-01-31&before_id=dlv_9"),
    ]);
  });

  test("the database's URL is read from standard input or a file, and no option takes it", async () => {
    world.answer("PUT /connections/postgres", { ok: true, findings: [] });
    const database = "postgres://u:p@db.example.com/d";

    await world.line.run(["connect", "postgres"], { stdin: `${database}\n` });
    await world.line.run(["connect", "postgres", "--url-file", world.line.file("url", database)]);
    const refused = await world.line.run(["connect", "postgres", "--database-url", database]);

    expect(world.asked.map(({ body }) => JSON.parse(body).url)).toEqual([database, database]);
    expect(refused.code).toBe(2);
  });

  test("a database is only checked with --test: that of a file, or the one that is connected", async () => {
    world.answer("PUT /connections/postgres", { ok: true, findings: [] });
    world.answer("POST /connections/postgres/test", { ok: true, findings: [] });
    const file = world.line.file("url", "postgres://u:p@db.example.com/d");

    await world.line.run(["connect", "postgres", "--url-file", file, "--test"]);
    await world.line.run(["connect", "postgres", "--test"]);

    expect(world.asked.map(({ call }) => call)).toEqual([
      "PUT /connections/postgres?dry_run=true",
      "POST /connections/postgres/test",
    ]);
  });

  test("a login is kept for its user's eyes only, and its token goes to no other address", async () => {
    const user = world.user();
    world.answer("GET /tokens/current", made);

    expect((await user.run(["login", world.url, "--workspace", "ws_1"], { stdin: "brg_kept\n" })).code).toBe(0);
    await user.run(["whoami"]);
    const elsewhere = await user.run(["health", "--url", "http://127.0.0.1:1"]);

    const file = join(user.folder, ".config/bridge/config.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, "utf8")).profiles.ws_1.token).toBe("brg_kept");
    expect(world.asked.at(-1)?.headers.authorization).toBe("Bearer brg_kept");
    expect(elsewhere.code).toBe(3);
    expect((await user.run(["logout"])).code).toBe(0);
    expect(readFileSync(file, "utf8")).not.toContain("brg_kept");
  });

  test("a token that opens nothing is not kept", async () => {
    const user = world.user();
    world.refuse("GET /tokens/current", 401, "UNAUTHORIZED");

    expect((await user.run(["login", world.url, "--workspace", "ws_1"], { stdin: "brg_bad\n" })).code).toBe(4);
    expect(existsSync(join(user.folder, ".config/bridge/config.json"))).toBe(false);
  });
});

describe("a new workspace's token", () => {
  const made: string[] = [];
  const operator = {
    createWorkspace: async ({ name }: { readonly name: string }) => {
      made.push(name);
      return { workspaceId: "ws_2", token: "brg_first" };
    },
  } as unknown as Operator;
  const machine: Machine = {
    openOperator: async () => operator,
    startOrg: () => Promise.reject(new Error("no org is needed")),
  };
  const create = ["workspace", "create", "Acme", "--owner", "ada@example.com", "--login"];

  test("is kept for the deployment that it is for, not for the instance on this machine", async () => {
    const user = openCommandLine({}, machine);
    onTestFinished(user.close);
    mkdirSync(join(user.folder, "data"));
    const running = { base_url: world.url, workspace_id: "ws_1", api_token: "brg_local" };
    user.file("data/instance.json", JSON.stringify(running));

    const nowhere = await user.run([...create, "--stage", "prod"]);
    const kept = await user.run([...create, "--stage", "prod", "--url", "https://bridge.example.com"]);

    const profiles = JSON.parse(readFileSync(join(user.folder, ".config/bridge/config.json"), "utf8"));
    expect([nowhere.code, kept.code]).toEqual([2, 0]);
    expect(nowhere.stderr).toContain("--login needs --url");
    expect(made).toEqual(["Acme"]);
    expect(profiles.profiles.ws_2).toMatchObject({ url: "https://bridge.example.com", token: "brg_first" });
  });

  test("is kept for the instance on this machine, also for one without a demo", async () => {
    const user = openCommandLine({}, machine);
    onTestFinished(user.close);
    mkdirSync(join(user.folder, "data"));
    user.file("data/instance.json", JSON.stringify({ base_url: world.url, workspace_id: null, api_token: null }));

    const kept = await user.run(create);

    const profiles = JSON.parse(readFileSync(join(user.folder, ".config/bridge/config.json"), "utf8"));
    expect(kept).toMatchObject({ code: 0 });
    expect(profiles.profiles.ws_2).toMatchObject({ url: world.url, token: "brg_first" });
  });
});

test("an answer that breaks off is an address that does not answer, not a fault of the command line", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Length": "100" }).write('{"success":', () => response.destroy());
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const user = world.user({
    BRIDGE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    BRIDGE_WORKSPACE: "ws_1",
    BRIDGE_TOKEN: "brg_r",
  });

  const { code, stderr } = await user.run(["budget"]);

  expect(code).toBe(9);
  expect(stderr).toContain("(by the environment) cannot be reached");
});

test("rows that have no record are sent, in as many calls as it takes", async () => {
  let calls = 0;
  const answer = {
    queued: 10_000,
    mapping_id: "map_1",
    get more() {
      calls += 1;
      return calls < 3;
    },
  };
  world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Contact", pg_table: "contact" }]);
  world.answer("POST /mappings/map_1/push-existing", answer);

  const { stdout } = await world.line.run(["mapping", "push-existing", "contact"]);

  expect(stdout).toBe("Contact sends 30000 rows that have no record in Salesforce yet.\n");
});

describe("mapping reject-deletes", () => {
  const nothing = { rows: 0, records: 0, recreated: 0, gone: 0, staying: [], lost_columns: [], lost_children: [] };
  const path = "POST /mappings/map_1/reject-deletes";
  const asked = () => world.asked.filter(({ call }) => call.startsWith(path)).map(({ call, body }) => [call, body]);
  beforeEach(() => {
    world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Contact", pg_table: "contact" }]);
  });

  test("says what cannot come back before it does anything", async () => {
    const lost = { lost_columns: ["note"], lost_children: ["salesforce.child"] };
    world.answer(path, { ...nothing, rows: 60, records: 5, ...lost, next: null });

    const { code, stderr } = await world.line.run(["mapping", "reject-deletes", "contact"]);

    expect(code).toBe(2);
    expect(stderr).toContain(
      "This inserts 60 rows of contact again and undeletes 5 records of Contact. Not mapped, so empty: note. Not restored: rows of salesforce.child.",
    );
    expect(stderr).toContain("not confirmed");
    expect(asked()).toEqual([[`${path}?dry_run=true`, "{}"]]);
  });

  test("with --yes continues until every delete was handled, and ends unwell where some stay held", async () => {
    const stays = { deletes: "record", sfid: null, record_id: 7, reason: "duplicate key" };
    const answers = [
      { ...nothing, rows: 1000, next: "9" },
      { ...nothing, rows: 150, records: 3, staying: [stays], next: null },
    ];
    let calls = 0;
    const parts = ["rows", "records", "recreated", "staying", "next"] as const;
    const answer = Object.defineProperties(
      {},
      Object.fromEntries(
        parts.map((part) => [
          part,
          { enumerable: true, get: () => answers[part === "next" ? calls++ : calls]?.[part] },
        ]),
      ),
    );
    world.answer(path, answer);

    const { code, stdout, stderr } = await world.line.run(["mapping", "reject-deletes", "contact", "--yes"]);

    expect(code).toBe(10);
    expect(stdout).toBe(
      "Contact: inserted 1150 rows again, the next cycles undelete 3 records, still holds 1 delete.\n",
    );
    expect(stderr).toContain("row 7 stays held: duplicate key");
    expect(asked()).toEqual([
      [path, '{"after":null,"recreate":false}'],
      [path, '{"after":"9","recreate":false}'],
    ]);
  });
});

describe("mapping dry-run", () => {
  const run = {
    state: "running",
    error: null,
    records: 10,
    read: 0,
    matched: 0,
    differing: 0,
    records_changed: 0,
    rows_changed: 0,
    fields: [],
    samples: [],
    digest: null,
  };
  const difference = { field: "Email", postgres: "ours", salesforce: "theirs", winner: "postgres" };
  const found = {
    ...{ ...run, state: "done", read: 10, matched: 9, differing: 2, records_changed: 2, digest: "d1" },
    fields: [{ field: "Email", rows: 2 }],
    samples: [{ sfid: "003000000000001AAA", record_id: 7, differences: [difference] }],
  };
  beforeEach(() => {
    world.answer("GET /monitoring/mappings", [
      { id: "map_1", sf_object: "Contact", pg_table: "contact", conflict_policy: "postgres_wins" },
    ]);
  });

  test("waits for the result, shows fields and samples, and says how to continue", async () => {
    world.answer("POST /mappings/map_1/dry-run", run);
    world.answer("GET /mappings/map_1/dry-run", found);

    const { code, stdout, stderr } = await world.line.run(["mapping", "dry-run", "contact"]);

    expect(code).toBe(0);
    expect(stderr).toContain("Email differs in 2 rows");
    expect(stdout).toMatch(/003000000000001AAA\s+Email\s+ours\s+theirs\s+postgres/);
    expect(stdout).toContain(
      "9 rows have a record of Contact with the same key, 2 of them with other values. With postgres_wins the first load changes 2 records in Salesforce and no rows in PostgreSQL. Continue with: bridge mapping activate Contact --digest d1",
    );
  });

  test("gives programs the answer as it is", async () => {
    world.answer("POST /mappings/map_1/dry-run", found);

    const { stdout } = await world.line.run(["mapping", "dry-run", "contact", "--json"]);

    expect(JSON.parse(stdout)).toEqual(found);
  });

  test("ends unwell, with the reason, where it does not continue", async () => {
    world.answer("POST /mappings/map_1/dry-run", { ...run, state: "failing", error: "the database is gone" });

    const { code, stdout } = await world.line.run(["mapping", "dry-run", "contact"]);

    expect(code).toBe(10);
    expect(stdout).toContain("has stopped: the database is gone");
  });

  test("activate hands the digest over", async () => {
    world.answer("POST /mappings/map_1/activate", {});

    await world.line.run(["mapping", "activate", "contact", "--digest", "d1"]);

    expect(world.asked.map(({ call }) => call)).toContain("POST /mappings/map_1/activate?digest=d1");
  });
});

test("config plan shows each change of a document with its old and its new value, and changes nothing", async () => {
  const change = {
    ...{
      object_name: "Contact",
      pg_table: "contact",
      action: "update",
      fields_added: ["Phone"],
      fields_removed: ["Fax"],
    },
    settings_changed: ["sf_polling_seconds", "upsert_field"],
    settings: [
      { name: "sf_polling_seconds", before: "10", after: "60" },
      { name: "upsert_field", before: null, after: "Ref__c" },
    ],
  };
  world.answer("POST /config/import", { created: 0, updated: 1, skipped: 2, changes: [change] });
  const file = world.line.file("mappings.json", "{}");

  const { stdout } = await world.line.run(["config", "plan", file]);

  expect(stdout).toBe(`update Contact (contact)
  + Phone
  - Fax
  ~ sf_polling_seconds: 10 → 60
  ~ upsert_field: none → Ref__c
An import would give: 0 created, 1 updated, 2 as they were. Nothing is changed yet.
`);
  expect(world.asked.map(({ call }) => call)).toEqual(["POST /config/import?dry_run=true"]);
});

describe("mapping capture", () => {
  const answer = (uncaptured: string) => ({ mapping_id: "map_1", uncaptured, rows: 1234, calls: 7, queued: true });
  beforeEach(() => {
    world.answer("GET /monitoring/mappings", [
      { id: "map_1", sf_object: "Contact", pg_table: "contact", conflict_policy: "salesforce_wins" },
    ]);
  });

  test("asks which side wins for uncaptured writes, and does nothing before it is answered", async () => {
    const neither = await world.line.run(["mapping", "capture", "contact"]);
    const both = await world.line.run(["mapping", "capture", "contact", "--salesforce", "--mine"]);

    expect([neither.code, both.code]).toEqual([2, 2]);
    expect(neither.stderr).toContain("--salesforce");
    expect(neither.stderr).toContain("--mine");
    expect(world.asked).toEqual([]);
  });

  test("shows rows and calls before it does anything", async () => {
    world.answer("POST /mappings/map_1/capture", answer("mine"));

    const { code, stderr } = await world.line.run(["mapping", "capture", "contact", "--mine"]);

    expect(code).toBe(2);
    expect(stderr).toContain(
      "This sends 1234 rows of contact; where a record of Salesforce has changed meanwhile, salesforce_wins decides. It takes about 7 API calls.",
    );
    expect(stderr).toContain("not confirmed");
    expect(world.asked.map(({ call, body }) => [call, body])).toEqual([
      ["GET /monitoring/mappings", ""],
      ["POST /mappings/map_1/capture?dry_run=true", '{"uncaptured":"mine"}'],
    ]);
  });

  test.each(["salesforce", "mine"])("with --%s and --yes is one call, whose answer programs can read", async (side) => {
    world.answer("POST /mappings/map_1/capture", answer(side));

    const { stdout } = await world.line.run(["mapping", "capture", "contact", `--${side}`, "--yes", "--json"]);

    expect(JSON.parse(stdout)).toEqual(answer(side));
    expect(world.asked.map(({ call, body }) => [call, body])).toEqual([
      ["GET /monitoring/mappings", ""],
      ["POST /mappings/map_1/capture", `{"uncaptured":"${side}"}`],
    ]);
  });
});

test("doctor says what is wrong with the token, not with a connection that it may not look at", async () => {
  world.answer("GET /openapi.json", {});
  world.answer("GET /health", { sync: {} });
  world.refuse("POST /connections/postgres/test", 403, "FORBIDDEN");
  world.refuse("POST /connections/salesforce/test", 409, "CONFLICT");
  world.answer("GET /monitoring/mappings", []);

  const { code, stdout } = await world.line.run(["doctor"]);

  expect(code).toBe(10);
  expect(stdout).toContain("a token that has the scope admin");
  expect(stdout).not.toContain("bridge connect postgres");
  expect(stdout).toContain("bridge connect salesforce");
});

describe("doctor", () => {
  const encrypted = { check: "tls", ok: true, message: "the connection is encrypted", remedy: null };
  const plain = { ...encrypted, message: "the connection is not encrypted", remedy: "use ?sslmode=verify-full" };
  const budget = {
    ...{ calls_used: 10, calls_limit: 15_000, calls_left: 14_990, counted_at: null, since: null },
    ...{ forecast_calls_per_day: 9_216, pace: "normal" },
  };
  const page = { total: 0, limit: 1, offset: 0 };
  beforeEach(() => {
    world.answer("GET /openapi.json", {});
    world.answer("POST /connections/postgres/test", { ok: true, findings: [encrypted] });
    world.answer("POST /connections/salesforce/test", { ok: true, findings: [] });
    world.answer("GET /monitoring/mappings", []);
    world.answer("GET /health", { sync: {} });
    world.answer("GET /monitoring/failures", []);
    world.answer("GET /monitoring/inbound-errors", [], page);
    world.answer("GET /monitoring/conflicts", [], page);
    world.answer("GET /monitoring/budget", budget);
    world.answer("GET /doorbell", { created_at: null, mappings: [] });
    world.answer("GET /webhooks", []);
  });

  test("folds what is well into one line, which --all opens", async () => {
    const { code, stdout: folded } = await world.line.run(["doctor"]);
    const { stdout } = await world.line.run(["doctor", "--all"]);

    expect(code).toBe(0);
    expect(folded).toMatch(/^✓ \d checks passed; --all lists them\n$/);
    expect(stdout).not.toMatch(/^[!✗]/m);
    expect(stdout).toContain("✓ the mappings cost 9216 API calls a day while nothing changes; the org allows 15000\n");
  });

  test("warns of what works and should be checked, and ends well", async () => {
    world.answer("POST /connections/postgres/test", { ok: true, findings: [plain] });
    world.answer("GET /monitoring/conflicts", [{ at: new Date().toISOString() }, { at: "2026-01-01T00:00:00Z" }]);
    world.answer("GET /monitoring/budget", { ...budget, forecast_calls_per_day: 16_640, pace: "stretched" });
    world.refuse("GET /doorbell", 403, "FORBIDDEN");

    const { code, stdout } = await world.line.run(["doctor"]);

    expect(code).toBe(0);
    expect(stdout).not.toMatch(/^✗/m);
    expect(stdout).toContain("! the connection is not encrypted\n    use ?sslmode=verify-full\n");
    expect(stdout).toContain("! 1 conflict in the last 24 hours");
    expect(stdout).toContain("! pulls are further apart");
    expect(stdout).toContain("! the mappings cost 16640 API calls a day while nothing changes; the org allows 15000\n");
    expect(stdout).toContain("! doorbells could not be checked: in words\n    sign in with a token");
  });

  test("names a check that failed to run as one that ran", async () => {
    const checks = async () => {
      const { stdout } = await world.line.run(["doctor", "--json"]);
      const { findings } = JSON.parse(stdout) as { readonly findings: readonly { readonly check: string }[] };
      return [...new Set(findings.map(({ check }) => check))].sort();
    };
    const before = await checks();
    for (const path of ["inbound-errors", "conflicts"]) world.refuse(`GET /monitoring/${path}`, 403, "FORBIDDEN");

    expect(await checks()).toEqual(before);
  });

  test("warns from 80 % of Bridge's share of the calls on", async () => {
    const first = { ...budget, allowed_calls: 12_000, own_calls: 9_600 };
    world.answer("GET /monitoring/budget", first);
    const much = await world.line.run(["doctor"]);
    world.answer("GET /monitoring/budget", { ...first, own_calls: 9_599 });
    const less = await world.line.run(["doctor"]);

    expect([much.code, less.code]).toEqual([0, 0]);
    expect(much.stdout).toContain("! Bridge has made 9600 of the 12000 calls of its share: 10 used in 24 hours\n");
    expect(less.stdout).not.toMatch(/^!/m);
  });

  const incident = {
    ...{ cause: "rows_refused", stops: false, message: "Salesforce refused 11 rows of Contact", objects: ["Contact"] },
    ...{ said: "REQUIRED_FIELD_MISSING: \u001b[2J", since: null, waiting: null, next_try_at: null },
    ...{ remedy: "correct the values", commands: ["bridge errors --grouped"] },
  };

  test("begins with incidents, each with what waits, what helps and how; nothing is well that they stop", async () => {
    const limit = {
      ...{ ...incident, cause: "salesforce_limit", stops: true, message: "the org's calls are used up", said: null },
      ...{ since: "2026-11-29T05:40:00Z", waiting: 2, next_try_at: "2026-11-29T05:45:00Z" },
      ...{ remedy: "wait", commands: ["bridge poll Contact"] },
    };
    const session = { check: "session", ok: false, message: "refused", remedy: "wait" };
    world.answer("GET /health", { sync: {}, incidents: [limit, incident] });
    world.answer("POST /connections/salesforce/test", { ok: false, findings: [session] });
    world.answer("GET /monitoring/mappings", [
      { sf_object: "Contact", state: "broken", failure: "salesforce_limit", reason: "spent", upsert_field: "Key__c" },
    ]);
    world.answer("GET /monitoring/inbound-errors", [{ error: "value too long" }], { ...page, total: 41 });

    const { code, stdout } = await world.line.run(["doctor", "--all"]);
    const { stdout: json } = await world.line.run(["doctor", "--json"]);

    expect(code).toBe(10);
    expect(stdout).toMatch(
      new RegExp(
        [
          "^✗ the org's calls are used up",
          " +since 2026-11-29T05:40:00Z, 2 rows wait, next try 2026-11-29T05:45:00Z",
          " +wait",
          " +bridge poll Contact",
          "✗ Salesforce refused 11 rows of Contact",
          " +REQUIRED_FIELD_MISSING: \\\\u001b\\[2J",
          " +correct the values",
          " +bridge errors --grouped",
          "✗ 41 records could not become rows, for example: value too long",
        ].join("\n"),
      ),
    );
    expect(stdout.match(/✗/g)).toHaveLength(3);
    expect(stdout).not.toMatch(/pulls and pushes|the mappings cost/);
    expect(JSON.parse(json).findings[0]).toMatchObject({ check: "salesforce_limit", ok: false, remedy: "wait" });
  });

  test("warns of a paused webhook, and of a mapping that writes without an upsert field", async () => {
    const paused = { ...incident, cause: "webhook_paused", message: "the webhook is paused", said: null };
    world.answer("GET /health", { sync: {}, incidents: [paused] });
    const mapping = { state: "running", failure: null, reason: null, sync_direction: "bidirectional" };
    world.answer("GET /monitoring/mappings", [
      { ...mapping, sf_object: "Contact", upsert_field: null },
      { ...mapping, sf_object: "Lead", upsert_field: null, sync_direction: "sf_to_pg" },
      {
        ...mapping,
        sf_object: "Case",
        upsert_field: "Key__c",
        notices: [{ message: "one call saves 38", remedy: "correct" }],
      },
    ]);

    const { code, stdout } = await world.line.run(["doctor"]);

    expect(code).toBe(10);
    expect(stdout).toContain("✗ Case: one call saves 38\n    correct\n");
    expect(stdout).toContain("! the webhook is paused\n");
    expect(stdout).toContain("! Contact has no upsert field\n");
    expect(stdout).not.toContain("Lead");
  });

  describe("where this user is signed in to another workspace of the deployment", () => {
    const forecast = { ...budget, forecast_calls_per_day: 8_646, calls_share: 0.8 };
    const shared = "the workspaces Acme (ws_1) and Demo (ws_2) spend the calls of one org: together 17291 a day";
    const signedIn = (url = world.url) =>
      writeProfiles(
        { HOME: world.line.folder },
        { current: null, profiles: { other: { url, workspaceId: "ws_2", token: "brg_r_other" } } },
      );
    beforeEach(() => {
      world.answer("GET /health", { sync: {}, sf: { status: "healthy", org_id: "00D000000000001AAA" } });
      world.answer("GET ", { id: "ws_1", name: "Acme" });
      world.answer("GET /monitoring/budget", forecast);
      const other = "/api/v1/t/ws_2";
      world.answer(`GET ${other}/health`, { sync: {}, sf: { status: "healthy", org_id: "00D000000000001AAA" } });
      world.answer(`GET ${other}`, { id: "ws_2", name: "Demo" });
      world.answer(`GET ${other}/monitoring/budget`, { ...forecast, forecast_calls_per_day: 8_645 });
    });

    test("warns that both spend the calls of one org, with their sum and a share for each", async () => {
      signedIn();

      const { code, stdout } = await world.line.run(["doctor"]);

      expect(code).toBe(0);
      expect(stdout).toContain(
        `! ${shared} while nothing changes; the org allows 15000\n    give each its share: bridge budget --share 40%\n`,
      );
    });

    test("has nothing to say against it once the shares add up to what one workspace has", async () => {
      signedIn();
      for (const path of ["", "/api/v1/t/ws_2"])
        world.answer(`GET ${path}/monitoring/budget`, { ...forecast, forecast_calls_per_day: 8_646, calls_share: 0.4 });

      const { stdout } = await world.line.run(["doctor", "--all"]);

      expect(stdout).toMatch(/^✓ the workspaces Acme \(ws_1\) and Demo \(ws_2\) spend the calls of one org/m);
    });

    test.each([
      [
        "has another org",
        () => world.answer("GET /api/v1/t/ws_2/health", { sync: {}, sf: { org_id: "00D000000000002" } }),
      ],
      ["does not let this user in any more", () => world.refuse("GET /api/v1/t/ws_2/health", 401, "UNAUTHORIZED")],
      ["is another deployment's", () => signedIn("http://127.0.0.1:9")],
    ])("says nothing where it %s", async (_, happens) => {
      signedIn();
      happens();

      const { stdout } = await world.line.run(["doctor", "--all"]);

      expect(stdout).not.toContain("spend the calls of one org");
    });
  });

  test("says of an object that can be saved when Salesforce last accepted a change of it", async () => {
    const saving = { check: "saving", ok: true, message: "Contact can be saved: the user may", remedy: null };
    const mapping = { state: "running", failure: null, reason: null, upsert_field: "Key__c" };
    world.answer("POST /connections/salesforce/test", { ok: true, findings: [saving] });
    world.answer("GET /monitoring/mappings", [{ ...mapping, sf_object: "Contact", pg_table: "contact" }]);
    world.answer("GET /monitoring/activity", [{ id: 7, state: "SUCCESS" }]);
    const change = { id: 7, sent_at: "2026-11-29T05:40:00.000Z", synced_at: "2026-11-29T05:40:01.000Z" };
    world.answer("GET /monitoring/activity/7", change);
    const { stdout: accepted } = await world.line.run(["doctor", "--all"]);
    world.answer("GET /monitoring/activity/7", { ...change, sent_at: null });
    const { stdout: lost } = await world.line.run(["doctor", "--all"]);

    expect(accepted).toContain(`✓ ${saving.message}; it last accepted a change at 2026-11-29T05:40:01.000Z\n`);
    expect(lost).toContain(`✓ ${saving.message}\n`);
    expect(world.asked.map(({ call }) => call)).toContain(
      "GET /monitoring/activity?table=contact&state=SUCCESS&limit=1",
    );
  });

  test("warns of a forecast above the org's limit, as budget does beside its answer", async () => {
    const well = await world.line.run(["budget"]);
    world.answer("GET /monitoring/budget", { ...budget, forecast_calls_per_day: 16_640 });
    const warned = await world.line.run(["budget"]);

    expect([well.stderr, well.code, warned.code]).toEqual(["", 0, 0]);
    expect(warned.stderr).toContain("The forecast of 16640 calls a day is above the org's 15000");
  });

  test("says once that the database is gone, and nothing of what only the database knows", async () => {
    const gone = {
      ...incident,
      cause: "postgres_unavailable",
      stops: true,
      message: "PostgreSQL db:5432 does not answer",
    };
    world.answer("GET /health", { sync: {}, incidents: [gone] });
    world.refuse("GET /monitoring/inbound-errors", 503, "UNAVAILABLE");

    const { stdout } = await world.line.run(["doctor"]);

    expect(stdout).toMatch(/^✗ PostgreSQL db:5432 does not answer\n/);
    expect(stdout).not.toContain("could not be checked");
  });
});

test("without a login the commands speak to the instance that runs here", async () => {
  const instance = world.user();
  const here = world.user({ BRIDGE_DATA_DIR: instance.folder });
  const running = { base_url: world.url, workspace_id: "ws_1", api_token: "brg_local" };
  instance.file("instance.json", JSON.stringify(running));
  world.answer("GET /monitoring/budget", { calls_used: 1 });

  expect(await here.run(["budget"])).toEqual({ code: 0, stdout: "calls used by all clients  1\n", stderr: "" });
  expect(world.asked[0]?.headers.authorization).toBe("Bearer brg_local");
});

test("a mapping is named by its object or its table in any case", async () => {
  const contact = { id: "map_1", sf_object: "Contact", pg_table: "people", fields: ["Email"] };
  world.answer("GET /monitoring/mappings", [contact]);
  world.answer("GET /mappings/map_1", contact);
  world.answer("PATCH /mappings/map_1", { ...contact, state: "running" });

  await world.line.run(["mapping", "update", "PEOPLE", "--add-field", "Phone", "--interval", "60"]);

  expect(world.asked.at(-1)?.call).toBe("PATCH /mappings/map_1");
  expect(JSON.parse(world.asked.at(-1)?.body ?? "")).toEqual({ fields: ["Email", "Phone"], sf_polling_seconds: 60 });
  expect((await world.line.run(["mapping", "show", "Lead"])).stderr).toContain("known: Contact");
});

test("a webhook gets all events where it gets what one without --events gets, and not as many others", async () => {
  const usual = ["record.failed", "sync.broken", "sync.recovered", "sync.failure_spike"];
  const webhook = { id: "wh_1", url: "https://hooks.example/", active: true, failing_since: null, given_up: false };
  world.answer("GET /webhooks", [
    { ...webhook, events: [...usual, "mapping.activated", "mapping.deactivated"] },
    { ...webhook, id: "wh_2", events: [...usual, "mapping.activated", "deletes.held"] },
  ]);

  const { stdout } = await world.line.run(["webhook", "list"]);

  expect(stdout).toMatch(/^wh_1 .* all$/m);
  expect(stdout).toMatch(/^wh_2 .* deletes\.held$/m);
});

test("a command that deletes or ends something asks first, and does nothing without an answer", async () => {
  world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Contact", pg_table: "contact" }]);
  world.answer("DELETE /mappings/map_1", {});

  expect((await world.line.run(["mapping", "delete", "contact"])).code).toBe(2);
  expect(world.asked.some(({ call }) => call.startsWith("DELETE"))).toBe(false);
  expect((await world.line.run(["mapping", "delete", "contact", "--yes"])).code).toBe(0);
});

test("the browser's return is accepted only with the state that began the sign-in", async () => {
  world.answer("POST /connections/salesforce/authorize", { authorize_url: "https://login.example/", state: "st" });
  const connected = { organization_id: "00D1", instance_url: "https://acme.example", username: "ada" };
  world.answer("POST /connections/salesforce/complete", connected);
  const visits: Promise<number>[] = [];
  const visit = async (callback: string) => {
    const forged = await fetch(`${callback}?state=forged&code=evil`);
    await fetch(`${callback}?state=st&code=good`);
    return forged.status;
  };

  const ended = await world.line.run(["connect", "salesforce", "--client-id", "key"], {
    onStderr: (text) => {
      const callback = /http:\/\/localhost:\d+\/callback/.exec(text)?.[0];
      if (callback) visits.push(visit(callback.replace("localhost", "127.0.0.1")));
    },
  });

  expect(await visits[0]).toBe(404);
  expect(ended).toMatchObject({ code: 0, stdout: "Connected to org 00D1 at https://acme.example as ada.\n" });
  expect(JSON.parse(world.asked.at(-1)?.body ?? "")).toEqual({ state: "st", code: "good" });
});

describe("the schema of the database", () => {
  const postgres = { host: "db", port: 5432, database: "app", user: "bridge", schema: "crm" };

  test("is dumped without Bridge's rows by options that can be pasted", async () => {
    world.answer("GET /connections", { postgres, salesforce: null });

    const { stdout } = await world.line.run(["schema", "exclude"]);
    const { stdout: json } = await world.line.run(["schema", "exclude", "--json"]);

    expect(stdout).toBe("--exclude-table-data='crm._bridge_*' --exclude-table-data='crm._trigger_log*'\n");
    expect(JSON.parse(json)).toEqual({ schema: "crm", options: stdout.trim().split(" ") });
  });

  test("is detached by a statement that is printed and not run, with the warning beside it", async () => {
    world.answer("GET /connections", { postgres, salesforce: null });

    const { stdout, stderr } = await world.line.run(["schema", "detach"]);

    expect(stdout).toBe('SELECT "crm"._bridge_detach();\n');
    expect(stderr).toContain("In the original it ends the sync");
    expect(world.asked).toHaveLength(1);
  });

  test("is kept as long as was said, and the setting is shown without options", async () => {
    const retention = { log_days: 14, conflict_days: 31, tombstone_days: 31 };
    const shown = { postgres: { ...postgres, retention, log_autovacuum: null }, salesforce: null };
    world.answer("GET /connections", shown);
    world.answer("PATCH /connections/postgres/retention", shown);

    const { stdout } = await world.line.run(["schema", "retention", "--json"]);
    const flags = ["--log-days", "14", "--autovacuum", "vacuum_scale_factor=0.02", "vacuum_cost_delay=1"];
    const changed = await world.line.run(["schema", "retention", ...flags]);
    const body = world.asked.at(-1)?.body ?? "";
    await world.line.run(["schema", "retention", "--autovacuum", "none"]);
    const given = world.asked.at(-1)?.body ?? "";
    const mistyped = await world.line.run(["schema", "retention", "--autovacuum", "vacuum_scale_factor"]);

    expect(JSON.parse(stdout)).toEqual({ ...retention, log_autovacuum: null });
    expect(changed.code).toBe(0);
    const log_autovacuum = { vacuum_scale_factor: 0.02, vacuum_cost_delay: 1 };
    expect(JSON.parse(body)).toEqual({ log_days: 14, log_autovacuum });
    expect(JSON.parse(given)).toEqual({ log_autovacuum: null });
    expect([mistyped.code, world.asked.length]).toEqual([6, 3]);
    expect(mistyped.stderr).toContain("vacuum_scale_factor=0.02, or none");
  });

  test("has no name before a database is connected", async () => {
    world.answer("GET /connections", { postgres: null, salesforce: null });

    const { code, stderr } = await world.line.run(["schema", "exclude"]);

    expect(code).not.toBe(0);
    expect(stderr).toContain("bridge connect postgres");
  });
});

describe("types of the mapped tables", () => {
  const field = (name: string, label: string, pg_type: string) => ({ name, label, pg_type });
  beforeEach(() => {
    const fields = ["Id", "LastName", "Amount__c", "Born__c", "Account__Ref__c"];
    world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Contact", pg_table: "contact", fields }]);
    world.answer("GET /connections", { postgres: { schema: "crm" }, salesforce: null });
    world.answer("GET /objects/Contact", {
      name: "Contact",
      fields: [
        field("Id", "Contact ID", "varchar(18)"),
        field("LastName", "Last Name", "varchar(80)"),
        field("Amount__c", "Amount */", "numeric(18,2)"),
        field("Born__c", "Born", "timestamptz"),
      ],
    });
  });

  test("are interfaces in TypeScript, as node-postgres gives rows", async () => {
    const { code, stdout } = await world.line.run(["types", "--for", "ts"]);

    expect(code).toBe(0);
    expect(stdout).toContain("/** A row of crm.contact. */\nexport interface Contact {\n  id: string;\n");
    expect(stdout).toContain("  /** Last Name */\n  lastname: string | null;\n");
    expect(stdout).toContain("  /** Amount * / */\n  amount__c: string | null;\n");
    expect(stdout).toContain("  born__c: Date | null;\n");
    expect(stdout).toContain("  account__ref__c: string | null;\n}\n");
  });

  test("are tables that Drizzle understands", async () => {
    const { stdout } = await world.line.run(["types", "contact", "--for", "drizzle"]);

    const code = stdout.replace(/^\/\/.*\nimport \{(.*)\} from .*;/, "const {$1} = drizzle;").replaceAll("export ", "");
    const contact = new Function("drizzle", `${code}; return contact;`)(drizzle);
    const { schema, name, columns } = drizzle.getTableConfig(contact);
    expect({ schema, name }).toEqual({ schema: "crm", name: "contact" });
    expect(Object.fromEntries(columns.map((column) => [column.name, column.getSQLType()]))).toMatchObject({
      ...{ id: "bigserial", sfid: "varchar(18)", lastname: "varchar(80)", amount__c: "numeric(18, 2)" },
      ...{ born__c: "timestamp with time zone", account__ref__c: "text", isdeleted: "boolean", _ab_err: "text" },
    });
  });

  test("are of a language that is known, and of a mapping that is there", async () => {
    expect((await world.line.run(["types", "--for", "cobol"])).code).toBe(6);
    expect((await world.line.run(["types", "Lead", "--for", "ts"])).code).toBe(5);
  });
});

describe("a migration that is proposed", () => {
  const proposal = {
    mapping_id: "map_1",
    sf_object: "Contact",
    schema: "crm",
    table: "contact",
    awaited: true,
    create: false,
    columns: [
      { column: "sfid", type: "varchar(18)" },
      { column: "amount", type: "numeric(18,2)" },
    ],
    wider: [],
    indexes: [{ name: "contact_sfid_key", column: "sfid", unique: true }],
    sql: [
      'ALTER TABLE "crm"."contact" ADD COLUMN "sfid" varchar(18), ADD COLUMN "amount" numeric(18,2)',
      'CREATE UNIQUE INDEX CONCURRENTLY "contact_sfid_key" ON "crm"."contact" ("sfid")',
    ],
  };
  const path = "GET /connections/postgres/proposals";

  test("is printed as SQL that can be piped, and as it was answered for programs", async () => {
    world.answer(path, [proposal]);

    const { code, stdout, stderr } = await world.line.run(["schema", "propose"]);
    const { stdout: json } = await world.line.run(["schema", "propose", "--json"]);

    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${proposal.sql.join(";\n")};\n`, stderr: "" });
    expect(JSON.parse(json)).toEqual({ proposals: [proposal] });
  });

  test("is none where the tables are as they should be", async () => {
    world.answer(path, []);

    const { stdout, stderr } = await world.line.run(["schema", "propose"]);

    expect({ stdout, stderr }).toEqual({
      stdout: "",
      stderr: "The mapped tables need no migration.\n",
    });
  });

  test("is asked for by a setting of the workspace", async () => {
    world.answer("PATCH /connections/postgres", {});

    const { stdout } = await world.line.run(["schema", "changes", "propose"]);

    expect(stdout).toContain("bridge schema propose");
    expect(JSON.parse(world.asked.at(-1)?.body ?? "")).toEqual({ schema_changes: "propose" });
  });

  test("connections are limited by a setting of the workspace", async () => {
    world.answer("PATCH /connections/postgres", {});

    const { stdout } = await world.line.run(["schema", "connections", "5"]);

    expect(stdout).toContain("5 connections");
    expect(JSON.parse(world.asked.at(-1)?.body ?? "")).toEqual({ max_connections: 5 });
  });

  test("is not written into a folder that is not Drizzle's, or that an unknown version keeps", async () => {
    world.answer(path, [proposal]);
    const { folder } = world.line;
    mkdirSync(`${folder}/out/meta`, { recursive: true });
    world.line.file("out/meta/_journal.json", JSON.stringify({ version: "8", dialect: "postgresql", entries: [] }));

    const missing = await world.line.run(["schema", "propose", "--drizzle", `${folder}/nothing`]);
    const unknown = await world.line.run(["schema", "propose", "--drizzle", `${folder}/out`]);

    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("the folder that drizzle-kit generate") });
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("run drizzle-kit generate") });
    expect(readdirSync(`${folder}/out`)).toEqual(["meta"]);
  });
});
