import { expect, test } from "vitest";
import { eachCliWorld } from "./world.ts";

const world = eachCliWorld();

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
