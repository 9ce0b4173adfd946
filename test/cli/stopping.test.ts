import { describe, expect, test } from "vitest";
import type { OperatedWorkspace, Operator } from "../../lib/cli/operator.ts";
import { eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();

const SINCE = "2026-11-25T03:00:00.000Z";

describe("a workspace", () => {
  test("is paused with a reason, and resumed; a pause of the deployment that is left has its remedy", async () => {
    const pause = { since: SINCE, by: "ada@example.com", reason: "the org moves" };
    const acme = { id: "ws_1", name: "Acme" };
    const answers = [{ ...pause, scope: "workspace" }, null, { ...pause, scope: "deployment" }];
    world.answerEach("PUT /pause", ...answers.map((one) => ({ ...acme, pause: one })));
    const paused = await world.run(["pause", "--reason", "the org moves"]);
    const [resumed, held] = [await world.run("resume"), await world.run("resume")];

    const asked = [{ paused: true, reason: "the org moves" }, { paused: false }, { paused: false }];
    expect(world.bodies("PUT /pause")).toEqual(asked);
    expect(paused.stdout).toBe(
      `Acme is paused, since ${SINCE} by ada@example.com (the org moves); changes of rows are still captured. End it with: bridge resume\n`,
    );
    expect(resumed.stdout).toBe("Acme is resumed: the changes captured meanwhile are sent now.\n");
    expect(held.stdout).toContain("an operator ends that with: bridge resume --deployment");
  });

  test.each([
    [10, { status: "paused", pause: "the workspace is paused; resume it with: bridge resume" }],
    [0, { status: "running", upgrade: "the schema salesforce is being upgraded from version 8 to 9" }],
  ])("whose pause or upgrade health shows ends with %i: %o", async (code, { status, ...words }) => {
    const side = { status: "healthy", latency_ms: 1, org_id: "00D" };
    world.answer("GET /health", { pg: side, sf: side, sync: { status, last_run_at: null, pending_rows: 7, ...words } });

    expect(await world.run("health")).toMatchObject({ code, stdout: has(String(Object.values(words)[0])) });
  });
});

describe("a deployment", () => {
  const switched: unknown[] = [];
  const workspace = (id: string, name: string, more: object) =>
    ({
      ...{ id, name, connected: true, pause: null, broken: [], rows_refused: 0, waiting: null },
      ...{ oldest_waiting_at: null, counted_at: null, calls_used: null, calls_limit: null, calls_at: null, ...more },
    }) as OperatedWorkspace;
  const counted_at = new Date().toISOString();
  const oldest_waiting_at = new Date(Date.now() - 600_000).toISOString();
  const figures = { rows_refused: 3, waiting: 12, calls_used: 40, calls_limit: 15000 };
  const workspaces = [
    workspace("ws_1", "Acme", { ...figures, counted_at, oldest_waiting_at }),
    workspace("ws_2", "Blue", { broken: [{ since: null, reason: "the login was refused" }] }),
    workspace("ws_3", "Cyan", { pause: { since: SINCE, by: "ada@example.com", reason: null } }),
    workspace("ws_4", "Dune", { connected: false }),
  ];
  const operator: Partial<Operator> = {
    switchPause: async (to) => {
      switched.push(to);
      return { paused: to.paused, at: SINCE, by: to.actor, reason: to.reason };
    },
    createToken: async () => ({ workspaceId: "deployment", token: "brg_aNEW" }),
    listWorkspaces: async () => workspaces,
  };
  const run = (typed: string) => world.user({}, operator).run(typed.split(" "));

  test("is paused and resumed by its operators, who get a token alone on standard output, and --by without --deployment is a mistake", async () => {
    const paused = await run("pause --deployment --by oncall@example.com --reason region");
    const resumed = await run("resume --deployment");
    const token = await run("operator token --owner oncall@example.com");
    const mistaken = await run("pause --by oncall@example.com");

    expect(switched).toEqual([
      { paused: true, actor: "oncall@example.com", reason: "region" },
      { paused: false, actor: "system", reason: null },
    ]);
    expect(paused.stdout).toContain(`Every workspace is paused, since ${SINCE} by oncall@example.com (region)`);
    expect(resumed.stdout).toContain("but for workspaces with a pause of their own");
    expect(token).toMatchObject({ stdout: "brg_aNEW\n", stderr: has("the workspace deployment") });
    expect([mistaken.code, mistaken.stderr]).toEqual([2, "bridge: --by goes with --deployment\n"]);
  });

  test("lists every workspace with state, lag, refused rows and calls, and how old a figure is", async () => {
    const { stdout } = await run("workspace list --all");
    const programs = await run("workspace list --all --json");

    const rows = stdout.split("\n").map((row) => row.trim().split(/ {2,}/).join("|"));
    expect(rows[0]).toBe("ID|NAME|STATE|WAITING|LAG|COUNTED|REFUSED|CALLS IN 24 H|REPORTED|WHY");
    expect(rows[1]).toMatch(/^ws_1\|Acme\|running\|12\|10 min\|\d s ago\|3\|40 of 15000/);
    expect(stdout).toMatch(/ws_2 +Blue +broken .*the login was refused/);
    expect(stdout).toMatch(/ws_3 +Cyan +paused .*by ada@example.com, 2026-11-25T03:00:00.000Z/);
    expect(stdout).toMatch(/ws_4 +Dune +not connected/);
    expect(JSON.parse(programs.stdout)).toEqual(workspaces);
  });
});

const AT = "2026-03-01T12:00:00.000Z";
const PAUSE = "the workspace is paused since 2026-03-01T11:00:00.000Z by ada@example.com";
const SETTING = { setting: "filter", database: "", here: "Name != null" };

test("what came back with an older DynamoDB is listed with its dates; a restored PostgreSQL lists no token", async () => {
  const mapping = { mapping_id: "map_1", sf_object: "Contact", pg_table: "contact", since: null, groups: [] };
  const plan = (more: object) =>
    world.answer("GET /restore", {
      pause: `${PAUSE}; resume it with: bridge resume`,
      tokens: [{ id: "tok_1", name: "ci", owner: "ada@example.com", created_at: AT, last_used_at: null }],
      webhooks: [{ id: "whk_1", description: "to the shop", active: true, created_at: AT }],
      mappings: [{ ...mapping, changed_since: [], ...more }],
    });
  plan({ state: "config_behind", changed_since: [SETTING] });
  const older = await world.run("restore plan");
  plan({ state: "restored_copy", since: AT });
  const copy = await world.run("restore plan");

  expect([older.code, copy.code]).toEqual([10, 10]);
  for (const says of [
    `of the backup, ${PAUSE}`,
    "filter is empty in the database, Name != null in DynamoDB",
    `token ci of ada@example.com, created ${AT}, last used never`,
    `webhook whk_1 to the shop, created ${AT}`,
  ])
    expect(older.stdout + older.stderr).toContain(says);
  expect(copy.stdout).toContain(`Contact: restored_copy since ${AT}`);
  expect(copy.stdout + copy.stderr).not.toContain("token ci");
});

test("an acceptance says each decision, by group and by row", async () => {
  world.answer("POST /mappings/map_1/accept-restore", { mapping_id: "map_1", decided: 2 });

  const args = "--newer ours --only-here leave --row 42=ours,43=leave --yes";
  const { code, stdout } = await world.run(`restore accept Contact ${args}`);

  expect(code).toBe(0);
  expect(stdout).toContain("Contact sends again; 2 restored rows are decided.");
  const rows = [
    { record_id: 42, decision: "ours" },
    { record_id: 43, decision: "leave" },
  ];
  expect(world.bodies("POST")).toEqual([{ newer: "ours", only_here: "leave", rows }]);
  expect((await world.run("restore accept Contact --row x=ours --yes")).code).toBe(6);
});
