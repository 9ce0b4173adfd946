import { beforeEach, expect, test } from "vitest";
import { eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();
beforeEach(() => {
  world.answer("GET /rows/contact/L-1/story", STORY);
  world.answer("PATCH /rows/contact/42", WRITTEN);
});

const STORY = {
  ...{ record_id: 42, row: "present", sf_object: "Contact", sfid: null, salesforce_url: null, salesforce_error: null },
  values: [
    { column: "email", postgres: "nowhere", salesforce: null, equal: null },
    { column: "lastname", postgres: "Lovelace", salesforce: "Byron", equal: false },
  ],
  events: ["the row was updated", "the row was inserted"].map((text) => ({
    at: "2026-03-01T12:00:00Z",
    from: "postgres",
    text,
  })),
  ...{ restore: null, waits: "Waits since noon.", remedy: null },
  refused: { change_id: 6, message: "INVALID", columns: [{ column: "email", rule: "an e-mail address" }] },
};
const WRITTEN = { mapping_id: "map_1", table_name: "contact", record_id: 42, change_id: 7 };
const ended = (state: string, error: string | null) =>
  world.answer("GET /monitoring/activity/7", { id: 7, state, _ab_err: error, synced_at: "2026-03-01T12:00:00Z" });

test("a row says what the refused column takes, and --set writes it over what was shown, and follows it", async () => {
  ended("SUCCESS", null);
  const { stdout: shown, stderr } = await world.run("row Contact L-1");
  expect(shown).toMatch(
    /email +nowhere *\nlastname +Lovelace +Byron +differs\n.*inserted.*updated.*Waits since noon\.\n/s,
  );
  expect(stderr).toContain("email takes an e-mail address.");
  expect(stderr).toContain("bridge row Contact 42 --set email=…");

  const line = "row contact L-1 --set email=a=b@example.com --set lastname=";
  const stdout = "contact 42 is written, and Salesforce took it.\n";
  expect(await world.run(line)).toMatchObject({ code: 0, stdout });
  const json = await world.line.json(line.split(" "));

  const values = { email: "a=b@example.com", lastname: null };
  const written = { values, was: { email: "nowhere", lastname: "Lovelace" } };
  expect(world.bodies("PATCH")).toEqual([written, written]);
  expect(json).toMatchObject({ ...WRITTEN, change: { state: "SUCCESS" } });
});

test("--set ends with 10 where Salesforce refuses it again, with 7 where the row has changed, with 2 for no value", async () => {
  ended("FAILED", "INVALID_EMAIL_ADDRESS: nowhere");
  const refused = await world.run("row contact L-1 --set email=x");
  world.refuse("PATCH /rows/contact/42", 409, "CONFLICT", [], "email has changed since it was read");
  const moved = await world.run("row contact L-1 --set email=x");
  const mistyped = await world.run("row contact L-1 --set email");

  expect(refused).toMatchObject({ code: 10, stdout: has("Salesforce refused it: INVALID_EMAIL_ADDRESS: nowhere") });
  expect(moved).toMatchObject({ code: 7, stderr: has("email has changed since it was read") });
  expect(mistyped).toMatchObject({ code: 2, stderr: has("--set takes column=value") });
  expect(world.calls("PATCH")).toHaveLength(2);
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
  const why = "the mapping only reads";
  const not = { ...GONE, restore: { ...GONE.restore, can: false, why } };
  world.answerEach("GET /rows/contact/L-1/story", GONE, not);
  const { stderr } = await world.run("row contact L-1");
  const refused = await world.run("row contact L-1");

  expect(stderr).toMatch(/Deleted in Salesforce by Bob at .*, in the recycle bin until .*\./);
  expect(stderr).toContain("bridge row Contact 0035g00000XyzAbAAJ --restore");
  expect(refused.stderr).toContain(`It cannot be restored: ${why}`);
});

test("--restore asks for it, runs a cycle and ends when the row is back; with 7 where it cannot be", async () => {
  const call = "POST /rows/contact/L-1/restore";
  world.answerEach(call, ASKED, { ...ASKED, restored: "now" });
  const back = await world.line.json("row contact L-1 --restore".split(" "));
  const calls = world.calls();
  const now = await world.run("row contact L-1 --restore");
  world.refuse(call, 409, "CONFLICT", [], "it cannot be restored: merged");
  const refused = await world.run("row contact L-1 --restore");

  expect(back).toEqual({ ...ASKED, row: "present" });
  expect(calls).toContain("POST /mappings/map_1/poll-now");
  expect(now).toMatchObject({ code: 0, stdout: has("its delete is not sent") });
  expect(refused.code).toBe(7);
});
