import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
});
afterEach(() => world.close());

describe("exit codes tell the kind of failure", () => {
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

    expect(ended).toEqual({ code, stdout: "", stderr: "bridge: in words\n  body.x: is wrong\n" });
    expect(JSON.parse(forPrograms.stderr).error).toMatchObject({ code: refusal, message: "in words" });
  });

  test("2 for a command that was typed wrong, 3 when nobody is signed in, 9 when nobody answers", async () => {
    const gone = world.user({ BRIDGE_URL: "http://127.0.0.1:1", BRIDGE_WORKSPACE: "w", BRIDGE_TOKEN: "t" });

    expect((await world.line.run(["mapping", "explode"])).code).toBe(2);
    expect((await world.line.run(["activity", "--limit", "many"])).code).toBe(2);
    expect((await world.user().run(["health"])).code).toBe(3);
    expect((await gone.run(["health"])).code).toBe(9);
    expect((await world.line.run(["--help"])).code).toBe(0);
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

  test("fit the terminal, whatever stands in them", async () => {
    world.answer("GET /tokens", [token("x".repeat(300)), token("名前".repeat(40))]);

    const { stdout } = await world.line.run(["token", "list", "--no-color"], { columns: 100 });

    for (const row of stdout.trimEnd().split("\n")) expect(row.length).toBeLessThanOrEqual(100);
    expect(stdout).toContain("…");
  });

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

test("following the activity shows each change once per state, until Ctrl-C", async () => {
  const stop = new AbortController();
  const change = { id: 7, table_name: "contact", sfid: null, action: "INSERT", created_at: "2026-01-01T00:00:00.000Z" };
  world.answer("GET /monitoring/activity", [{ ...change, state: "NEW" }], { total: 1, limit: 10, offset: 0 });

  const lines: string[] = [];

  const following = world.line.run(["activity", "--follow", "--json"], {
    interrupted: stop.signal,
    onStdout: (text) => lines.push(text),
  });
  await expect.poll(() => world.asked.length, { timeout: 20_000 }).toBe(2);
  world.answer("GET /monitoring/activity", [{ ...change, state: "SUCCESS" }], { total: 1, limit: 10, offset: 0 });
  await expect.poll(() => lines.length, { timeout: 20_000 }).toBe(2);
  stop.abort();
  const { code } = await following;

  expect(code).toBe(130);
  expect(lines.map((line) => JSON.parse(line).state)).toEqual(["NEW", "SUCCESS"]);
});
