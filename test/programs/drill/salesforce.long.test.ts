import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mapBothWays } from "./both-ways.ts";
import { compareOrgs } from "./compare-orgs.ts";
import { type EmbeddedOrg, startEmbeddedOrg } from "./embedded-org.ts";

let ours: EmbeddedOrg;
let theirs: EmbeddedOrg;
beforeEach(async () => {
  [ours, theirs] = await Promise.all([startEmbeddedOrg(), startEmbeddedOrg()]);
});
afterEach(() => Promise.all([ours.close(), theirs.close()]));

test("two orgs that are the same differ in no step, and every method of the engine's client was asked", async () => {
  const { steps, differences, notes } = await compareOrgs(ours.door, theirs.door);

  expect([differences, notes]).toEqual([[], []]);
  expect(steps).toBeGreaterThan(80);
});

test.each([
  ["describe Account: status", { kind: "serverError", path: "v68.0/sobjects/Account/describe", times: 0 }],
  ["create below a parent by its id: .results", { kind: "validation", object: "Contact", times: 0 }],
  ["deleted: .records has 1 entries, theirs 0", { kind: "laggingReplication", milliseconds: 86_400_000, times: 0 }],
  ["Bulk create, done: .state", { kind: "failedJob", path: "BULK insert", times: 0 }],
])("a fault that is in one of two orgs is reported by the step that meets it: %s", async (step, fault) => {
  await theirs.fail(fault);

  const { differences } = await compareOrgs(ours.door, theirs.door);

  expect(differences.filter((line) => line.startsWith(step))).not.toEqual([]);
});

test("a value that one of two orgs keeps otherwise is reported with both values", async () => {
  const automations = [{ name: "Shout", on: ["create"], when: "before", set: { Website: "UPPER(Name)" } }];
  const other = await startEmbeddedOrg({ definition: { objects: [{ name: "Account", automations }] } as never });

  const { differences } = await compareOrgs(ours.door, other.door).finally(other.close);

  expect(differences).toContainEqual(
    expect.stringMatching(/^query: \.records\[0\]\.Website null, theirs "BRIDGE DRILL/),
  );
});

test("the whole drill finds nothing between two embedded orgs, and keeps a mapping in step both ways", async () => {
  const program = join(import.meta.dirname, "salesforce.ts");

  const { stdout } = await promisify(execFile)(process.execPath, [program, "--against-embedded"]);

  const [counted, ...steps] = stdout.trim().split("\n");
  expect(counted).toMatch(/^\d+ steps, 0 differences$/);
  expect(steps.filter((line) => line.startsWith("ok "))).toHaveLength(8);
  expect(steps).toHaveLength(8);
});

// A process has one Bridge of its own at most, so the one above has another process.
test("an org that refuses what the mapping saves is reported by the step, with the org's own words", async () => {
  await theirs.fail({ kind: "validation", object: "Contact", message: "Refused by a planted rule.", times: 0 });

  const steps = await mapBothWays(theirs.door);

  expect(steps.at(-1)).toEqual({
    name: "a new row becomes a record",
    wrong: expect.stringContaining("Refused by a planted rule."),
  });
});
