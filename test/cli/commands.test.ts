import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import * as drizzle from "drizzle-orm/pg-core";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Operator } from "../../lib/cli/operator.ts";
import { CONTACT, eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();

describe("secrets", () => {
  const made = { id: "tok_1", owner: "ada@example.com", scopes: ["read"], token: "brg_rNEW" };

  test("a new token or secret is alone on standard output, and a rotated one before the old one gets its end", async () => {
    const old = { id: "tok_0", name: "ci", owner: "ada@example.com", scopes: ["operate"], state: "valid" };
    world.answer("GET /tokens", [{ ...old, created_at: "2026-03-01T12:00:00Z", valid_until: "2026-03-31T12:00:00Z" }]);
    world.answer("POST /tokens", made);

    const created = await world.run("token create ci --owner ada@example.com");
    world.refuse("DELETE /tokens/tok_0", 500, "INTERNAL_ERROR");
    const failed = await world.run("token rotate ci");
    world.answer("DELETE /tokens/tok_0", old);
    const rotated = await world.run("token rotate ci --overlap 48");
    const last = world.calls().at(-1);
    await world.run("token rotate ci --overlap 0");
    world.answer("POST /webhooks/whk_1/rotate-secret", { secret: "whsec_NEW" });
    const secret = await world.run("webhook rotate whk_1 --overlap 48");

    expect(created).toMatchObject({ code: 0, stdout: "brg_rNEW\n", stderr: has("shown this once") });
    expect(world.asked[0]?.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(failed).toMatchObject({ code: 1, stdout: "brg_rNEW\n" });
    expect(rotated).toMatchObject({ code: 0, stdout: "brg_rNEW\n", stderr: has("valid for 48 more hours") });
    expect(world.calls("DELETE")[0], "a day where nothing is said").toContain("in_hours=24");
    expect([last, world.calls().at(-2)]).toEqual([has("in_hours=48"), has("in_hours=0")]);
    const asked = { name: "ci", owner: "ada@example.com", scopes: ["operate"], valid_days: 30 };
    expect(world.bodies("POST /tokens").at(-1)).toEqual(asked);
    expect(secret).toMatchObject({ stdout: "whsec_NEW\n", stderr: has("the old one signs for 48 hours, too") });
    expect((await world.run("webhook rotate whk_1 --overlap 169")).code).toBe(6);
    expect(world.calls().at(-1)).toBe("POST /webhooks/whk_1/rotate-secret?overlap_seconds=172800");
  });

  test("the database's URL is read from standard input or a file, and no option takes it; --test only checks", async () => {
    world.answer("PUT /connections/postgres", { ok: true, findings: [] });
    world.answer("POST /connections/postgres/test", { ok: true, findings: [] });
    const url = "postgres://u:p@db.example.com/d";
    const file = world.line.file("url", url);

    await world.run("connect postgres", { stdin: `${url}\n` });
    await world.run(`connect postgres --url-file ${file}`);
    await world.run(`connect postgres --url-file ${file} --test`);
    const refused = await world.run(`connect postgres --database-url ${url}`);
    await world.run("connect postgres --test");

    const put = "PUT /connections/postgres";
    expect(world.calls()).toEqual([put, put, `${put}?dry_run=true`, "POST /connections/postgres/test"]);
    expect(world.bodies("PUT")).toMatchObject([{ url }, { url }, { url }]);
    expect(refused.code).toBe(2);
  });

  test("a login is kept for its user's eyes only if it opens something, and its token goes to no other address", async () => {
    const user = world.user();
    const file = join(user.folder, ".config/bridge/config.json");
    const login = () => user.run(["login", world.url, "--workspace", "ws_1"], { stdin: "brg_kept\n" });
    world.refuse("GET /tokens/current", 401, "UNAUTHORIZED");
    expect([(await login()).code, existsSync(file)]).toEqual([4, false]);
    world.answer("GET /tokens/current", made);

    expect((await login()).code).toBe(0);
    await user.run(["whoami"]);
    const others = ["http://127.0.0.1:1", "https://127.0.0.1:1"];
    const elsewhere = await Promise.all(others.map((url) => user.run(["health", "--url", url])));

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, "utf8")).profiles.ws_1.token).toBe("brg_kept");
    expect(world.asked.at(-1)?.headers.authorization).toBe("Bearer brg_kept");
    expect(elsewhere).toMatchObject(others.map((url) => ({ code: 3, stderr: has(`there is no token for ${url}`) })));
    const { profiles, current } = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ current, profiles: { ...profiles, other: profiles.ws_1 } }));
    await user.run(["logout", "other"]);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ current: "ws_1", profiles });
    expect((await user.run(["logout"])).code).toBe(0);
    expect(readFileSync(file, "utf8")).not.toContain("brg_kept");
  });

  test.each([
    ["the deployment that it is for, not for the instance on this machine", "ws_1", "https://bridge.example.com"],
    ["the instance on this machine, also for one without a demo", null, null],
  ])("a new workspace's token is kept for %s", async (_, workspace_id, url) => {
    const made: string[] = [];
    const createWorkspace: Operator["createWorkspace"] = async ({ name }) => {
      made.push(name);
      return { workspaceId: "ws_2", token: "brg_first" };
    };
    const user = world.user({}, { createWorkspace });
    mkdirSync(join(user.folder, "data"));
    user.file("data/instance.json", JSON.stringify({ base_url: world.url, workspace_id, api_token: "brg_local" }));
    const create = "workspace create Acme --owner ada@example.com --login".split(" ");

    const nowhere = await user.run([...create, "--stage", "prod"]);
    const kept = await user.run([...create, ...(url ? ["--stage", "prod", "--url", url] : [])]);

    const { profiles } = JSON.parse(readFileSync(join(user.folder, ".config/bridge/config.json"), "utf8"));
    expect(nowhere).toMatchObject({ code: 2, stderr: has("--login needs --url") });
    expect([kept.code, made]).toEqual([0, ["Acme"]]);
    expect(profiles.ws_2).toMatchObject({ url: url ?? world.url, token: "brg_first" });
  });
});

test("an answer that breaks off is an address that does not answer, not a fault of the command line", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Length": "100" }).write('{"success":', () => response.destroy());
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const broken = await world.user({ ...world.signedIn, BRIDGE_URL: url }).run(["budget"]);

  expect(broken).toMatchObject({ code: 9, stderr: has("(by the environment) cannot be reached") });
});

test("without a login the commands speak to the instance that runs here", async () => {
  const here = world.user();
  mkdirSync(join(here.folder, "data"));
  const running = { base_url: world.url, workspace_id: "ws_1", api_token: "brg_local" };
  here.file("data/instance.json", JSON.stringify(running));
  world.answer("GET /monitoring/budget", { calls_used: 1 });

  expect(await here.run(["budget"])).toEqual({ code: 0, stdout: "calls used by all clients  1\n", stderr: "" });
  expect(world.asked[0]?.headers.authorization).toBe("Bearer brg_local");
});

test.each([
  ["mapping push-existing contact", "/mappings/map_1/push-existing", "queued", "sends 10007 rows"],
  ["mapping confirm-deletes contact --yes", "/mappings/map_1/confirm-deletes", "confirmed", "lets 10007 deletes go"],
  [
    "errors --dismiss --fingerprint f1 --yes",
    "/monitoring/errors/dismiss",
    "dismissed",
    "10007 failures are dismissed",
  ],
  ["webhook replay whk_1 --since 2026-01-31", "/webhooks/whk_1/replay", "queued", "that are sent again: 10007"],
])("bridge %s takes as many calls as it needs, and says how many in all", async (line, path, counted, says) => {
  const first = { mapping_id: "map_1", [counted]: 10_000, more: true, remaining: 5, next: "dlv_9" };
  world.answerEach(`POST ${path}`, first, { ...first, [counted]: 7, more: false, remaining: 0, next: null });

  expect((await world.run(line)).stdout).toContain(says);
  expect(world.calls("POST")).toHaveLength(2);
  if (line.includes("replay")) expect(world.calls().at(-1)).toBe(`POST ${path}?since=2026-01-31&before_id=dlv_9`);
  if (line.includes("--fingerprint")) expect(world.bodies("POST").at(-1)).toEqual({ fingerprint: "f1" });
});

test("mapping reject-deletes says what cannot come back, and with --yes continues until all but what stays held", async () => {
  const nothing = { rows: 0, records: 0, recreated: 0, gone: 0, staying: [], lost_columns: [], lost_children: [] };
  const stays = { deletes: "record", sfid: null, record_id: 7, reason: "duplicate key" };
  const path = "POST /mappings/map_1/reject-deletes";
  const lost = { lost_columns: ["note"], lost_children: ["salesforce.child"] };
  const answers = [
    { rows: 60, records: 5, ...lost, next: null },
    { rows: 1000, next: "log:9" },
    { rows: 150, staying: [stays], next: "record:" },
    { records: 3, next: null },
  ];
  world.answerEach(path, ...answers.map((one) => ({ ...nothing, ...one })));

  const unsaid = await world.run("mapping reject-deletes contact");
  const said = await world.run("mapping reject-deletes contact --yes");

  expect(unsaid).toMatchObject({ code: 2, stderr: has("not confirmed") });
  expect(unsaid.stderr).toContain(
    "This inserts 60 rows of contact again and undeletes 5 records of Contact. Not mapped, so empty: note. Not restored: rows of salesforce.child.",
  );
  const stdout = "Contact: inserted 1150 rows again, undeleted 3 records, still holds 1 delete.\n";
  expect(said).toMatchObject({ code: 10, stdout, stderr: has("row 7 stays held: duplicate key") });
  expect(world.calls("POST")).toEqual([`${path}?dry_run=true`, path, path, path]);
  expect(world.bodies(path).slice(1)).toEqual([null, "log:9", "record:"].map((after) => ({ after, recreate: false })));
});

test("held deletes, and whatever deletes or ends something, are confirmed after a question, which means no without a terminal, or with --yes", async () => {
  const held = { key: "record:7", name: "Ada", deletes: "record", sfid: "00Q000000000001AAA", record_id: 7 };
  const shown = [{ ...held, at: "2026-01-01T00:00:00.000Z" }];
  world.answer("GET /mappings/map_1/held-deletes", shown, { total: 3, limit: 1, offset: 0 });
  world.answer("POST /mappings/map_1/confirm-deletes", { confirmed: 3, more: false, mapping_id: "map_1" });

  expect((await world.run("mapping held-deletes contact")).stdout).toContain("00Q000000000001AAA");
  expect((await world.run("mapping confirm-deletes contact")).code).toBe(2);
  expect(world.calls("POST")).toEqual([]);
  await world.run("mapping confirm-deletes contact --yes --only record:7");
  expect(world.calls().at(-1)).toContain("only=record%3A7");

  world.answer("DELETE /mappings/map_1", {});
  expect((await world.run("mapping delete contact")).code).toBe(2);
  expect(world.calls("DELETE")).toEqual([]);
  expect((await world.run("mapping delete contact --yes")).code).toBe(0);
});

test("mapping dry-run waits for the result, shows fields and samples, and says how to continue", async () => {
  const run = {
    ...{ state: "running", error: null, records: 10, read: 0, matched: 0, differing: 0, records_changed: 0 },
    ...{ rows_changed: 0, fields: [], samples: [], digest: null },
  };
  const difference = { field: "Email", postgres: "ours", salesforce: "theirs", winner: "postgres" };
  const samples = [{ sfid: "003000000000001AAA", record_id: 7, differences: [difference] }];
  const found = {
    ...{ ...run, state: "done", read: 10, matched: 9, differing: 2, records_changed: 2, digest: "d1" },
    ...{ fields: [{ field: "Email", rows: 2 }], samples },
  };
  world.answer("GET /monitoring/mappings", [{ ...CONTACT, conflict_policy: "postgres_wins" }]);
  world.answer("POST /mappings/map_1/dry-run", run);
  world.answer("GET /mappings/map_1/dry-run", found);
  world.answer("POST /mappings/map_1/activate", {});

  const { code, stdout, stderr } = await world.run("mapping dry-run contact");
  const json = await world.line.json(["mapping", "dry-run", "contact"]);
  await world.run("mapping activate contact --digest d1");
  world.answer("POST /mappings/map_1/dry-run", { ...run, state: "failing", error: "the database is gone" });
  const failing = await world.run("mapping dry-run contact");

  expect([code, json]).toEqual([0, found]);
  expect(stderr).toContain("Email differs in 2 rows");
  expect(stdout).toMatch(/003000000000001AAA\s+Email\s+ours\s+theirs\s+postgres/);
  expect(stdout).toContain(
    "9 rows have a record of Contact with the same key, 2 of them with other values. With postgres_wins the first load changes 2 records in Salesforce and no rows in PostgreSQL. Continue with: bridge mapping activate Contact --digest d1",
  );
  expect(world.calls()).toContain("POST /mappings/map_1/activate?digest=d1");
  expect(failing).toMatchObject({ code: 10, stdout: has("has stopped: the database is gone") });
});

test("config plan, as import --dry-run, shows each change with its old and its new value, and changes nothing", async () => {
  const change = {
    ...{ object_name: "Contact", pg_table: "contact", action: "update", fields_added: ["Phone"] },
    ...{ fields_removed: ["Fax"], settings_changed: ["sf_polling_seconds", "upsert_field"] },
    settings: [
      { name: "sf_polling_seconds", before: "10", after: "60" },
      { name: "upsert_field", before: null, after: "Ref__c" },
    ],
  };
  world.answer("POST /config/import", { created: 0, updated: 1, skipped: 2, changes: [change] });
  const file = world.line.file("mappings.json", "{}");

  const { stdout } = await world.run(`config plan ${file}`);
  await world.run(`config import ${file} --dry-run`);

  expect(stdout).toBe(`update Contact (contact)
  + Phone
  - Fax
  ~ sf_polling_seconds: 10 → 60
  ~ upsert_field: none → Ref__c
An import would give: 0 created, 1 updated, 2 as they were. Nothing is changed yet.
`);
  expect(world.calls()).toEqual(Array(2).fill("POST /config/import?dry_run=true"));
});

test("mapping capture asks which side wins, shows rows and calls, and only then does it, in one call", async () => {
  const call = "POST /mappings/map_1/capture";
  const answer = { mapping_id: "map_1", uncaptured: "mine", rows: 1234, calls: 7, queued: true };
  world.answer("GET /monitoring/mappings", [{ ...CONTACT, conflict_policy: "salesforce_wins" }]);
  world.answer(call, answer);

  const neither = await world.run("mapping capture contact");
  const both = await world.run("mapping capture contact --salesforce --mine");
  expect([neither.code, both.code, world.asked]).toEqual([2, 2, []]);
  for (const option of ["--salesforce", "--mine"]) expect(neither.stderr).toContain(option);
  const { code, stderr } = await world.run("mapping capture contact --mine");
  expect(code).toBe(2);
  expect(stderr).toContain(
    "This sends 1234 rows of contact; where a record of Salesforce has changed meanwhile, salesforce_wins decides. It takes about 7 API calls.",
  );
  expect(stderr).toContain("not confirmed");
  for (const side of ["salesforce", "mine"])
    expect(await world.line.json(["mapping", "capture", "contact", `--${side}`, "--yes"])).toEqual(answer);

  expect(world.calls("POST")).toEqual([`${call}?dry_run=true`, call, call]);
  expect(world.bodies("POST")).toEqual(["mine", "salesforce", "mine"].map((uncaptured) => ({ uncaptured })));
});

test("a mapping is named by its object or its table in any case, and an empty text takes a setting away", async () => {
  const contact = { id: "map_1", sf_object: "Contact", pg_table: "people", fields: ["Email"] };
  world.answer("GET /monitoring/mappings", [contact]);
  world.answer("GET /mappings/map_1", contact);
  world.answer("PATCH /mappings/map_1", { ...contact, state: "running" });

  await world.run("mapping update PEOPLE --add-field Phone --interval 60");
  await world.run(["mapping", "update", "contact", "--filter", "", "--upsert-field", ""]);

  expect(world.bodies("PATCH /mappings/map_1")).toEqual([
    { fields: ["Email", "Phone"], sf_polling_seconds: 60 },
    { filter: null, upsert_field: null },
  ]);
  expect((await world.run("mapping show Lead")).stderr).toContain("known: Contact");
});

test("a webhook gets all events where it gets what one without --events gets, and not as many others", async () => {
  const usual = ["record.failed", "sync.broken", "sync.recovered", "sync.failure_spike"];
  const webhook = { id: "wh_1", url: "https://hooks.example/", active: true, failing_since: null, given_up: false };
  world.answer("GET /webhooks", [
    { ...webhook, events: [...usual, "mapping.activated", "mapping.deactivated"] },
    { ...webhook, id: "wh_2", events: [...usual, "mapping.activated", "deletes.held"] },
    { ...webhook, id: "wh_3", events: usual, failing_since: "2026-03-01T12:00:00Z", given_up: true },
  ]);

  const { stdout } = await world.run("webhook list");

  expect(stdout).toMatch(/^wh_1 .* all$/m);
  expect(stdout).toMatch(/^wh_2 .* deletes\.held$/m);
  expect(stdout).toMatch(/^wh_3 .* failing for good /m);
});

test.each([
  ["errors --grouped --table contact", "/monitoring/failures?table=contact "],
  ["errors --retry --table contact --yes", '/errors/retry {"table":"contact"}'],
  ["errors --retry --fingerprint f1 --yes", '/errors/retry {"fingerprint":"f1"}'],
  ["conflicts --mapping contact --limit 7 --offset 3", "/conflicts?limit=7&offset=3&mapping_id=map_1 "],
  ["activity --state FAILED --table contact --sfid 003 --row 7", "?state=FAILED&table=contact&sfid=003&row=7 "],
  ["audit --action token.created", "action=token.created "],
  [
    "budget --share 60% --at-most none --when-quiet 90",
    '{"calls_share":0.6,"most_calls":null,"when_quiet_seconds":90}',
  ],
  ["mapping restore Lead", "/monitoring/mappings?deleted=true "],
  ["nudge contact", "/nudge?table=contact "],
  ["token create ci --owner a@b.c --scope operate --days 30", '"scopes":["operate"],"valid_days":30}'],
  ["webhook create https://a.example --events sync.broken", '"events":["sync.broken"]}'],
  ["webhook update w --events sync.broken --resume", '{"events":["sync.broken"],"active":true}'],
  ["webhook test w --event sync.broken", "/test?event=sync.broken "],
  [
    "connect postgres --schema crm --take-over --schema-changes propose",
    '"schema":"crm","take_over":true,"schema_changes":"propose"}',
  ],
])("bridge %s hands on what was typed", async (line, asked) => {
  await world.run(line, { stdin: "postgres://u:p@db/d\n" });
  const { call = "", body = "" } = world.asked.at(-1) ?? {};
  expect(`${call} ${body}`).toContain(asked);
});

test("a token is ended by its name where only one has it", async () => {
  const one = { id: "tok_1", name: "ci", owner: "ada@example.com", state: "valid" };
  const two = { ...one, name: "two" };
  world.answer("GET /tokens", [
    { ...one, id: "tok_0", state: "revoked" },
    one,
    ...[2, 3].map((n) => ({ ...two, id: `tok_${n}` })),
  ]);
  world.answer("DELETE /tokens/tok_1", one);

  expect((await world.run("token revoke ci")).code).toBe(0);
  expect((await world.run("token revoke two")).stderr).toContain("2 tokens have the name");
  expect((await world.run("token revoke none")).code).toBe(5);
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

  const ended = await world.run("connect salesforce --client-id key", {
    onStderr: (text) => {
      const callback = /http:\/\/localhost:\d+\/callback/.exec(text)?.[0];
      if (callback) visits.push(visit(callback.replace("localhost", "127.0.0.1")));
    },
  });

  expect(await visits[0]).toBe(404);
  expect(ended).toMatchObject({ code: 0, stdout: "Connected to org 00D1 at https://acme.example as ada.\n" });
  expect(world.bodies("POST").at(-1)).toEqual({ state: "st", code: "good" });
});

describe("the schema of the database", () => {
  const postgres = { host: "db", port: 5432, database: "app", user: "bridge", schema: "crm" };
  beforeEach(() => {
    world.answer("GET /connections", { postgres, salesforce: null });
  });

  test("is dumped without Bridge's rows, and detached, by what can be pasted and is not run", async () => {
    const { stdout } = await world.run("schema exclude");
    const json = await world.line.json(["schema", "exclude"]);
    const detach = await world.run("schema detach");
    world.answer("GET /connections", { postgres: null, salesforce: null });
    const unconnected = await world.run("schema exclude");

    expect(stdout).toBe("--exclude-table-data='crm._bridge_*' --exclude-table-data='crm._trigger_log*'\n");
    expect(json).toEqual({ schema: "crm", options: stdout.trim().split(" ") });
    expect(detach.stdout).toBe('SELECT "crm"._bridge_detach();\n');
    expect(detach.stderr).toContain("In the original it ends the sync");
    expect(unconnected).toMatchObject({ code: 7, stderr: has("bridge connect postgres") });
    expect(world.calls()).toEqual(Array(4).fill("GET /connections"));
  });

  test("is kept as long as was said, the setting is shown without options, and there are others", async () => {
    const retention = { log_days: 14, conflict_days: 31, tombstone_days: 31 };
    const shown = { postgres: { ...postgres, retention, log_autovacuum: null }, salesforce: null };
    world.answer("GET /connections", shown);
    world.answer("PATCH /connections/postgres/retention", shown);
    const change = (flags: string) => world.run(`schema retention ${flags}`);

    world.answer("PATCH /connections/postgres", {});

    const setting = await world.line.json(["schema", "retention"]);
    await change("--log-days 14 --autovacuum vacuum_scale_factor=0.02 vacuum_cost_delay=1");
    await change("--autovacuum none");
    const mistyped = await change("--autovacuum vacuum_scale_factor");

    expect(setting).toEqual({ ...retention, log_autovacuum: null });
    expect(mistyped).toMatchObject({ code: 6, stderr: has("vacuum_scale_factor=0.02, or none") });
    expect((await world.run("schema changes propose")).stdout).toContain("bridge schema propose");
    expect((await world.run("schema connections 5")).stdout).toContain("5 connections");
    expect(world.bodies("PATCH")).toEqual([
      { log_days: 14, log_autovacuum: { vacuum_scale_factor: 0.02, vacuum_cost_delay: 1 } },
      ...[{ log_autovacuum: null }, { schema_changes: "propose" }, { max_connections: 5 }],
    ]);
  });
});

describe("types of the mapped tables", () => {
  beforeEach(() => {
    const described = [
      ["Id", "Contact ID", "varchar(18)"],
      ["LastName", "Last Name", "varchar(80)"],
      ["Amount__c", "Amount */", "numeric(18,2)"],
      ["Born__c", "Born", "timestamptz"],
    ].map(([name, label, pg_type]) => ({ name, label, pg_type }));
    const fields = [...described.map(({ name }) => name), "Account__Ref__c"];
    world.answer("GET /monitoring/mappings", [{ ...CONTACT, fields }]);
    world.answer("GET /connections", { postgres: { schema: "crm" }, salesforce: null });
    world.answer("GET /objects/Contact", { name: "Contact", fields: described });
  });

  test("are interfaces in TypeScript, as node-postgres gives rows, of mappings that are there", async () => {
    const { code, stdout } = await world.run("types --for ts");

    expect([code, (await world.run("types Lead --for ts")).code]).toEqual([0, 5]);
    for (const text of [
      "/** A row of crm.contact. */\nexport interface Contact {\n  id: string;\n",
      "  /** Last Name */\n  lastname: string | null;\n",
      "  /** Amount * / */\n  amount__c: string | null;\n",
      "  born__c: Date | null;\n",
      "  account__ref__c: string | null;\n}\n",
    ])
      expect(stdout).toContain(text);
  });

  test("are tables that Drizzle understands", async () => {
    const { stdout } = await world.run("types contact --for drizzle");

    const code = stdout.replace(/^\/\/.*\nimport \{(.*)\} from .*;/, "const {$1} = drizzle;").replaceAll("export ", "");
    const contact = new Function("drizzle", `${code}; return contact;`)(drizzle);
    const { schema, name, columns } = drizzle.getTableConfig(contact);
    expect({ schema, name }).toEqual({ schema: "crm", name: "contact" });
    expect(Object.fromEntries(columns.map((column) => [column.name, column.getSQLType()]))).toMatchObject({
      ...{ id: "bigserial", sfid: "varchar(18)", lastname: "varchar(80)", amount__c: "numeric(18, 2)" },
      ...{ born__c: "timestamp with time zone", account__ref__c: "text", isdeleted: "boolean", _ab_err: "text" },
    });
  });
});

describe("a migration that is proposed", () => {
  const sql = [
    'ALTER TABLE "crm"."contact" ADD COLUMN "sfid" varchar(18), ADD COLUMN "amount" numeric(18,2)',
    'CREATE UNIQUE INDEX CONCURRENTLY "contact_sfid_key" ON "crm"."contact" ("sfid")',
  ];
  const proposal = {
    ...{ mapping_id: "map_1", sf_object: "Contact", schema: "crm", table: "contact", awaited: true, create: false },
    ...{ columns: [{ column: "sfid", type: "varchar(18)" }], wider: [], sql },
    indexes: [{ name: "contact_sfid_key", column: "sfid", unique: true }],
  };
  const path = "GET /connections/postgres/proposals";

  test("is printed as SQL that can be piped, as it was answered for programs, and said where it is none", async () => {
    world.answerEach(path, [proposal], [proposal], []);

    expect(await world.run("schema propose")).toEqual({ code: 0, stdout: `${sql.join(";\n")};\n`, stderr: "" });
    expect(await world.line.json(["schema", "propose"])).toEqual({ proposals: [proposal] });
    const none = { stdout: "", stderr: "The mapped tables need no migration.\n" };
    expect(await world.run("schema propose")).toMatchObject(none);
  });

  test("is not written into a folder that is not Drizzle's, or that an unknown version keeps", async () => {
    world.answer(path, [proposal]);
    const { folder } = world.line;
    mkdirSync(`${folder}/out/meta`, { recursive: true });
    world.line.file("out/meta/_journal.json", JSON.stringify({ version: "8", dialect: "postgresql", entries: [] }));

    for (const [name, says] of [
      ["nothing", "the folder that drizzle-kit generate"],
      ["out", "run drizzle-kit generate"],
    ] as const)
      expect(await world.run(`schema propose --drizzle ${folder}/${name}`)).toMatchObject({
        code: 2,
        stderr: has(says),
      });
    expect(readdirSync(`${folder}/out`)).toEqual(["meta"]);
  });
});

describe("from the command line", () => {
  test("one failure is dismissed or retried by its number, and never all of them unsaid", async () => {
    world.answer("POST /monitoring/errors/dismiss", { dismissed: 1, remaining: 0 });
    world.answer("POST /monitoring/errors/7/retry", { retried: 0, remaining: 0 });
    world.answer("GET /monitoring/activity/7", {});
    const codeOf = async (options: string) => (await world.run(`errors ${options}`)).code;
    const settled = await codeOf("--retry 7");
    world.refuse("GET /monitoring/activity/7", 404, "NOT_FOUND");
    const unknown = await codeOf("--retry 7");
    const one = await world.run("errors --dismiss 4711");
    const unsaid = [await codeOf("--dismiss"), await codeOf("--dismiss --retry --yes")];
    world.answer("POST /monitoring/errors/dismiss", { dismissed: 0, remaining: 0 });
    const absent = [await codeOf("--dismiss 9"), await codeOf("--dismiss nine")];

    expect(one).toMatchObject({ code: 0, stdout: "The failure 4711 is dismissed.\n" });
    expect([settled, unknown, ...unsaid, ...absent]).toEqual([0, 5, 2, 2, 5, 6]);
    expect(world.bodies("POST /monitoring/errors/dismiss")).toEqual([{ id: 4711 }, { id: 9 }]);
  });

  test("records that could not become rows are read again, one or all of a mapping", async () => {
    const call = "POST /mappings/map_1/retry-inbound";
    const retry = (of: string) => world.run(`inbound-errors ${of}`);
    world.answer(call, { retried: 1, mapping_id: "map_1" });
    const one = await retry("--mapping contact --retry 003000000000001AAA");
    const [all, unnamed] = [await retry("--mapping contact --retry"), await retry("--retry")];
    world.answer(call, { retried: 0, mapping_id: "map_1" });
    const gone = await retry("--mapping contact --retry 003000000000002AAA");

    expect(one.stdout).toBe("1 record is read again by the next cycle of Contact.\n");
    expect([all.code, unnamed.code, gone.code]).toEqual([0, 2, 5]);
    expect(world.calls("POST")).toEqual([`${call}?sfid=003000000000001AAA`, call, `${call}?sfid=003000000000002AAA`]);
  });

  test("a conflict is turned by its number, which the list shows", async () => {
    const conflict = {
      ...{ id: 7, sf_object: "Contact", sfid: "003", record_id: 1, field: "email", winner: "salesforce" },
      ...{ postgres: "a", salesforce: "b", at: "2026-11-25T03:00:00.000Z" },
    };
    world.answer("GET /monitoring/conflicts", [conflict]);
    world.answer("POST /monitoring/conflicts/7/use-other-value", { conflict_id: 7 });
    const list = await world.run("conflicts");
    const turned = await world.run("conflicts --use-other 7");
    const unknown = await world.run("conflicts --use-other 8");

    expect(list.stdout).toMatch(/^ID .*\n +7 /);
    const says = "The row has the other value of conflict 7 now; the next cycle sends it.\n";
    expect([turned.code, turned.stdout, unknown.code]).toEqual([0, says, 5]);
  });

  test("the audit log as CSV is that of the actor who was asked for", async () => {
    await world.run("audit --actor ada@example.com --csv");
    expect(world.calls()).toEqual([expect.stringMatching(/^GET \/audit-log\?.*actor=ada%40example\.com/)]);
  });
});
