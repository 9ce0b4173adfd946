import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { programOf } from "../../lib/cli/program.ts";
import { examplesOf } from "../../lib/cli/tree/examples.ts";
import { shortTime, spokenTime } from "../../lib/cli/words.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { commandsOf, silent } from "./every-command.ts";
import { CONTACT, eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();

describe("exit codes show the kind of failure", () => {
  test.each([
    [4, 401, "UNAUTHORIZED"],
    [4, 403, "FORBIDDEN"],
    [5, 404, "MAPPING_NOT_FOUND"],
    [6, 400, "VALIDATION_ERROR"],
    [7, 409, "CONFLICT"],
    [7, 412, "PRECONDITION_FAILED"],
    [8, 429, "RATE_LIMITED"],
    [1, 500, "INTERNAL_ERROR"],
  ])("%i for an answer of %i %s", async (code, status, refusal) => {
    world.refuse("GET /tokens", status, refusal, [{ path: "body.x", message: "is wrong" }]);

    const ended = await world.run("token list");
    const forPrograms = await world.run("token list --json");

    expect(ended).toEqual({ code, stdout: "", stderr: "bridge: in words\n  x: is wrong\n" });
    expect(JSON.parse(forPrograms.stderr).error).toMatchObject({ code: refusal, message: "in words" });
  });

  test("2 for a command that was typed wrong, 3 without a session, 9 without an answer", async () => {
    const gone = world.user({ ...world.signedIn, BRIDGE_URL: "http://127.0.0.1:1" });

    expect((await world.run("mapping explode")).code).toBe(2);
    expect((await world.user().run(["health"])).code).toBe(3);
    expect((await gone.run(["health"])).code).toBe(9);
    expect((await world.run("--help")).code).toBe(0);
  });
});

describe("tables", () => {
  const last = { state: "valid", last_used_at: null, valid_until: null };
  const token = (name: string) => ({ id: "tok_1", name, owner: "ada@example.com", scopes: ["read"], ...last });
  const LONG = "tok_4v3I1yjsuUwHPlUxk7YeYG";

  test("fit the terminal, whatever is in them, and keep ids whole: what can be left out goes first", async () => {
    const at = "2024-11-20T13:18:35.047Z";
    const whole = { ...token("continuous integration"), id: LONG, valid_until: at, last_used_at: at };
    const rowsOf = async (tokens: readonly object[], columns: number) => {
      world.answer("GET /tokens", tokens);
      const { stdout } = await world.run("token list --no-color", { columns });
      for (const row of stdout.trimEnd().split("\n")) expect(row.length).toBeLessThanOrEqual(columns);
      return stdout;
    };

    expect(await rowsOf([token("x".repeat(300)), token("名前".repeat(40))], 100)).toContain("…");
    const narrow = await rowsOf([whole], 80);
    for (const shown of [LONG, "20 Nov 2024"]) expect(narrow).toContain(shown);
    expect(narrow).not.toContain("LAST USED");
  });

  test.each([20, 60])("keep ids and reasons on %i columns, row by row where a table is too broad", async (columns) => {
    const sfid = "003000000000001AAA";
    const sample = "INVALID_EMAIL_ADDRESS: Email: invalid email address";
    const refused = { id: 123_456_789_012, table_name: "contact", sfid, action: "UPDATE", created_at: "" };
    const kind = { table_name: "contact", action: "INSERT", count: 4, last_at: "2026-03-01T12:00:00.000Z", sample };
    world.answer("GET /tokens", [{ ...token("continuous integration"), id: LONG }, token("other")]);
    world.answer("GET /monitoring/errors", [{ ...refused, _ab_err: "no ".repeat(90) }]);
    world.answer("GET /monitoring/failures", [{ ...kind, fingerprint: "0123456789abcdef" }]);
    const shown = async (line: string) => (await world.run(`${line} --no-color`, { columns })).stdout;

    const [errors, kinds] = [await shown("errors"), await shown("errors --grouped")];

    expect(await shown("token list")).toContain(LONG);
    for (const whole of ["123456789012", sfid]) expect(errors).toContain(whole);
    for (const whole of [sample.slice(0, columns), "0123456789abcdef"]) expect(kinds).toContain(whole);
    if (columns === 20) expect(errors).toContain(`RECORD  ${sfid}\nERROR `);
  });

  test.each([
    [{}, [], 120, true],
    [{}, [], undefined, false],
    [{}, ["--no-color"], 120, false],
    [{ NO_COLOR: "1" }, [], 120, false],
    [{ TERM: "dumb" }, [], 100, false],
    [{ FORCE_COLOR: "1" }, [], undefined, true],
    [{ FORCE_COLOR: "0" }, [], 120, false],
    [{ NO_COLOR: "1" }, ["--color"], undefined, true],
    [{ FORCE_COLOR: "1" }, ["--no-color"], undefined, false],
    [{ FORCE_COLOR: "1" }, ["--json"], undefined, false],
  ])("have colours with %j and %j on %s columns: %j", async (environment, options, columns, hasColours) => {
    world.answer("GET /tokens", [token("a")]);
    const user = world.user({ ...world.signedIn, ...environment });

    const { stdout } = await user.run(["token", "list", ...options], columns === undefined ? {} : { columns });

    expect(stdout.includes("\u001b[")).toBe(hasColours);
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

  test("are as people say them on a terminal, and whole in a pipe; an empty table says what to do next", async () => {
    const created_at = new Date(Date.now() - 3 * 24 * 3600 * 1000).toISOString();
    const change = { id: 1, table_name: "contact", action: "INSERT", state: "NEW", sfid: null, synced_at: null };
    world.answer("GET /monitoring/activity", [{ ...change, created_at }]);
    world.answer("GET /monitoring/mappings", []);

    expect((await world.run("activity --no-color", { columns: 100 })).stdout).toContain(shortTime(created_at));
    expect((await world.run("activity")).stdout).toContain(created_at);
    expect((await world.run("mapping list")).stdout).toContain("bridge mapping create");
  });
});

describe("names and values", () => {
  test("of a mapping are in groups, by words", async () => {
    world.answer("GET /mappings/map_1", {
      ...{ ...CONTACT, sf_polling_seconds: 10, active: true, state: "running", last_run_at: null, notices: [] },
      ...{ rows_synced: 2, lag_seconds: { p50: 1.234567 } },
    });

    const { stdout } = await world.run("mapping show contact --no-color", { columns: 100 });

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
      { ...entry, action: "mapping.updated", detail: { sf_object: "Contact", changes: { filter: null } } },
      { ...entry, action: "workspace.paused", detail: {} },
      { ...entry, action: "mapping.flown", detail: { sf_object: "Contact" } }, // of another version
    ]);

    const { stdout } = await world.run("audit");

    expect(stdout).toContain('  created the token "nightly job" (scopes read and operate)\n');
    expect(stdout).toContain("  updated the mapping Contact (changes filter none)\n");
    expect(stdout).toContain("  paused the workspace\n");
    expect(stdout).toContain("  did mapping.flown to Contact\n");
  });
});

test("following shows the newest changes and then what is new, each change once per state, until Ctrl-C", async () => {
  const stop = new AbortController();
  const change = { table_name: "contact", sfid: null, action: "INSERT", created_at: "2026-01-01T00:00:00.000Z" };
  const older = Array.from({ length: 29 }, (_, back) => ({ ...change, id: 29 - back, state: "SUCCESS" }));
  world.answer("GET /monitoring/activity", [{ ...change, id: 30, state: "NEW" }, ...older]);
  const lines: string[] = [];

  const typing = { interrupted: stop.signal, onStdout: (text: string) => void lines.push(text) };
  const following = world.run("activity --follow --json --limit 3", typing);
  await expect.poll(() => lines.length, { timeout: 300_000 }).toBe(3);
  const settled = { ...change, id: 30, state: "SUCCESS" };
  world.answer("GET /monitoring/activity", [{ ...change, id: 31, state: "NEW" }, settled, ...older]);
  await expect.poll(() => lines.length, { timeout: 300_000 }).toBeGreaterThan(4);
  stop.abort();

  expect((await following).code).toBe(130);
  const seen = lines.map((line) => JSON.parse(line)).map(({ id, state }) => `${id} ${state}`);
  expect(seen).toEqual(["28 SUCCESS", "29 SUCCESS", "30 NEW", "30 SUCCESS", "31 NEW"]);
});

longTest(
  "watching shows each answer in place of the last one, and a service that is away does not end it",
  async () => {
    const stop = new AbortController();
    world.answer("GET /monitoring/budget", { calls_used: 1 });
    const [out, err]: [string[], string[]] = [[], []];
    const watching = world.run("budget --watch 1 --no-color", {
      ...{ interrupted: stop.signal, columns: 80 },
      onStdout: (text) => out.push(text),
      onStderr: (text) => err.push(text),
    });
    const rounds = { timeout: 60_000 };

    await expect.poll(() => out.length, rounds).toBe(1);
    world.refuse("GET /monitoring/budget", 500, "INTERNAL_ERROR");
    await expect.poll(() => err.join(""), rounds).toContain("bridge: in words");
    world.answer("GET /monitoring/budget", { calls_used: 2 });
    await expect.poll(() => out.at(-1), rounds).toContain("calls used by all clients  2");
    stop.abort();

    expect((await watching).code).toBe(130);
    expect(out[0]).toBe("\u001b[H\u001b[2Jcalls used by all clients  1\nevery 1 s, Ctrl-C ends\n");
    // It ends at once where the first check fails, and beside what changes something it is refused.
    expect((await world.run("mapping show nothing --watch")).code).toBe(5);
    expect((await world.run("errors --retry --watch")).code).toBe(2);
    expect((await world.run("budget --watch often")).code).toBe(6);
  },
);

test("open starts the browser at a page of the console, and no token goes along; without one it prints it", async () => {
  const opened = join(world.line.folder, "opened");
  for (const name of ["xdg-open", "open"])
    chmodSync(world.line.file(name, `#!/bin/sh\necho "$@" > "${opened}"\n`), 0o755);
  const user = world.user({ ...world.signedIn, PATH: `${world.line.folder}:/usr/bin:/bin` });
  const address = `${world.url}/#/mappings/map_1\n`;

  expect(await user.run(["open", "contact"])).toEqual({ code: 0, stdout: address, stderr: "" });
  await expect.poll(() => existsSync(opened) && readFileSync(opened, "utf8")).toBe(address);
  const nowhere = await world.user({ ...world.signedIn, PATH: "/nowhere" }).run(["open", "errors"]);
  const stderr = has("open this address yourself");
  expect(nowhere).toEqual({ code: 0, stdout: `${world.url}/#/activity/failed\n`, stderr });
  const printed = { url: `${world.url}/#/activity/4711`, opened: false };
  expect(await world.line.json(["open", "4711", "--print"])).toEqual(printed);
});

describe("every command", () => {
  const program = programOf(() => async () => undefined, silent);
  const commands = commandsOf(program);

  test("is in the help, one to a line", async () => {
    const { stdout } = await world.run("--help");

    expect(stdout.match(/^[A-Z][\w ]+:$/gm)).toEqual([
      ...["Options:", "Start:", "Everyday:", "Set up:", "Operate:", "On this machine:", "Examples:"],
    ]);
    for (const command of program.commands) {
      const name = command.name();
      if (name !== "complete") expect(stdout).toMatch(new RegExp(`^ {2}${name}(?: [<[].+[>\\]])? {2,}\\S.*$`, "m"));
    }
    expect(stdout.split("\n").filter((line) => line.startsWith(" ".repeat(20)))).toHaveLength(2); // of options
  });

  test("has help that says what it does, with examples, and where the options of all commands are", async () => {
    for (const name of commands) {
      const { code, stdout } = await world.run(`${name} --help`);

      expect([name, code]).toEqual([name, 0]);
      expect(stdout).toMatch(/^Usage: bridge [^\n]*(\n[^\n]+)*\n\n\w/);
      expect(stdout).toContain("\nGlobal options: see bridge --help\n");
      expect(stdout).toContain("\nExamples:\n  ");
      for (const option of ["--profile", "--workspace "]) expect(stdout.split("\nExamples:")[0]).not.toContain(option);
    }
    for (const group of ["", "mapping ", "webhook "])
      expect((await world.run(`${group}--help`)).stdout).toContain(`\nExamples:\n  bridge ${group}`);
  });

  test("shows examples that it understands, and that are its own", async () => {
    let ran = "";
    const does =
      () =>
      async (...given: unknown[]) => {
        for (let at = given.at(-1) as Command | null; at?.parent; at = at.parent) ran = `${at.name()} ${ran}`.trim();
      };
    for (const name of commands) {
      for (const example of examplesOf(name)) {
        expect(example).toContain(`bridge ${name}`);
        if (!example.startsWith("bridge ")) continue;
        ran = "";
        const typed = [...example.replace(/ [<>|] ?\S+$/, "").matchAll(/"([^"]*)"|(\S+)/g)].slice(1);
        const words = typed.map(([, quoted, word]) => quoted ?? word ?? "");
        await programOf(does, silent).parseAsync(words, { from: "user" });
        expect(ran).toBe(name);
      }
    }
  });
});
