import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { boundedLog } from "../../lib/local/bounded-log.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";

test("a log is two files at most, the latest lines in them, for every writer", () => {
  const file = join(temporaryFolder(), "program.log");
  const linesOf = (path: string) => readFileSync(path, "utf8").trim().split("\n");

  for (let run = 0; run < 3; run++) {
    const append = boundedLog(file, 40);
    for (let line = 0; line < 5; line++) append(`run ${run}, ü ${line}`);
  }

  expect([linesOf(`${file}.1`), linesOf(file)]).toEqual([
    ["run 1, ü 4", "run 2, ü 0", "run 2, ü 1"],
    ["run 2, ü 2", "run 2, ü 3", "run 2, ü 4"],
  ]);
});

test("a line that a full disk or a power cut has torn is alone, and the next one is whole", () => {
  const file = join(temporaryFolder(), "program.log");
  boundedLog(file)("first");
  appendFileSync(file, '{"level":"in');

  const append = boundedLog(file);
  append("second");
  append("third");

  expect(readFileSync(file, "utf8").split("\n")).toEqual(["first", '{"level":"in', "second", "third", ""]);
});

test("a line that cannot be written is reported, and one that is longer than a file may be is kept", () => {
  const folder = temporaryFolder();
  const file = join(folder, "gone", "program.log");
  const append = boundedLog(file, 10);

  expect(append("lost")).toContain("ENOENT");
  mkdirSync(join(folder, "gone"));
  writeFileSync(file, "half");

  expect(append("x".repeat(50))).toBeNull();
  expect(readFileSync(file, "utf8")).toBe(`half\n${"x".repeat(50)}\n`);
});
