import { afterEach, beforeEach, expect, test } from "vitest";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
  world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Contact", pg_table: "contact" }]);
});
afterEach(() => world.close());

const AT = "2026-03-01T12:00:00.000Z";
const contact = {
  mapping_id: "map_1",
  sf_object: "Contact",
  pg_table: "contact",
  state: "in_step",
  since: null,
  groups: [],
  changed_since: [],
};
const plan = (mapping: object) =>
  world.answer("GET /restore", {
    pause: "the workspace is paused since 2026-03-01T11:00:00.000Z by ada@example.com; resume it with: bridge resume",
    tokens: [{ id: "tok_1", name: "ci", owner: "ada@example.com", created_at: AT, last_used_at: null }],
    webhooks: [{ id: "whk_1", description: "to the shop", active: true, created_at: AT }],
    mappings: [{ ...contact, ...mapping }],
  });

test("what came back with an older DynamoDB is listed with its dates", async () => {
  plan({ state: "config_behind", changed_since: [{ setting: "filter", database: "", here: "Name != null" }] });

  const { code, stdout, stderr } = await world.line.run(["restore", "plan"]);

  expect(code).toBe(10);
  expect(stdout + stderr).toContain(
    "of the backup, the workspace is paused since 2026-03-01T11:00:00.000Z by ada@example.com",
  );
  expect(stdout + stderr).toContain("filter is empty in the database, Name != null in DynamoDB");
  expect(stdout + stderr).toContain(`token ci of ada@example.com, created ${AT}, last used never`);
  expect(stdout + stderr).toContain(`webhook whk_1 to the shop, created ${AT}`);
});

test("a plan of a restored PostgreSQL, whose DynamoDB is of now, lists no token", async () => {
  plan({ state: "restored_copy", since: AT });

  const { code, stdout, stderr } = await world.line.run(["restore", "plan"]);

  expect(code).toBe(10);
  expect(stdout).toContain(`Contact: restored_copy since ${AT}`);
  expect(stdout + stderr).not.toContain("token ci");
});

test("an acceptance says each decision, by group and by row", async () => {
  world.answer("POST /mappings/map_1/accept-restore", { mapping_id: "map_1", decided: 2 });

  const args = ["--newer", "ours", "--only-here", "leave", "--row", "42=ours,43=leave", "--yes"];
  const { code, stdout } = await world.line.run(["restore", "accept", "Contact", ...args]);

  expect(code).toBe(0);
  expect(stdout).toContain("Contact sends again; 2 restored rows are decided.");
  expect(JSON.parse(world.asked.at(-1)?.body ?? "")).toEqual({
    newer: "ours",
    only_here: "leave",
    rows: [
      { record_id: 42, decision: "ours" },
      { record_id: 43, decision: "leave" },
    ],
  });
  expect((await world.line.run(["restore", "accept", "Contact", "--row", "x=ours", "--yes"])).code).toBe(6);
});
