import { readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openCommandLine } from "../support/processes/command-line.ts";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
let file: string;
beforeEach(async () => {
  world = await startCliWorld();
  const mappings = [{ object_name: "Contact", config: { fields: { Id: {} } } }];
  file = world.line.file("export.json", JSON.stringify({ version: 1, connection: {}, mappings }));
  world.answer("POST /connections/postgres/test", { ok: true, findings: [finding("connection", true)] });
  world.answer("POST /connections/salesforce/test", { ok: true, findings: [] });
  adoptable([finding("log", true), finding("paused", false, "pause it: heroku connect:pause")]);
  world.answer("POST /config/import", { created: 1, updated: 0, skipped: 0, changes: [PLANNED] });
  mappingIs("running", null);
});
afterEach(() => world.close());

const finding = (check: string, ok: boolean, remedy: string | null = null) => ({
  check,
  ok,
  message: `${check} is ${ok ? "well" : "not well"}`,
  remedy,
});
const PLANNED = {
  action: "create",
  object_name: "Contact",
  pg_table: "contact",
  fields_added: ["Email"],
  fields_removed: [],
  settings_changed: [],
  settings: [],
};
const TABLE = {
  table: "contact",
  rows: 12_000,
  triggers: ["hc_contact_logtrigger", "hc_contact_status_trigger"],
  changes: { new: 7, pending: 1, failed: 2 },
  kept_types: [{ column: "amount__c", type: "double precision" }],
};

function adoptable(findings: readonly object[]): void {
  const taken_over = [{ table: "contact", locked_ms: 120 }];
  world.answer("POST /connections/postgres/adopt-heroku-connect", {
    state: "present",
    tables: [TABLE],
    taken_over,
    findings,
  });
}

function mappingIs(state: string, reason: string | null): void {
  const mapping = {
    id: "map_1",
    active: true,
    sf_object: "Contact",
    pg_table: "contact",
    state,
    reason,
    waiting: 8,
    failed: 2,
  };
  world.answer("GET /monitoring/mappings", [mapping, { ...mapping, sf_object: "Lead", state: "loading" }]);
}

const migrate = (...options: readonly string[]) => world.line.run(["migrate", "heroku-connect", file, ...options]);
const changes = () =>
  world.asked.map(({ call }) => call).filter((call) => /adopt|import/.test(call) && !call.endsWith("?dry_run=true"));

test("a dry run shows both sides, the mappings, what is taken over and what is dropped, and changes nothing", async () => {
  const { code, stdout, stderr } = await migrate("--dry-run");

  expect(code).toBe(0);
  expect(stdout).toContain("✓ connection is well");
  expect(stdout).toContain("! paused is not well\n    pause it: heroku connect:pause");
  expect(stdout).toMatch(/create Contact \(contact\)/);
  expect(stdout).toMatch(/contact +~12000 +7 +1 +2/);
  expect(stdout).toContain("drops  hc_contact_logtrigger, hc_contact_status_trigger");
  expect(stdout).toContain("keeps  amount__c (double precision)");
  expect(stderr).toContain("Nothing was changed");
  expect(changes()).toEqual([]);
});

test("for programs the plan is one JSON document", async () => {
  const { stdout } = await migrate("--dry-run", "--json");

  expect(JSON.parse(stdout)).toMatchObject({
    connections: [{ check: "connection" }],
    adoption: { tables: [{ changes: { new: 7 } }] },
    import: { created: 1 },
  });
});

test("nothing is adopted before a user says yes", async () => {
  const { code, stderr } = await migrate();

  expect(code).toBe(2);
  expect(stderr).toContain("not confirmed");
  expect(changes()).toEqual([]);
});

test("the schema is adopted before the mappings are imported, and it ends with what to check", async () => {
  const { code, stdout, stderr } = await migrate("--yes");

  expect(code).toBe(0);
  expect(changes()).toEqual(["POST /connections/postgres/adopt-heroku-connect", "POST /config/import"]);
  expect(stderr).toContain("still capture contact, into _hc_trigger_log");
  expect(stderr).toMatch(
    /\d s: moved Heroku Connect's log aside\n.*\d s: imported the mappings\n.*\d s: took the tables over/,
  );
  expect(JSON.parse(world.asked.find(({ call }) => call === "POST /config/import")?.body ?? "")).toMatchObject({
    mappings: [{ object_name: "Contact", config: { fields: { Id: {} } } }],
  });
  expect(stdout).toMatch(/Contact +contact +running +120 +8 +2/);
  expect(stdout).not.toContain("Lead");
  expect(stderr).toContain("Keep Heroku Connect paused");
});

test("what must be corrected first is marked, and nothing is changed, whatever was confirmed", async () => {
  adoptable([finding("rights", false, 'GRANT "theirs" TO "bridge";')]);

  const real = await migrate("--yes");
  const dry = await migrate("--dry-run");

  expect([real.code, dry.code]).toEqual([7, 10]);
  expect(real.stdout).toContain('✗ rights is not well\n    GRANT "theirs" TO "bridge";');
  expect(changes()).toEqual([]);
});

test("a side that is not connected is named with the command that connects it", async () => {
  world.refuse("POST /connections/salesforce/test", 409, "CONFLICT");

  const { code, stderr } = await migrate("--yes");

  expect(code).toBe(7);
  expect(stderr).toContain("bridge connect salesforce");
  expect(changes()).toEqual([]);
});

test("a table that could not be adopted is named with the reason, and the same command continues", async () => {
  mappingIs("provisioning_failed", "contact belongs to u_heroku");
  const failed = await migrate("--yes");
  mappingIs("running", null);
  const again = await migrate("--yes");

  expect([failed.code, again.code]).toEqual([10, 0]);
  expect(failed.stderr).toContain("Contact is not adopted: contact belongs to u_heroku");
});

test.each<[string, (text: string) => Buffer]>([
  ["UTF-8 with a byte-order mark", (text) => Buffer.from(`\uFEFF${text}`)],
  ["UTF-16, as PowerShell writes it", (text) => Buffer.from(`\uFEFF${text}`, "utf16le")],
  ["UTF-16 with the other byte first", (text) => Buffer.from(`\uFEFF${text}`, "utf16le").swap16()],
])("an export in %s is read, from a file and from standard input", async (_, bytesOf) => {
  const bytes = bytesOf(readFileSync(file, "utf8"));
  writeFileSync(file, bytes);

  const { code } = await migrate("--dry-run");
  const piped = await world.line.run(["config", "plan", "-"], { stdin: bytes });

  expect([code, piped.code]).toEqual([0, 0]);
  const sent = world.asked.flatMap(({ call, body }) =>
    call.startsWith("POST /config/import") ? [JSON.parse(body ?? "")] : [],
  );
  expect(sent).toEqual(
    Array(2).fill(expect.objectContaining({ mappings: [expect.objectContaining({ object_name: "Contact" })] })),
  );
});

test("a rehearsal on the database that is connected is refused before a workspace is created", async () => {
  world.answer("GET /connections", { postgres: { host: "db.example.com", database: "acme", schema: "salesforce" } });
  const copy = world.line.file("copy", "postgres://other:p@db.example.com:5432/acme?sslmode=require\n");

  const { code, stderr } = await migrate("--rehearse", "--database-url-file", copy, "--yes");

  expect([code, stderr]).toEqual([2, expect.stringContaining("name a copy of it")]);
  expect(world.asked.map(({ call }) => call)).toEqual(["GET /connections"]);
});

test("an inactive mapping is waited for, until Heroku Connect captures its table no more", async () => {
  mappingIs("paused", null);
  const looks = () => world.asked.filter(({ call }) => call.includes("adopt-heroku-connect?dry_run=true")).length;

  const moving = migrate("--yes");
  await vi.waitFor(() => expect(looks()).toBeGreaterThan(2), { timeout: 60_000, interval: 5 });
  world.answer("POST /connections/postgres/adopt-heroku-connect", {
    state: "adopted",
    tables: [],
    taken_over: [],
    findings: [],
  });
  const { code, stdout } = await moving;

  expect(code).toBe(0);
  expect(stdout).toMatch(/Contact +contact +paused/);
});

/** The service in a workspace that an operator has created for the rehearsal. */
function rehearsing() {
  const at = "/api/v1/t/ws_copy";
  const compared = { at: "2026-11-20T12:00:00.000Z", rows: 4, records: 5, differing: 3, vanished: 0 };
  const mapping = {
    id: "map_1",
    active: false,
    sf_object: "Contact",
    pg_table: "contact",
    state: "paused",
    reason: null,
  };
  const taken_over = [{ table: "contact", locked_ms: 120 }];
  const findings = [finding("log", true), finding("paused", false)];
  world.answer("GET /connections", { postgres: { host: "db.example.com", database: "acme", schema: "theirs" } });
  world.answer(`PUT ${at}/connections/postgres`, { ok: true, findings: [] });
  for (const side of ["postgres", "salesforce"])
    world.answer(`POST ${at}/connections/${side}/test`, { ok: true, findings: [] });
  world.answer(`POST ${at}/connections/postgres/adopt-heroku-connect`, {
    state: "adopted",
    tables: [],
    taken_over,
    findings,
  });
  world.answer(`POST ${at}/config/import`, { created: 1, updated: 0, skipped: 0, changes: [PLANNED] });
  world.answer(`GET ${at}/monitoring/mappings`, [{ ...mapping, waiting: 8, failed: 2, compared }]);
  const operated: object[] = [];
  const operator = {
    createWorkspace: async (asked: object) => {
      operated.push(asked);
      return { workspaceId: "ws_copy", token: "brg_r_copy" };
    },
    removeWorkspace: async (asked: object) => {
      operated.push(asked);
      return { name: "Rehearsal", cleared: null };
    },
  };
  const environment = { BRIDGE_URL: world.url, BRIDGE_WORKSPACE: "ws_1", BRIDGE_TOKEN: "brg_r_secret" };
  const line = openCommandLine(environment, { openOperator: async () => operator } as never);
  onTestFinished(line.close);
  const copy = line.file("copy.url", "postgres://u:p@db.example.com/copy\n");
  const run = () => line.run(["migrate", "heroku-connect", file, "--rehearse", "--database-url-file", copy, "--yes"]);
  return { run, operated };
}

test("a rehearsal has a workspace of its own, plans what the day will bring, never sends, and says what to decide", async () => {
  const { run, operated } = rehearsing();

  const { code, stdout, stderr } = await run();

  expect(code).toBe(0);
  expect(operated).toEqual([
    { name: "Rehearsal", owner: "rehearsal@localhost", withOrgOf: "ws_1" },
    { workspaceId: "ws_copy", actor: "rehearsal@localhost", leaveDatabase: false },
  ]);
  const imports = world.asked.filter(({ call }) => call.includes("/config/import"));
  expect(imports.map(({ body }) => JSON.parse(body).mappings[0].config)).toEqual([
    { fields: { Id: {} } },
    { fields: { Id: {} }, bridge: { active: false } },
    { fields: { Id: {} }, access: "read_only", bridge: { active: true, sync_direction: "sf_to_pg" } },
  ]);
  expect(changes().filter((call) => !call.includes("ws_copy"))).toEqual([]);
  expect(stdout).toMatch(/Contact +contact +paused +120 +8 +2 +4 +5 +3/);
  expect(stderr).toContain(
    "To decide before the day:\n  1 of the checks above: those marked !\n  3 records whose row differs or is missing",
  );
});

test("the workspace of a rehearsal that fails is removed as well", async () => {
  const { run, operated } = rehearsing();
  world.refuse("PUT /api/v1/t/ws_copy/connections/postgres", 400, "VALIDATION_ERROR");

  const { code } = await run();

  expect(code).not.toBe(0);
  expect(operated).toMatchObject([{ name: "Rehearsal" }, { workspaceId: "ws_copy" }]);
});
