import { expect, test } from "vitest";
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
