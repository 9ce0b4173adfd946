import { readFileSync, writeFileSync } from "node:fs";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { CONTACT, eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();
let file: string;
beforeEach(() => {
  const mappings = [{ object_name: "Contact", config: { fields: { Id: {} } } }];
  file = world.line.file("export.json", JSON.stringify({ version: 1, connection: {}, mappings }));
  world.answer("POST /connections/postgres/test", { ok: true, findings: [finding("connection", true)] });
  world.answer("POST /connections/salesforce/test", { ok: true, findings: [] });
  adoption("present", [finding("log", true), finding("paused", false, "pause it: heroku connect:pause")], [TABLE]);
  world.answer("POST /config/import", IMPORTED);
  mappingIs("running", null);
});

const finding = (check: string, ok: boolean, remedy: string | null = null) => ({
  ...{ check, ok, message: `${check} is ${ok ? "well" : "not well"}`, remedy },
});
const PLANNED = { action: "create", object_name: "Contact", pg_table: "contact", fields_added: ["Email"] };
const IMPORTED = {
  ...{ created: 1, updated: 0, skipped: 0 },
  changes: [{ ...PLANNED, fields_removed: [], settings_changed: [], settings: [] }],
};
const TABLE = {
  ...{ table: "contact", rows: 12_000, triggers: ["hc_contact_logtrigger", "hc_contact_status_trigger"] },
  ...{ changes: { new: 7, pending: 1, failed: 2 }, kept_types: [{ column: "amount__c", type: "double precision" }] },
};
const ADOPT = "POST /connections/postgres/adopt-heroku-connect";

function adoption(state: string, findings: readonly object[], tables: readonly object[] = []): void {
  world.answer(ADOPT, { state, tables, taken_over: [{ table: "contact", locked_ms: 120 }], findings });
}

function mappingIs(state: string, reason: string | null): void {
  const mapping = { ...CONTACT, active: true, state, reason, waiting: 8, failed: 2 };
  world.answer("GET /monitoring/mappings", [mapping, { ...mapping, sf_object: "Lead", state: "loading" }]);
}

const migrate = (...options: readonly string[]) => world.line.run(["migrate", "heroku-connect", file, ...options]);
const changes = () => world.calls().filter((call) => /adopt|import/.test(call) && !call.endsWith("?dry_run=true"));

test("a dry run shows both sides, the mappings, what is taken over and what is dropped, and changes nothing", async () => {
  const { code, stdout, stderr } = await migrate("--dry-run");
  const plan = JSON.parse((await migrate("--dry-run", "--json")).stdout);

  expect(code).toBe(0);
  expect(stdout).toContain("✓ connection is well");
  expect(stdout).toContain("! paused is not well\n    pause it: heroku connect:pause");
  expect(stdout).toMatch(/create Contact \(contact\)/);
  expect(stdout).toMatch(/contact +~12000 +7 +1 +2/);
  expect(stdout).toContain("drops  hc_contact_logtrigger, hc_contact_status_trigger");
  expect(stdout).toContain("keeps  amount__c (double precision)");
  expect(stderr).toContain("Nothing was changed");
  const adopted = { tables: [{ changes: { new: 7 } }] };
  expect(plan).toMatchObject({ connections: [{ check: "connection" }], adoption: adopted, import: { created: 1 } });
  expect(changes()).toEqual([]);
});

test("the schema is adopted before the mappings are imported, and it ends with what to check", async () => {
  const { code, stdout, stderr } = await migrate("--yes");

  expect(code).toBe(0);
  expect(changes()).toEqual([ADOPT, "POST /config/import"]);
  expect(stderr).toContain("still capture contact, into _hc_trigger_log");
  expect(stderr).toMatch(
    /\d s: moved Heroku Connect's log aside\n.*\d s: imported the mappings\n.*\d s: took the tables over/,
  );
  const mappings = [{ object_name: "Contact", config: { fields: { Id: {} } } }];
  expect(world.bodies("POST /config/import").at(-1)).toMatchObject({ mappings });
  expect(stdout).toMatch(/Contact +contact +running +120 +8 +2/);
  expect(stdout).not.toContain("Lead");
  expect(stderr).toContain("Keep Heroku Connect paused");
});

test("nothing is changed before a user says yes, nor where something must be corrected first, whatever they say", async () => {
  const unsaid = await migrate();
  adoption("present", [finding("rights", false, 'GRANT "theirs" TO "bridge";')], [TABLE]);
  const [real, dry] = [await migrate("--yes"), await migrate("--dry-run")];
  world.refuse("POST /connections/salesforce/test", 409, "CONFLICT");
  const unconnected = await migrate("--yes");

  expect(unsaid).toMatchObject({ code: 2, stderr: has("not confirmed") });
  expect(real).toMatchObject({ code: 7, stdout: has('✗ rights is not well\n    GRANT "theirs" TO "bridge";') });
  expect(dry.code).toBe(10);
  expect(unconnected).toMatchObject({ code: 7, stderr: has("bridge connect salesforce") });
  expect(changes()).toEqual([]);
});

test("an export in UTF-8 with a byte-order mark, or in UTF-16 of either order, is read, from a file and from standard input", async () => {
  const text = `\uFEFF${readFileSync(file, "utf8")}`;

  for (const bytes of [Buffer.from(text), Buffer.from(text, "utf16le"), Buffer.from(text, "utf16le").swap16()]) {
    writeFileSync(file, bytes);
    expect((await migrate("--dry-run")).code).toBe(0);
    expect((await world.run("config plan -", { stdin: bytes })).code).toBe(0);
  }

  const mappings = [{ object_name: "Contact" }];
  expect(world.bodies("POST /config/import")).toMatchObject(Array(6).fill({ mappings }));
});

test("a table that is not adopted is named with the reason, and one of an inactive mapping is waited for", async () => {
  mappingIs("provisioning_failed", "contact belongs to u_heroku");
  const failed = await migrate("--yes");
  mappingIs("paused", null);
  const looks = () => world.calls(`${ADOPT}?dry_run=true`).length;
  const before = looks();
  const again = migrate("--yes");
  await vi.waitFor(() => expect(looks()).toBeGreaterThan(before + 2), { timeout: 60_000, interval: 5 });
  adoption("adopted", []);

  expect(failed).toMatchObject({ code: 10, stderr: has("Contact is not adopted: contact belongs to u_heroku") });
  expect(await again).toMatchObject({ code: 0, stdout: expect.stringMatching(/Contact +contact +paused/) });
});

describe("a rehearsal", () => {
  const at = "/api/v1/t/ws_copy";
  const operated: object[] = [];
  beforeEach(() => {
    operated.length = 0;
    world.answer("GET /connections", { postgres: { host: "db.example.com", database: "acme", schema: "theirs" } });
    world.answer(`PUT ${at}/connections/postgres`, { ok: true, findings: [] });
    for (const side of ["postgres", "salesforce"])
      world.answer(`POST ${at}/connections/${side}/test`, { ok: true, findings: [] });
    const taken_over = [{ table: "contact", locked_ms: 120 }];
    const findings = [finding("log", true), finding("paused", false)];
    world.answer(ADOPT.replace("/", `${at}/`), { state: "adopted", tables: [], taken_over, findings });
    world.answer(`POST ${at}/config/import`, IMPORTED);
    const compared = { at: "2026-11-20T12:00:00.000Z", rows: 4, records: 5, differing: 3, vanished: 0 };
    const mapping = { ...CONTACT, active: false, state: "paused", reason: null, waiting: 8, failed: 2, compared };
    world.answer(`GET ${at}/monitoring/mappings`, [mapping]);
  });

  const operate =
    <Answer>(answer: Answer) =>
    async (asked: object) => {
      operated.push(asked);
      return answer;
    };
  const rehearse = (database = "postgres://u:p@db.example.com/copy\n") => {
    const line = world.user(world.signedIn, {
      createWorkspace: operate({ workspaceId: "ws_copy", token: "brg_r_copy" }),
      removeWorkspace: operate({ name: "Rehearsal", cleared: null }),
    });
    const copy = line.file("copy.url", database);
    return line.run(["migrate", "heroku-connect", file, "--rehearse", "--database-url-file", copy, "--yes"]);
  };

  test("has a workspace of its own, plans what the day will bring, never sends, and says what to decide", async () => {
    const { code, stdout, stderr } = await rehearse();

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

  test("on the database that is connected is refused before a workspace is created; one that fails leaves none", async () => {
    const refused = await rehearse("postgres://other:p@db.example.com:5432/acme?sslmode=require\n");
    expect(refused).toMatchObject({ code: 2, stderr: has("name a copy of it") });
    expect([operated, world.calls()]).toEqual([[], ["GET /connections"]]);

    world.refuse(`PUT ${at}/connections/postgres`, 400, "VALIDATION_ERROR");
    expect((await rehearse()).code).not.toBe(0);
    expect(operated).toMatchObject([{ name: "Rehearsal" }, { workspaceId: "ws_copy" }]);
  });
});
