import { expect, test } from "vitest";
import { testSalesforce } from "../../lib/settings/test-salesforce.ts";
import { contactShape, mappingOf } from "../support/worlds/shapes.ts";

const AT = new Date("2026-11-29T05:45:00Z");
const connection = { organizationId: "00D", instanceUrl: "https://acme.example", apiVersion: "68.0", accessToken: "t" };
const probed = { object: "Contact", createable: true, updateable: true, refusal: null as string | null };

async function savingOf(probes: readonly (typeof probed)[], syncDirection = "bidirectional", active = true) {
  const mapping = { ...mappingOf(contactShape({ mappingId: "map_1" })), active, syncDirection };
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

const readOnly = { createable: false, updateable: false };

test.each([
  ["it is ready", {}, [true, "Contact can be saved: the user may, and Salesforce is ready"]],
  ["it refuses", { refusal: "read only" }, [false, "Contact cannot be saved: read only"]],
  ["the user may only read", { updateable: false }, [false, "the user may not create and update Contact"]],
  ["the user does not see the object", readOnly, [false, "the user may not create and update Contact"]],
])("an object that rows are sent to is checked: %s", async (_, more, finding) => {
  expect(await savingOf([{ ...probed, ...more }])).toEqual([finding]);
});

test("of an object that was not asked for, is only read, or whose mapping is paused, nothing is said", async () => {
  expect([await savingOf([]), await savingOf([probed], "sf_to_pg")]).toEqual([[], []]);
  expect(await savingOf([probed], "bidirectional", false)).toEqual([]);
});
