import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Machine, OperatedWorkspace, Operator } from "../../lib/cli/operator.ts";
import { openCommandLine } from "../support/processes/command-line.ts";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
});
afterEach(() => world.close());

const asked = (call: string) => world.asked.filter((one) => one.call.startsWith(call)).map(({ body }) => body);

describe("a workspace", () => {
  const pause = { since: "2026-11-25T03:00:00.000Z", by: "ada@example.com", reason: "the org moves" };

  test("is paused with a reason, and resumed; a pause of the deployment that is left is reported with its remedy", async () => {
    world.answer("PUT /pause", { id: "ws_1", name: "Acme", pause: { ...pause, scope: "workspace" } });
    const paused = await world.line.run(["pause", "--reason", "the org moves"]);
    world.answer("PUT /pause", { id: "ws_1", name: "Acme", pause: null });
    const resumed = await world.line.run(["resume"]);
    world.answer("PUT /pause", { id: "ws_1", name: "Acme", pause: { ...pause, scope: "deployment" } });
    const held = await world.line.run(["resume"]);

    expect(asked("PUT /pause").map((body) => JSON.parse(body))).toEqual([
      { paused: true, reason: "the org moves" },
      { paused: false },
      { paused: false },
    ]);
    expect(paused.stdout).toBe(
      "Acme is paused, since 2026-11-25T03:00:00.000Z by ada@example.com (the org moves); changes of rows are still captured. End it with: bridge resume\n",
    );
    expect(resumed.stdout).toBe("Acme is resumed: the changes captured meanwhile are sent now.\n");
    expect(held.stdout).toContain("an operator ends that with: bridge resume --deployment");
  });

  test("that is paused is so by doctor, with who and why once, and as a warning", async () => {
    const reason = `the workspace is paused since ${pause.since} by ada@example.com (the org moves; call Bo); resume it with: bridge resume`;
    const mapping = { active: true, state: "paused", reason, notices: [] };
    world.answer("GET /monitoring/mappings", [
      { ...mapping, sf_object: "Contact" },
      { ...mapping, sf_object: "Account" },
    ]);

    world.answer("GET /health", { sync: {} });

    const { stdout } = await world.line.run(["doctor", "--all"]);

    expect(stdout).toContain(
      "! the workspace is paused since 2026-11-25T03:00:00.000Z by ada@example.com (the org moves; call Bo)\n    resume it with: bridge resume\n",
    );
    expect(stdout.match(/the org moves/g)).toHaveLength(1);
    expect(stdout).toContain("✓ Contact is paused");
  });

  test("that is paused is so by health, with its remedy", async () => {
    world.answer("GET /health", {
      pg: { status: "healthy", latency_ms: 1 },
      sf: { status: "healthy", org_id: "00D" },
      sync: {
        status: "paused",
        last_run_at: null,
        pending_rows: 7,
        pause: "the workspace is paused; resume it with: bridge resume",
      },
    });

    const { code, stdout } = await world.line.run(["health"]);

    expect([code, stdout.includes("resume it with: bridge resume")]).toEqual([10, true]);
  });

  test("whose schema is behind is shown by doctor and by health", async () => {
    const upgrade = "the schema salesforce is being upgraded from version 8 to 9";
    const side = { status: "healthy", latency_ms: 1, org_id: "00D" };
    const sync = { status: "running", last_run_at: null, pending_rows: 7, upgrade };
    world.answer("GET /health", { pg: side, sf: side, sync });
    world.answer("GET /monitoring/mappings", []);

    const { stdout: doctor } = await world.line.run(["doctor"]);
    const { stdout: health } = await world.line.run(["health"]);

    expect(doctor).toContain(`! ${upgrade}\n`);
    expect(health).toContain(upgrade);
  });
});

describe("a deployment", () => {
  const switched: unknown[] = [];
  const none = {
    waiting: null,
    oldest_waiting_at: null,
    counted_at: null,
    calls_used: null,
    calls_limit: null,
    calls_at: null,
  };
  const workspaces: readonly OperatedWorkspace[] = [
    {
      ...none,
      id: "ws_1",
      name: "Acme",
      connected: true,
      pause: null,
      broken: [],
      rows_refused: 3,
      waiting: 12,
      calls_used: 40,
      calls_limit: 15000,
      counted_at: new Date().toISOString(),
      oldest_waiting_at: new Date(Date.now() - 600_000).toISOString(),
    },
    {
      ...none,
      id: "ws_2",
      name: "Blue",
      connected: true,
      pause: null,
      broken: [{ since: null, reason: "the login was refused" }],
      rows_refused: 0,
    },
    {
      ...none,
      id: "ws_3",
      name: "Cyan",
      connected: true,
      pause: { since: "2026-11-25T03:00:00.000Z", by: "ada@example.com", reason: null },
      broken: [],
      rows_refused: 0,
    },
    { ...none, id: "ws_4", name: "Dune", connected: false, pause: null, broken: [], rows_refused: 0 },
  ];
  const operator = {
    switchPause: async (to: { paused: boolean; actor: string; reason: string | null }) => {
      switched.push(to);
      return { paused: to.paused, at: "2026-11-25T03:00:00.000Z", by: to.actor, reason: to.reason };
    },
    createToken: async () => ({ workspaceId: "deployment", token: "brg_aNEW" }),
    listWorkspaces: async () => workspaces,
  } as unknown as Operator;
  const machine: Machine = {
    openOperator: async () => operator,
    startOrg: () => Promise.reject(new Error("no org is needed")),
  };
  const run = (...typed: readonly string[]) => {
    const user = openCommandLine({}, machine);
    onTestFinished(user.close);
    return user.run(typed);
  };

  test("is paused and resumed by its operators, and --by without --deployment is a mistake", async () => {
    const paused = await run("pause", "--deployment", "--by", "oncall@example.com", "--reason", "region");
    const resumed = await run("resume", "--deployment");
    const mistaken = await run("pause", "--by", "oncall@example.com");

    expect(switched).toEqual([
      { paused: true, actor: "oncall@example.com", reason: "region" },
      { paused: false, actor: "system", reason: null },
    ]);
    expect(paused.stdout).toContain(
      "Every workspace is paused, since 2026-11-25T03:00:00.000Z by oncall@example.com (region)",
    );
    expect(resumed.stdout).toContain("but for workspaces with a pause of their own");
    expect([mistaken.code, mistaken.stderr]).toEqual([2, "bridge: --by goes with --deployment\n"]);
  });

  test("lists every workspace with state, lag, refused rows and calls, and how old a figure is", async () => {
    const { stdout } = await run("workspace", "list", "--all");
    const programs = await run("workspace", "list", "--all", "--json");

    const rows = stdout.split("\n").map((row) => row.trim().split(/ {2,}/));
    expect(rows[0]).toEqual([
      "ID",
      "NAME",
      "STATE",
      "WAITING",
      "LAG",
      "COUNTED",
      "REFUSED",
      "CALLS IN 24 H",
      "REPORTED",
      "WHY",
    ]);
    expect(rows[1]?.slice(0, 8)).toEqual([
      "ws_1",
      "Acme",
      "running",
      "12",
      "10 min",
      expect.stringMatching(/^\d s ago$/),
      "3",
      "40 of 15000",
    ]);
    expect(stdout).toMatch(/ws_2 +Blue +broken .*the login was refused/);
    expect(stdout).toMatch(/ws_3 +Cyan +paused .*by ada@example.com, 2026-11-25T03:00:00.000Z/);
    expect(stdout).toMatch(/ws_4 +Dune +not connected/);
    expect(JSON.parse(programs.stdout)).toEqual(workspaces);
  });

  test("gives its operators a token, alone on standard output", async () => {
    const { stdout, stderr } = await run("operator", "token", "--owner", "oncall@example.com");

    expect(stdout).toBe("brg_aNEW\n");
    expect(stderr).toContain("the workspace deployment");
  });
});

describe("from the command line", () => {
  test("one failure is dismissed, or those of a kind in as many calls as it takes", async () => {
    world.answer("POST /monitoring/errors/dismiss", { dismissed: 1, remaining: 0 });
    const one = await world.line.run(["errors", "--dismiss", "4711"]);
    const unsaid = await world.line.run(["errors", "--dismiss"]);
    const both = await world.line.run(["errors", "--dismiss", "--retry", "--yes"]);
    let calls = 0;
    world.answer("POST /monitoring/errors/dismiss", {
      dismissed: 10_000,
      get remaining() {
        calls += 1;
        return calls < 3 ? 5 : 0;
      },
    });
    const kind = await world.line.run(["errors", "--dismiss", "--fingerprint", "0123456789abcdef", "--yes"]);

    expect([one.code, one.stdout]).toEqual([0, "The failure 4711 is dismissed.\n"]);
    expect([unsaid.code, both.code]).toEqual([2, 2]);
    expect(kind.stdout).toBe("30000 failures are dismissed.\n");
    expect(asked("POST /monitoring/errors/dismiss")).toEqual([
      '{"id":4711}',
      ...Array.from({ length: 3 }, () => '{"fingerprint":"0123456789abcdef"}'),
    ]);
  });

  test("a failure that is not there is not dismissed", async () => {
    world.answer("POST /monitoring/errors/dismiss", { dismissed: 0, remaining: 0 });
    world.refuse("GET /monitoring/activity/9", 404, "NOT_FOUND");

    expect((await world.line.run(["errors", "--dismiss", "9"])).code).toBe(5);
    expect((await world.line.run(["errors", "--dismiss", "nine"])).code).toBe(6);
  });

  test("records that could not become rows are read again, one or all of a mapping", async () => {
    world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Contact", pg_table: "contact" }]);
    world.answer("POST /mappings/map_1/retry-inbound", { retried: 1, mapping_id: "map_1" });
    const one = await world.line.run(["inbound-errors", "--mapping", "contact", "--retry", "003000000000001AAA"]);
    const all = await world.line.run(["inbound-errors", "--mapping", "contact", "--retry"]);
    const unnamed = await world.line.run(["inbound-errors", "--retry"]);
    world.answer("POST /mappings/map_1/retry-inbound", { retried: 0, mapping_id: "map_1" });
    const gone = await world.line.run(["inbound-errors", "--mapping", "contact", "--retry", "003000000000002AAA"]);

    expect([one.stdout, all.code, unnamed.code, gone.code]).toEqual([
      "1 record is read again by the next cycle of Contact.\n",
      0,
      2,
      5,
    ]);
    const calls = world.asked.flatMap(({ call }) => (call.includes("retry-inbound") ? call : []));
    expect(calls).toEqual([
      "POST /mappings/map_1/retry-inbound?sfid=003000000000001AAA",
      "POST /mappings/map_1/retry-inbound",
      "POST /mappings/map_1/retry-inbound?sfid=003000000000002AAA",
    ]);
  });

  test("a conflict is turned by its number, which the list shows", async () => {
    world.answer("GET /monitoring/conflicts", [
      {
        id: 7,
        sf_object: "Contact",
        sfid: "003",
        record_id: 1,
        field: "email",
        winner: "salesforce",
        postgres: "a",
        salesforce: "b",
        at: "2026-11-25T03:00:00.000Z",
      },
    ]);
    world.answer("POST /monitoring/conflicts/7/use-other-value", { conflict_id: 7 });
    const list = await world.line.run(["conflicts"]);
    const turned = await world.line.run(["conflicts", "--use-other", "7"]);
    world.refuse("POST /monitoring/conflicts/8/use-other-value", 404, "NOT_FOUND");
    const unknown = await world.line.run(["conflicts", "--use-other", "8"]);

    expect(list.stdout).toMatch(/^ID .*\n +7 /);
    expect([turned.code, turned.stdout]).toEqual([
      0,
      "The row has the other value of conflict 7 now; the next cycle sends it.\n",
    ]);
    expect(unknown.code).toBe(5);
  });
});
