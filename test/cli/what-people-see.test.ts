import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { programOf } from "../../lib/cli/program.ts";
import { examplesOf } from "../../lib/cli/tree/examples.ts";
import { commandsOf, silent } from "./every-command.ts";
import { type CliWorld, startCliWorld } from "./world.ts";

/** The command line's nouns and verbs; those of Heroku Connect's plugin where it has them. */
const EVERYDAY_COMMANDS = [
  ..."login|logout|whoami|doctor|org|objects|connections|health|activity|errors|poll|abort|audit".split("|"),
  ..."workspace create|workspace list|workspace show|workspace rename|connect postgres|connect salesforce".split("|"),
  ..."mapping create|mapping list|mapping show|mapping update|mapping activate|mapping deactivate".split("|"),
  ..."mapping reload|mapping delete|mapping restore|config export|config import|config baseline|config drift".split(
    "|",
  ),
  ..."webhook create|webhook list|webhook show|webhook rotate|webhook test|webhook deliveries".split("|"),
  ..."completion|open|types|config plan|webhook listen|webhook trigger".split("|"),
  ..."webhook retry|webhook delivery|token create|token list|token revoke|migrate heroku-connect".split("|"),
];

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
});
afterEach(() => world.close());

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

    const ended = await world.line.run(["token", "list"]);
    const forPrograms = await world.line.run(["token", "list", "--json"]);

    expect(ended).toEqual({ code, stdout: "", stderr: "bridge: in words\n  x: is wrong\n" });
    expect(JSON.parse(forPrograms.stderr).error).toMatchObject({ code: refusal, message: "in words" });
  });

  test("2 for a command that was typed wrong, 6 for a value that is none, 3 without a session, 9 without an answer", async () => {
    const gone = world.user({ BRIDGE_URL: "http://127.0.0.1:1", BRIDGE_WORKSPACE: "w", BRIDGE_TOKEN: "t" });

    expect((await world.line.run(["mapping", "explode"])).code).toBe(2);
    expect((await world.line.run(["activity", "--limit", "many"])).code).toBe(6);
    expect((await world.user().run(["health"])).code).toBe(3);
    expect((await gone.run(["health"])).code).toBe(9);
    expect((await world.line.run(["--help"])).code).toBe(0);
  });

  test("5 for a retry of a change that is not there, 0 for one that no longer waits for a retry", async () => {
    world.answer("POST /monitoring/errors/7/retry", { retried: 0, remaining: 0 });
    world.answer("GET /monitoring/activity/7", {});
    const settled = await world.line.run(["errors", "--retry", "7"]);
    world.refuse("GET /monitoring/activity/7", 404, "NOT_FOUND");

    const unknown = await world.line.run(["errors", "--retry", "7"]);

    expect([settled.code, unknown.code]).toEqual([0, 5]);
  });

  test("10 when what was looked at is not well", async () => {
    world.answer("GET /health", {
      pg: { status: "error", latency_ms: null },
      sf: { status: "healthy", org_id: "00D" },
      sync: { status: "running", last_run_at: null, pending_rows: 0 },
    });

    expect((await world.line.run(["health"])).code).toBe(10);
  });
});

describe("tables", () => {
  const token = (name: string) => ({
    id: "tok_1",
    name,
    owner: "ada@example.com",
    scopes: ["read"],
    state: "valid",
    last_used_at: null,
    valid_until: null,
  });

  test("fit the terminal, whatever is in them", async () => {
    world.answer("GET /tokens", [token("x".repeat(300)), token("名前".repeat(40))]);

    const { stdout } = await world.line.run(["token", "list", "--no-color"], { columns: 100 });

    for (const row of stdout.trimEnd().split("\n")) expect(row.length).toBeLessThanOrEqual(100);
    expect(stdout).toContain("…");
  });

  test("keep ids whole on a narrow terminal: what can be left out goes first", async () => {
    const id = "tok_4v3I1yjsuUwHPlUxk7YeYG";
    const at = "2024-11-20T13:18:35.047Z";
    world.answer("GET /tokens", [{ ...token("continuous integration"), id, valid_until: at, last_used_at: at }]);

    const { stdout } = await world.line.run(["token", "list", "--no-color"], { columns: 80 });

    expect(stdout).toContain(id);
    expect(stdout).toContain("20 Nov 2024");
    expect(stdout).not.toContain("LAST USED");
    for (const row of stdout.trimEnd().split("\n")) expect(row.length).toBeLessThanOrEqual(80);
  });

  test.each([20, 40, 60, 80])(
    "keep ids whole on %i columns, row by row where a table has no room for them",
    async (columns) => {
      const [id, sfid] = ["tok_4v3I1yjsuUwHPlUxk7YeYG", "003000000000001AAA"];
      world.answer("GET /tokens", [{ ...token("continuous integration"), id }, token("other")]);
      world.answer("GET /monitoring/errors", [
        {
          id: 123_456_789_012,
          table_name: "contact",
          sfid,
          action: "UPDATE",
          _ab_err: "no ".repeat(90),
          created_at: "",
        },
      ]);

      const tokens = await world.line.run(["token", "list", "--no-color"], { columns });
      const errors = await world.line.run(["errors", "--no-color"], { columns });

      expect(tokens.stdout).toContain(id);
      for (const whole of ["123456789012", sfid]) expect(errors.stdout).toContain(whole);
      if (columns === 20) expect(errors.stdout).toContain(`RECORD  ${sfid}\nERROR `);
    },
  );

  test("hold nothing that could steer the terminal", async () => {
    world.answer("GET /tokens", [token("\u001b]0;pwned\u0007 \u202eevil\nline")]);

    const { stdout } = await world.line.run(["token", "list"]);

    for (const sign of ["\u001b", "\u0007", "\u202e"]) expect(stdout).not.toContain(sign);
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
  });

  test("have colours for people who did not decline them", async () => {
    world.answer("GET /tokens", [token("a")]);
    const signedIn = { BRIDGE_URL: world.url, BRIDGE_WORKSPACE: "ws_1", BRIDGE_TOKEN: "t" };
    const colourless = world.user({ ...signedIn, NO_COLOR: "1" });
    const wide = { columns: 120 };

    expect((await world.line.run(["token", "list"], wide)).stdout).toContain("\u001b[");
    expect((await world.line.run(["token", "list"])).stdout).not.toContain("\u001b[");
    expect((await world.line.run(["token", "list", "--no-color"], wide)).stdout).not.toContain("\u001b[");
    expect((await colourless.run(["token", "list"], wide)).stdout).not.toContain("\u001b[");
  });

  test("say what to do next when they are empty", async () => {
    world.answer("GET /monitoring/mappings", []);

    expect((await world.line.run(["mapping", "list"])).stdout).toContain("bridge mapping create");
  });

  test("are the data as it came for programs", async () => {
    world.answer("GET /tokens", [token("a")]);

    expect(await world.line.json(["token", "list"])).toEqual([token("a")]);
  });
});

test("following shows the newest changes and then what is new, each change once per state, until Ctrl-C", async () => {
  const stop = new AbortController();
  const change = { table_name: "contact", sfid: null, action: "INSERT", created_at: "2026-01-01T00:00:00.000Z" };
  const older = Array.from({ length: 29 }, (_, back) => ({ ...change, id: 29 - back, state: "SUCCESS" }));
  world.answer("GET /monitoring/activity", [{ ...change, id: 30, state: "NEW" }, ...older]);
  const lines: string[] = [];

  const following = world.line.run(["activity", "--follow", "--json", "--limit", "3"], {
    interrupted: stop.signal,
    onStdout: (text) => lines.push(text),
  });
  await expect.poll(() => lines.length, { timeout: 300_000 }).toBe(3);
  const settled = { ...change, id: 30, state: "SUCCESS" };
  world.answer("GET /monitoring/activity", [{ ...change, id: 31, state: "NEW" }, settled, ...older]);
  await expect.poll(() => lines.length, { timeout: 300_000 }).toBeGreaterThan(4);
  stop.abort();
  const { code } = await following;

  expect(code).toBe(130);
  expect(lines.map((line) => JSON.parse(line)).map(({ id, state }) => `${id} ${state}`)).toEqual([
    ...["28 SUCCESS", "29 SUCCESS", "30 NEW"],
    ...["30 SUCCESS", "31 NEW"],
  ]);
});

test("watching shows each answer in place of the last one, and a service that is away does not end it", async () => {
  const stop = new AbortController();
  world.answer("GET /monitoring/budget", { calls_used: 1 });
  const shown = { out: [] as string[], err: "" };
  const watching = world.line.run(["budget", "--watch", "1", "--no-color"], {
    interrupted: stop.signal,
    columns: 80,
    onStdout: (text) => shown.out.push(text),
    onStderr: (text) => {
      shown.err += text;
    },
  });
  const rounds = { timeout: 60_000 };

  await expect.poll(() => shown.out.length, rounds).toBe(1);
  world.refuse("GET /monitoring/budget", 500, "INTERNAL_ERROR");
  await expect.poll(() => shown.err, rounds).toContain("bridge: in words");
  world.answer("GET /monitoring/budget", { calls_used: 2 });
  await expect.poll(() => shown.out.at(-1), rounds).toContain("calls used by all clients  2");
  stop.abort();

  expect((await watching).code).toBe(130);
  expect(shown.out[0]).toBe("\u001b[H\u001b[2Jcalls used by all clients  1\nevery 1 s, Ctrl-C ends\n");
});

test("watching ends at once where the first check fails, and beside what changes something it is refused", async () => {
  expect((await world.line.run(["mapping", "show", "nothing", "--watch"])).code).toBe(5);
  expect((await world.line.run(["errors", "--retry", "--watch"])).code).toBe(2);
  expect((await world.line.run(["budget", "--watch", "often"])).code).toBe(6);
});

describe("open", () => {
  test("starts the browser at a page of the console, a mapping by its object, and no token goes along", async () => {
    world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Contact", pg_table: "contact" }]);
    const opened = join(world.line.folder, "opened");
    for (const name of ["xdg-open", "open"]) {
      chmodSync(world.line.file(name, `#!/bin/sh\necho "$@" > "${opened}"\n`), 0o755);
    }
    const signedIn = { BRIDGE_URL: world.url, BRIDGE_WORKSPACE: "ws_1", BRIDGE_TOKEN: "brg_r_secret" };
    const user = world.user({ ...signedIn, PATH: `${world.line.folder}:/usr/bin:/bin` });
    const address = `${world.url}/#/mappings/map_1\n`;

    const { stdout, stderr, code } = await user.run(["open", "contact"]);

    expect([code, stdout, stderr]).toEqual([0, address, ""]);
    await expect.poll(() => existsSync(opened) && readFileSync(opened, "utf8")).toBe(address);
  });

  test("prints the address where there is no browser, or where it is all that is asked for", async () => {
    const signedIn = { BRIDGE_URL: world.url, BRIDGE_WORKSPACE: "ws_1", BRIDGE_TOKEN: "t" };
    const nowhere = await world.user({ ...signedIn, PATH: world.line.folder }).run(["open", "errors"]);
    const printed = await world.line.json(["open", "4711", "--print"]);

    expect([nowhere.code, nowhere.stdout]).toEqual([0, `${world.url}/#/activity/failed\n`]);
    expect(nowhere.stderr).toContain("open this address yourself");
    expect(printed).toEqual({ url: `${world.url}/#/activity/4711`, opened: false });
  });
});

test("a refusal names each bad part once, as people know it", async () => {
  const filter = { path: "body.filter", message: "is not understood" };
  world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Lead", pg_table: "lead" }]);
  world.answer("GET /mappings/map_1", { fields: ["Email"] });
  world.refuse("PATCH /mappings/map_1", 400, "VALIDATION_ERROR", [filter], "body.filter: is not understood");

  const { stderr } = await world.line.run(["mapping", "update", "lead", "--filter", "x"]);

  expect(stderr).toBe("bridge: --filter: is not understood\n");
});

test("an empty text takes a setting away", async () => {
  world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Lead", pg_table: "lead" }]);
  world.answer("GET /mappings/map_1", { fields: ["Email"] });
  world.answer("PATCH /mappings/map_1", { sf_object: "Lead", state: "provisioning" });

  await world.line.run(["mapping", "update", "lead", "--filter", "", "--upsert-field", ""]);

  expect(JSON.parse(world.asked.at(-1)?.body ?? "")).toEqual({ filter: null, upsert_field: null });
});

test("held deletes are confirmed after a question, which means no without a terminal, or with --yes", async () => {
  world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Lead", pg_table: "lead" }]);
  const held = [
    {
      key: "record:7",
      name: "Ada",
      deletes: "record",
      sfid: "00Q000000000001AAA",
      record_id: 7,
      at: "2026-01-01T00:00:00.000Z",
    },
  ];
  world.answer("GET /mappings/map_1/held-deletes", held, { total: 3, limit: 1, offset: 0 });
  world.answer("POST /mappings/map_1/confirm-deletes", { confirmed: 3, more: false, mapping_id: "map_1" });

  expect((await world.line.run(["mapping", "held-deletes", "lead"])).stdout).toContain("00Q000000000001AAA");
  expect((await world.line.run(["mapping", "confirm-deletes", "lead"])).code).toBe(2);
  expect(world.asked.some(({ call }) => call.startsWith("POST"))).toBe(false);
  expect((await world.line.run(["mapping", "confirm-deletes", "lead", "--yes"])).stdout).toBe(
    "Lead lets 3 deletes go.\n",
  );
  await world.line.run(["mapping", "confirm-deletes", "lead", "--yes", "--only", "record:7"]);
  expect(world.asked.at(-1)?.call).toContain("only=record%3A7");
});

test("held deletes are let go in as many calls as it takes", async () => {
  let left = 500_000;
  const answer = {
    get confirmed() {
      const confirmed = Math.min(200_000, left);
      left -= confirmed;
      return confirmed;
    },
    get more() {
      return left > 0;
    },
    mapping_id: "map_1",
  };
  world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Lead", pg_table: "lead" }]);
  world.answer("POST /mappings/map_1/confirm-deletes", answer);

  const { stdout } = await world.line.run(["mapping", "confirm-deletes", "lead", "--yes"]);

  expect(stdout).toBe("Lead lets 500000 deletes go.\n");
});

test("a token is ended by its name where only one has it, and otherwise by its id", async () => {
  const one = { name: "ci", owner: "ada@example.com", state: "valid" };
  world.answer("GET /tokens", [
    { ...one, id: "tok_1" },
    { ...one, id: "tok_2", name: "two" },
    { ...one, id: "tok_3", name: "two" },
  ]);
  world.answer("DELETE /tokens/tok_1", one);

  expect((await world.line.run(["token", "revoke", "ci"])).code).toBe(0);
  expect((await world.line.run(["token", "revoke", "two"])).stderr).toContain("2 tokens have the name");
  expect((await world.line.run(["token", "revoke", "none"])).code).toBe(5);
});

test("the token of one service is not sent to another, and the message says so", async () => {
  const user = world.user();
  await user.run(["login", world.url, "--workspace", "ws_1"], { stdin: "brg_x\n" });
  world.answer("GET /tokens/current", { owner: "ada@example.com", scopes: ["read"] });
  await user.run(["login", world.url, "--workspace", "ws_1"], { stdin: "brg_x\n" });

  const { code, stderr } = await user.run(["health", "--url", "http://127.0.0.1:1"]);

  expect(code).toBe(3);
  expect(stderr).toContain("there is no token for http://127.0.0.1:1");
});

describe("every command", () => {
  const commands = commandsOf(programOf(() => async () => undefined, silent));

  test.each(commands)(
    "bridge %s has help that says what it does, and where the options of all of them are",
    async (name) => {
      const { code, stdout } = await world.line.run([...name.split(" "), "--help"]);

      expect(code).toBe(0);
      expect(stdout).toMatch(/^Usage: bridge /);
      expect(stdout).toMatch(/\n\n\w/);
      expect(stdout).toContain("\nGlobal options: see bridge --help\n");
      expect(stdout).toContain(`\nExamples:\n  `);
    },
  );

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
        await programOf(does, silent).parseAsync(
          typed.map(([, quoted, word]) => quoted ?? word ?? ""),
          { from: "user" },
        );
        expect(ran).toBe(name);
      }
    }
  });

  test.each(["", "mapping", "webhook"])("help of the group %j shows examples of its commands", async (group) => {
    const { stdout } = await world.line.run([...group.split(" ").filter(Boolean), "--help"]);

    expect(stdout).toContain(`\nExamples:\n  bridge ${group}`);
  });

  test("is there by the noun and verb that users of Heroku Connect know", () => {
    expect(commands).toEqual(expect.arrayContaining(EVERYDAY_COMMANDS));
  });
});
