import { expect, test } from "vitest";
import { restoreOf } from "../../../lib/model/record/restore-row.ts";

const GONE = { isRowPresent: false, sfid: "003000000000001AAA", record: "deleted", deletion: null } as const;
const REST = { direction: "bidirectional", mergedInto: null, reason: null, isAsked: false } as const;

test.each([
  ["it may be", {}, { how: "undelete" }],
  [
    "it was merged",
    { mergedInto: "003000000000002AAA" },
    { why: "Salesforce has merged its record into 003000000000002AAA" },
  ],
  ["the mapping only reads", { direction: "sf_to_pg" }, { why: expect.stringMatching(/^the mapping only reads: /) }],
] as const)("a record that is gone is undeleted, or the reason is given: %s", (_, more, restore) => {
  expect(restoreOf({ ...GONE, ...REST, ...more })).toMatchObject(restore);
});
