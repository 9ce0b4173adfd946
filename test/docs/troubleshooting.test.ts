import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERRORS } from "../../lib/http/openapi/errors.ts";
import { STATUS_OF } from "../../lib/model/failure.ts";
import { MAPPING_STATES } from "../../lib/settings/mapping-view.ts";

const PROJECT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(PROJECT, "lib/docs/troubleshooting.md"), "utf8");

test("troubleshooting.md has each error code of the API with its status and its remedy", () => {
  const expected = Object.entries(ERRORS).map(
    ([code, words]) => `| \`${code}\` | ${STATUS_OF[code as keyof typeof STATUS_OF]} | ${words.join(" | ")} |`,
  );

  expect(rowsBelow("## Error codes of the API")).toEqual(expected);
});

test("troubleshooting.md has each state that a mapping can be in", () => {
  expect(namesIn("## States of a mapping").toSorted()).toEqual([...MAPPING_STATES].toSorted());
});

test("troubleshooting.md has each event that a log line can name, and no other", () => {
  const ofService = ["lib", "functions"].flatMap((folder) => eventsOf(folder, /^(local|cli|console)\//));
  const ofOneMachine = eventsOf("lib/local", /^org\//);
  const kinds = ["load", "backfill", "sweep", "dry_run"]; // `event` of long work is the kind of its message

  expect(ofService.length).toBeGreaterThan(6);
  expect(new Set(namesIn("## Log lines"))).toEqual(new Set([...ofService, ...ofOneMachine, ...kinds]));
});

/** Table rows below a heading, without the head of a table. */
function rowsBelow(heading: string): string[] {
  const section = PAGE.split(`\n${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return section.split("\n").filter((line) => /^\| `[^`]+`[ ,]/.test(line) && !line.includes("`event` |"));
}

/** The names in the first cells. */
const namesIn = (heading: string): string[] =>
  rowsBelow(heading).flatMap((row) =>
    [...(row.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );

/** What the sources below a folder write as `event` of a log line: in an object that has a `level` as well. */
function eventsOf(folder: string, aside: RegExp): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !aside.test(file))
    .flatMap((file) => [
      ...readFileSync(join(PROJECT, folder, file), "utf8").matchAll(/\blevel\b[^{}]{0,80}?\bevent: "([^"]+)"/g),
    ])
    .map(([, event = ""]) => event);
}
