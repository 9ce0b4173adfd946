import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { DIFFERENCES } from "./differences.ts";

const PAGES = ["lib/local/org/README.md", "lib/local/README.md"].map((page) =>
  readFileSync(resolve(import.meta.dirname, "../../..", page), "utf8").split("\n"),
);

test("the org's README and that of the local cloud list the differences, and no others", () => {
  const rows = PAGES.flatMap((lines) => {
    const head = lines.indexOf("| asked | differs | because |");
    const rest = lines.slice(head + 2);
    return head < 0 ? [] : rest.slice(0, rest.indexOf(""));
  });

  expect(rows).toEqual(
    DIFFERENCES.map(({ request, difference, reason }) => `| ${request} | ${difference} | ${reason} |`),
  );
});
