import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkFormat } from "../../lib/local/data-format.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";

test("a data folder says how it is laid out, and is resumed, also where a start was killed before it said so", () => {
  const folder = temporaryFolder();
  checkFormat(folder);
  expect(readFileSync(join(folder, "format"), "utf8")).toBe("1\n");
  checkFormat(folder);

  writeFileSync(join(folder, "format"), "");
  checkFormat(folder);
  expect(readFileSync(join(folder, "format"), "utf8")).toBe("1\n");
});

test.each([
  ["2\n", "has format 2, and this version of Bridge knows formats up to 1: start the newer version"],
  ["one", 'holds "one" instead of a number: write 1 into it'],
])("one that says %j is left alone, and the error shows what to do", (text, message) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "format"), text);

  expect(() => checkFormat(folder)).toThrow(message);

  expect(readFileSync(join(folder, "format"), "utf8")).toBe(text);
});
