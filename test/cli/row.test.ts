import { afterEach, beforeEach, expect, test } from "vitest";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
  world.answer("GET /monitoring/mappings", [{ id: "map_1", sf_object: "Contact", pg_table: "contact" }]);
  world.answer("GET /rows/contact/L-1/story", STORY);
  world.answer("PATCH /rows/contact/42", WRITTEN);
});
afterEach(() => world.close());

const STORY = {
  ...{ record_id: 42, row: "present", sf_object: "Contact", sfid: null, salesforce_url: null, salesforce_error: null },
  values: [
    { column: "email", postgres: "nowhere", salesforce: null, equal: null },
    { column: "lastname", postgres: "Lovelace", salesforce: null, equal: null },
  ],
  ...{ events: [], restore: null, waits: null, remedy: null },
  refused: { change_id: 6, message: "INVALID", columns: [{ column: "email", rule: "an e-mail address" }] },
};
const WRITTEN = { mapping_id: "map_1", table_name: "contact", record_id: 42, change_id: 7 };
const ended = (state: string, error: string | null) => ({
  id: 7,
  state,
  _ab_err: error,
  synced_at: "2026-03-01T12:00:00Z",
});
const written = () => world.asked.filter(({ call }) => call.startsWith("PATCH")).map(({ body }) => JSON.parse(body));

test("a row says what the refused column takes, and the command that corrects it", async () => {
  const { code, stderr } = await world.line.run(["row", "Contact", "L-1"]);

  expect(code).toBe(0);
  expect(stderr).toContain("email takes an e-mail address.");
  expect(stderr).toContain("bridge row Contact 42 --set email=…");
});

test("--set writes what is given over what was shown, by the row's own key, and follows it to its end", async () => {
  world.answer("GET /monitoring/activity/7", ended("SUCCESS", null));

  const line = ["row", "contact", "L-1", "--set", "email=a=b@example.com", "--set", "lastname="];
  const { code, stdout } = await world.line.run(line);
  const { stdout: json } = await world.line.run([...line, "--json"]);

  expect(code).toBe(0);
  expect(stdout).toBe("contact 42 is written, and Salesforce took it.\n");
  const body = {
    values: { email: "a=b@example.com", lastname: null },
    was: { email: "nowhere", lastname: "Lovelace" },
  };
  expect(written()).toEqual([body, body]);
  expect(JSON.parse(json)).toMatchObject({ ...WRITTEN, change: { state: "SUCCESS" } });
});

test("--set ends with 10 where Salesforce refuses it again, with 7 where the row has changed, with 2 for no value", async () => {
  world.answer("GET /monitoring/activity/7", ended("FAILED", "INVALID_EMAIL_ADDRESS: nowhere"));
  const refused = await world.line.run(["row", "contact", "L-1", "--set", "email=x"]);
  world.refuse("PATCH /rows/contact/42", 409, "CONFLICT", [], "email has changed since it was read");
  const moved = await world.line.run(["row", "contact", "L-1", "--set", "email=x"]);
  const asked = written().length;
  const mistyped = await world.line.run(["row", "contact", "L-1", "--set", "email"]);

  expect([refused.code, moved.code, mistyped.code]).toEqual([10, 7, 2]);
  expect(refused.stdout).toContain("Salesforce refused it: INVALID_EMAIL_ADDRESS: nowhere");
  expect(moved.stderr).toContain("email has changed since it was read");
  expect(mistyped.stderr).toContain("--set takes column=value");
  expect(written()).toHaveLength(asked);
});

const GONE = {
  ...{ ...STORY, row: "absent", sfid: "0035g00000XyzAbAAJ", remedy: null, refused: null, values: [] },
  restore: {
    ...{ deleted_in: "salesforce", deleted_by: "Bob", deleted_at: "2026-03-01T12:00:00Z" },
    ...{ until: "2026-03-16T12:00:00Z", can: true, why: null },
  },
};
const ASKED = { mapping_id: "map_1", table_name: "contact", record_id: 42, sfid: GONE.sfid, restored: "by_next_cycle" };

test("a deleted row says who, when and until when, and the command that brings it back, or why none does", async () => {
  world.answer("GET /rows/contact/L-1/story", GONE);
  const { stderr } = await world.line.run(["row", "contact", "L-1"]);
  const why = "the mapping only reads";
  world.answer("GET /rows/contact/L-1/story", { ...GONE, restore: { ...GONE.restore, can: false, why } });
  const refused = await world.line.run(["row", "contact", "L-1"]);

  expect(stderr).toMatch(/Deleted in Salesforce by Bob at .*, in the recycle bin until .*\./);
  expect(stderr).toContain("bridge row Contact 0035g00000XyzAbAAJ --restore");
  expect(refused.stderr).toContain("It cannot be restored: the mapping only reads");
});

test("--restore asks for it, runs a cycle and ends when the row is back; with 7 where it cannot be", async () => {
  world.answer("POST /rows/contact/L-1/restore", ASKED);
  const { code, stdout } = await world.line.run(["row", "contact", "L-1", "--restore", "--json"]);
  const calls = world.asked.map(({ call }) => call);
  world.answer("POST /rows/contact/L-1/restore", { ...ASKED, restored: "now" });
  const now = await world.line.run(["row", "contact", "L-1", "--restore"]);
  world.refuse("POST /rows/contact/L-1/restore", 409, "CONFLICT", [], "it cannot be restored: merged");
  const refused = await world.line.run(["row", "contact", "L-1", "--restore"]);

  expect([code, now.code, refused.code]).toEqual([0, 0, 7]);
  expect(JSON.parse(stdout)).toEqual({ ...ASKED, row: "present" });
  expect(calls).toContain("POST /mappings/map_1/poll-now");
  expect(now.stdout).toContain("its delete is not sent");
});
