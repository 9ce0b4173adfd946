import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseSync } from "oxc-parser";
import { expect, onTestFinished, test } from "vitest";
import { BUGS, plantedIn } from "./bug.ts";
import { testPath } from "./judge.ts";
import { copyProject } from "./project-copy.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");

test("there are at least 150 bugs, each of a name of its own", () => {
  expect(BUGS.length).toBeGreaterThanOrEqual(150);
  expect(new Set(BUGS.map(({ id }) => id)).size).toBe(BUGS.length);
});

test("each bug can be planted in the code as it is, and what it is planted in is still a program", () => {
  const wrong = BUGS.flatMap((bug) => {
    try {
      const text = readFileSync(join(PROJECT, bug.file), "utf8");
      const planted = plantedIn(text, bug);
      if (planted === text) return `${bug.id}: changes nothing`;
      const [error] = bug.file.endsWith(".md") ? [] : parseSync(bug.file, planted).errors;
      return error ? `${bug.id}: ${error.message}` : [];
    } catch (error) {
      return `${bug.id}: ${String(error)}`;
    }
  });

  expect(wrong).toEqual([]);
});

test("bugs are planted in a copy, one after the other, without the test that knows their texts", () => {
  const copy = copyProject(PROJECT);
  onTestFinished(copy.remove);
  const [first, second] = BUGS.filter(({ file }, at) => BUGS.findIndex((one) => one.file === file) === at);
  if (!first || !second) throw new Error("there are no two");
  const reads = (path: string) => [PROJECT, copy.folder].map((folder) => readFileSync(join(folder, path), "utf8"));
  copy.plant([first]);
  copy.plant([second]);
  const [before, after] = reads(first.file);
  const [whole = "", planted] = reads(second.file);

  expect([after === before, planted]).toEqual([true, plantedIn(whole, second)]);
  expect(existsSync(join(copy.folder, "test/programs/judge/judge.test.ts"))).toBe(false);
});

test("the tests near each bug are there", () => {
  const missing = BUGS.flatMap(({ id, near }) =>
    (near.length === 0 ? [""] : near)
      .filter((name) => name === "" || !existsSync(join(PROJECT, testPath(PROJECT, name))))
      .map((name) => `${id}: ${name}`),
  );

  expect(missing).toEqual([]);
});
