import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { programOf } from "../../lib/cli/program.ts";
import { shortTime, spokenTime } from "../../lib/cli/words.ts";
import { silent } from "./every-command.ts";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
});
afterEach(() => world.close());

const TERMINAL = { columns: 100 };
const plain = (args: readonly string[], columns = 100) => world.line.run([...args, "--no-color"], { columns });

describe("help", () => {
  test("groups every command, one to a line", async () => {
    const { stdout } = await world.line.run(["--help"]);

    expect(stdout.match(/^[A-Z][\w ]+:$/gm)).toEqual([
      ...["Options:", "Start:", "Everyday:", "Set up:", "Operate:", "On this machine:", "Examples:"],
    ]);
    for (const command of programOf(() => async () => undefined, silent).commands) {
      const name = command.name();
      if (name !== "complete") expect(stdout).toMatch(new RegExp(`^ {2}${name}(?: [<[].+[>\\]])? {2,}\\S.*$`, "m"));
    }
    expect(stdout.split("\n").filter((line) => line.startsWith(" ".repeat(20)))).toHaveLength(2); // of options
  });

  test("of a command has its own options, and one line for those of all commands", async () => {
    const { stdout } = await world.line.run(["mapping", "create", "--help"]);

    expect(stdout).toContain("\nGlobal options: see bridge --help\n");
    for (const option of ["--profile", "--workspace", "--json"]) expect(stdout).not.toContain(option);
  });
});

describe("a mistake", () => {
  const mapping = { id: "map_1", sf_object: "Contact", pg_table: "contact" };
  beforeEach(() => {
    world.answer("GET /monitoring/mappings", [mapping]);
    world.answer("GET /mappings/map_1", { ...mapping, fields: ["Email"] });
  });

  test.each([
    [["activity", "--limit", "abc"], '--limit must be a whole number, not "abc"'],
    [["poll", "contact", "--timeout", "soon"], '--timeout must be a whole number, not "soon"'],
    [["mapping", "update", "contact", "--sweep-days", "x"], '--sweep-days must be a whole number, not "x"'],
    [["budget", "--at-most", "many"], "--at-most many: name a number of calls a day"],
    [["types", "--for", "cobol"], "--for takes ts or drizzle"],
  ])("in the value of an option has exit code 6 and the option's name: %j", async (typed, says) => {
    const { code, stderr } = await world.line.run(typed);

    expect([code, stderr]).toEqual([6, expect.stringContaining(says)]);
  });

  test.each([
    ["GET /monitoring/activity", "state", ["activity", "--state", "DONE"], "--state: is wrong"],
    ["PATCH /mappings/map_1", "body.sf_polling_seconds", ["--interval", "1"], "--interval: is wrong"],
    ["PATCH /mappings/map_1", "body.fields.Nme", ["--add-field", "Nme"], "--add-field Nme: is wrong"],
    ["PATCH /mappings/map_1", "body.fields.Nme", ["--fields", "Nme"], "--fields Nme: is wrong"],
    ["POST /tokens", "scopes[0]", ["token", "create", "a", "--owner", "b", "--scope", "c"], "--scope: is wrong"],
    ["POST /tokens", "valid_days", ["token", "create", "a", "--owner", "b", "--days", "0"], "--days: is wrong"],
  ])("that the service finds has the same, for %s of %s; programs get the service's words", async (...given) => {
    const [call, path, typed, says] = given;
    const line = typed[0]?.startsWith("--") ? ["mapping", "update", "contact", ...typed] : typed;
    world.refuse(call, 400, "VALIDATION_ERROR", [{ path, message: "is wrong" }], `${path}: is wrong`);

    const { code, stderr } = await world.line.run(line);
    const forPrograms = await world.line.run([...line, "--json"]);

    expect([code, stderr]).toEqual([6, `bridge: ${says}\n`]);
    expect(JSON.parse(forPrograms.stderr).error).toMatchObject({ kind: "invalid", message: `${path}: is wrong` });
  });

  test("of a command's name is JSON for programs", async () => {
    for (const typed of [["mappng"], ["mapping", "lst"], ["mapping"], ["mapping", "show"], ["health", "--colr"]]) {
      const { code, stdout, stderr } = await world.line.run([...typed, "--json"]);

      expect([code, stdout]).toEqual([2, ""]);
      expect(JSON.parse(stderr).error).toMatchObject({ kind: "usage", message: expect.stringMatching(/\w/) });
    }
    const { stderr } = await world.line.run(["mappng", "--json"]);
    expect(JSON.parse(stderr).error.message).toBe("unknown command 'mappng' (Did you mean mapping?)");
  });

  test("in a file's place is said without a stack", async () => {
    world.answer("GET /config/export", { mappings: [] });

    const { code, stderr } = await world.line.run(["config", "export", `${world.line.folder}/none/file.json`]);

    expect([code, stderr]).toEqual([2, expect.stringMatching(/^bridge: ENOENT: .*file\.json'\n$/)]);
  });

  test("in the name of a mapping or an object is answered with the one that may be meant", async () => {
    world.refuse("GET /objects/Contct", 404, "NOT_FOUND");
    world.answer("GET /objects", [{ name: "Account" }, { name: "Contact" }]);
    const unknown = "sf_object: is no object that the connected org's user can see";
    world.refuse("POST /mappings", 400, "VALIDATION_ERROR", [], unknown);

    const said = [
      await world.line.run(["mapping", "show", "Kontact"]),
      await world.line.run(["objects", "Contct"]),
      await world.line.run(["mapping", "create", "Acount", "--fields", "Name"]),
      await world.line.run(["mapping", "create", "Zebra", "--fields", "Name"]),
    ];

    expect(said.map(({ code, stderr }) => `${code} ${stderr.split("\n")[0]}`)).toEqual([
      '5 bridge: there is no mapping "Kontact"; known: Contact; did you mean Contact?',
      "5 bridge: in words; did you mean Contact?",
      `6 bridge: ${unknown}; did you mean Account?`,
      `6 bridge: ${unknown}`,
    ]);
  });
});

describe("colours", () => {
  test.each([
    [{}, [], false],
    [{ FORCE_COLOR: "1" }, [], true],
    [{ FORCE_COLOR: "0" }, [], false],
    [{ NO_COLOR: "1" }, ["--color"], true],
    [{ FORCE_COLOR: "1" }, ["--no-color"], false],
    [{ FORCE_COLOR: "1" }, ["--json"], false],
  ])("in a pipe with %j and %j: %j", async (environment, options, hasColours) => {
    world.answer("GET /tokens", [{ name: "ci", owner: "a@example.com", scopes: ["read"], state: "valid" }]);
    const signedIn = { BRIDGE_URL: world.url, BRIDGE_WORKSPACE: "ws_1", BRIDGE_TOKEN: "t" };

    const { stdout } = await world.user({ ...signedIn, ...environment }).run(["token", "list", ...options]);

    expect(stdout.includes("\u001b[")).toBe(hasColours);
  });

  test("are none on a terminal that has none", async () => {
    world.answer("GET /tokens", [{ name: "ci", owner: "a@example.com", scopes: ["read"], state: "valid" }]);
    const signedIn = { BRIDGE_URL: world.url, BRIDGE_WORKSPACE: "ws_1", BRIDGE_TOKEN: "t" };

    const { stdout } = await world.user({ ...signedIn, TERM: "dumb" }).run(["token", "list"], TERMINAL);

    expect(stdout).not.toContain("\u001b[");
  });
});

describe("times", () => {
  const now = new Date(2026, 10, 29, 12, 0, 0);
  const at = (...parts: [number, number, number, number, number, number]) => new Date(...parts).toISOString();

  test.each([
    [at(2026, 10, 29, 5, 43, 12), "05:43:12", "6 hours ago"],
    [at(2026, 10, 29, 11, 55, 0), "11:55:00", "5 minutes ago"],
    [at(2026, 10, 29, 12, 0, 30), "12:00:30", "in 30 seconds"],
    [at(2026, 10, 27, 5, 43, 12), "27 Nov 05:43", "27 Nov 05:43"],
    [at(2025, 2, 1, 5, 43, 12), "1 Mar 2025", "1 Mar 2025"],
    ["never", "never", "never"],
  ])("%s is %s in a table and %s in a sentence", (text, short, spoken) => {
    expect([shortTime(text, now), spokenTime(text, now)]).toEqual([short, spoken]);
  });

  test("are as people say them on a terminal, and whole in a pipe", async () => {
    const created_at = new Date(Date.now() - 3 * 24 * 3600 * 1000).toISOString();
    const change = { id: 1, table_name: "contact", action: "INSERT", state: "NEW", sfid: null, synced_at: null };
    world.answer("GET /monitoring/activity", [{ ...change, created_at }]);

    expect((await plain(["activity"])).stdout).toContain(shortTime(created_at));
    expect((await world.line.run(["activity"])).stdout).toContain(created_at);
  });
});

describe("names and values", () => {
  test("of a mapping are in groups, by words", async () => {
    const mapping = { id: "map_1", sf_object: "Contact", pg_table: "contact", sf_polling_seconds: 10, active: true };
    const more = { state: "running", last_run_at: null, notices: [], rows_synced: 2, lag_seconds: { p50: 1.234567 } };
    world.answer("GET /monitoring/mappings", [mapping]);
    world.answer("GET /mappings/map_1", { ...mapping, ...more });

    const { stdout } = await plain(["mapping", "show", "contact"]);

    expect(stdout.replaceAll(/ {2,}/g, ": ").split("\n\n")).toEqual([
      "id: map_1\nobject: Contact\ntable: contact\nactive: yes\nstate: running\nnotices: -",
      "Settings\nseconds between pulls: 10",
      "Rows\nrows synced: 2",
      "Cycles and calls\nlast run: -\nlag seconds p50: 1.23\n",
    ]);
  });

  test("of the audit log are a sentence", async () => {
    const entry = { actor: "ada@example.com", created_at: "2026-03-01T12:00:00.000Z", resource_id: "x" };
    const token = { name: "nightly job", scopes: ["read", "operate"], valid_until: null };
    world.answer("GET /audit-log", [
      { ...entry, action: "token.created", detail: token },
      { ...entry, action: "webhook.delivery_retried", detail: { event: "sync.broken" } },
      { ...entry, action: "mapping.updated", detail: { sf_object: "Contact", changes: { filter: null } } },
      { ...entry, action: "workspace.paused", detail: {} },
    ]);

    const { stdout } = await world.line.run(["audit"]);

    for (const sentence of [
      'created the token "nightly job" (scopes read and operate)',
      "sent a delivery of the webhook again (event sync.broken)",
      "updated the mapping Contact (changes filter none)",
      "paused the workspace",
    ])
      expect(stdout).toContain(`  ${sentence}\n`);
  });

  test.each([60, 80])("of refused rows by kind keep the reason on %i columns", async (columns) => {
    const sample = "INVALID_EMAIL_ADDRESS: Email: invalid email address";
    const kind = { table_name: "contact", action: "INSERT", count: 4, last_at: "2026-03-01T12:00:00.000Z", sample };
    world.answer("GET /monitoring/failures", [{ ...kind, fingerprint: "0123456789abcdef" }]);

    const { stdout } = await plain(["errors", "--grouped"], columns);

    expect(stdout).toContain(sample.slice(0, columns === 60 ? undefined : 30));
    expect(stdout).toContain("0123456789abcdef");
  });
});
