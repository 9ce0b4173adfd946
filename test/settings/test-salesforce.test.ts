import { expect, test } from "vitest";
import { testSalesforce } from "../../lib/settings/test-salesforce.ts";
import { contactShape, mappingOf } from "../support/worlds/shapes.ts";

const AT = new Date("2026-11-29T05:45:00Z");
const connection = { organizationId: "00D", instanceUrl: "https://acme.example", apiVersion: "68.0", accessToken: "t" };
const probed = { object: "Contact", createable: true, updateable: true, refusal: null as string | null };

async function savingOf(probes: readonly (typeof probed)[], syncDirection = "bidirectional") {
  const mapping = { ...mappingOf(contactShape({ mappingId: "map_1" })), active: true, syncDirection };
  const needs = {
    readUsage: async () => ({ used: 1, limit: 10, at: AT, connection }),
    mappings: { list: async () => ({ generation: 1, mappings: [mapping] }) },
    probeSaves: async () => probes,
    now: () => AT,
  } as unknown as Parameters<typeof testSalesforce>[0];
  const workspace = { id: "ws_1", open: async () => ({ salesforce: connection }) };
  const { findings } = await testSalesforce(needs, workspace as unknown as Parameters<typeof testSalesforce>[1]);
  return findings.filter(({ check }) => check === "saving").map(({ ok, message }) => [ok, message]);
}

test.each([
  ["it is ready", [probed], true, "Contact can be saved: the user may, and Salesforce is ready"],
  ["it refuses", [{ ...probed, refusal: "read only" }], false, "Contact cannot be saved: read only"],
  ["the user may only read", [{ ...probed, updateable: false }], false, "the user may not create and update Contact"],
  [
    "the user does not see the object",
    [{ ...probed, createable: false, updateable: false }],
    false,
    "the user may not create and update Contact",
  ],
] as const)("an object that rows are sent to is checked: %s", async (_, probes, ok, message) => {
  expect(await savingOf(probes)).toEqual([[ok, message]]);
});

test("of an object that was not asked for nothing is said", async () => {
  expect(await savingOf([])).toEqual([]);
});

test("an object that is only read has nothing to be saved", async () => {
  expect(await savingOf([], "sf_to_pg")).toEqual([]);
});
