import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseSync } from "oxc-parser";
import { expect, test } from "vitest";
import { BUGS, type Bug, plantedIn } from "./bug.ts";
import { judgeNear, judgeTogether, testPath } from "./judge.ts";
import { Progress } from "./progress.ts";
import type { Run } from "./run-tests.ts";

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

/** A bug by its id. */
const bug = (id: string, file = `${id}.ts`): Bug => ({ id, says: "", file, from: "a", to: "b", near: ["near"] });

/** Judges bugs by tests that fail as `failing` says of what is planted; gives what noticed each. */
async function judged(
  bugs: readonly Bug[],
  failing: (planted: readonly string[], path: string | undefined) => readonly string[],
  judge = judgeTogether,
) {
  const progress = new Progress(join(mkdtempSync(join(tmpdir(), "judge-")), "progress.jsonl"));
  let planted: readonly string[] = [];
  const run = async (_: string, { files: [path] }: { readonly files: readonly string[] }): Promise<Run> => {
    const files = failing(planted, path);
    return files.length === 0 ? { kind: "green" } : { kind: "red", files };
  };
  const plant = (some: readonly Bug[]) => {
    planted = some.map(({ id }) => id);
  };
  await judge({ copy: { folder: "", plant }, run, progress, say: () => {} }, bugs);
  return Object.fromEntries(bugs.map(({ id }) => [id, progress.verdictOf(id)?.by ?? null]));
}

test("of bugs that fail together each meets the failed files alone, and the rest runs again", async () => {
  const failing = (planted: readonly string[]) => (planted.includes("two") ? ["b.test.ts"] : []);

  const by = await judged([bug("one"), bug("two"), bug("three")], failing);

  expect(by).toEqual({ one: null, two: "b.test.ts", three: null });
});

test("bugs that fail only in all tests are found by parting them", async () => {
  const failing = (planted: readonly string[], path?: string) =>
    path === undefined && planted.includes("three") ? ["c.test.ts"] : [];

  const by = await judged([bug("one"), bug("two"), bug("three")], failing);

  expect(by).toEqual({ one: null, two: null, three: "c.test.ts" });
});

test("a test that fails without a bug as well has noticed nothing", async () => {
  expect(await judged([bug("one")], () => ["red.test.ts"])).toEqual({ one: null });
  expect((await judged([bug("one")], () => ["red.test.ts"], judgeNear))["one"]).toContain("without the bug");
});
