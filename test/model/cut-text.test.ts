import { expect, test } from "vitest";
import { bulkError } from "../../lib/model/change/bulk-error.ts";
import { refusalOf } from "../../lib/model/change/refusal.ts";
import { errorText } from "../../lib/model/change/row-error.ts";
import { cutText } from "../../lib/model/cut-text.ts";

const bytes = (text: string) => Buffer.byteLength(text);

test("a text of 4 KB stays whole, and one byte more is cut and marked, its end kept", () => {
  const most = "x".repeat(4_096);
  expect(cutText(most)).toBe(most);

  const cut = cutText(`${"x".repeat(1_234_556)}!`);

  expect(cut).toBe(`${"x".repeat(4_096)}... (truncated, 1,234,557 characters) ...${"x".repeat(199)}!`);
});

test("a cut splits no character, wherever it is", () => {
  for (const before of ["", "x", "xx", "xxx"]) {
    const cut = cutText(`${before}${"😀".repeat(5_000)}${before}`);

    expect(cut.isWellFormed()).toBe(true);
    expect(cut).not.toContain("�");
    expect(cut).toContain(`... (truncated, ${(10_000 + 2 * before.length).toLocaleString("en-US")} characters) ...`);
    expect(bytes(cut)).toBeLessThan(5_000);
  }
});

test("what Salesforce says of a record and of a call is cut, and names field and limit still", () => {
  const message = `Description: data value too large: ${"ä".repeat(300_000)} (max length=32000)`;

  const bySoap = errorText([{ code: "STRING_TOO_LONG", message, fields: ["Description"] }]);
  const byBulk = errorText([bulkError(`STRING_TOO_LONG:${message}:Description --`)]);
  const ofCall = refusalOf(400, "STRING_TOO_LONG", message).message;

  for (const text of [bySoap, byBulk, ofCall]) expect(bytes(text)).toBeLessThan(6_000);
  for (const text of [bySoap, byBulk])
    expect(text).toMatch(
      /^STRING_TOO_LONG: Description: data value too large: ää.*\(max length=32000\) \[Description\]$/,
    );
  expect(ofCall).toMatch(/\(max length=32000\)$/);
});
