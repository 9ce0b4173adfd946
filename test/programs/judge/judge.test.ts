import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseSync } from "oxc-parser";
import { expect, test } from "vitest";
import { BUGS, plantedIn } from "./bug.ts";
import { testPath } from "./judge.ts";

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

test("the tests near each bug are there", () => {
  const missing = BUGS.flatMap(({ id, near }) =>
    (near.length === 0 ? [""] : near)
      .filter((name) => name === "" || !existsSync(join(PROJECT, testPath(PROJECT, name))))
      .map((name) => `${id}: ${name}`),
  );

  expect(missing).toEqual([]);
});
