import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { privateWordsOf } from "./support/checks/words.ts";

const PROJECT = resolve(import.meta.dirname, "..");

/** They hold the words because they are about them. */
const ABOUT_WORDS = ["test/words.test.ts", "test/support/checks/words.ts"];

const FILES = execFileSync("git", ["ls-files", "lib", "functions", "bin", "test", "README.md"], { cwd: PROJECT })
  .toString()
  .split("\n")
  .filter((file) => /\.(ts|tsx|mjs|md)$/.test(file) && !ABOUT_WORDS.includes(file));

test("comments, strings, pages and file names use the field's words", () => {
  expect(FILES.flatMap((file) => privateWordsOf(file, readFileSync(join(PROJECT, file), "utf8")))).toEqual([]);
});

test("a private word is found in a comment, in a string, in a file's name and in a page, with its line", () => {
  const source = "const a = 1;\n/**\n * The row is\n * told.\n */\nfail(`it stands at ` + `b`); // tells\n";

  expect(privateWordsOf("lib/sync/push.ts", source).map((found) => found.split(" (")[0])).toEqual([
    'lib/sync/push.ts:4: "told"',
    'lib/sync/push.ts:6: "stands"',
    'lib/sync/push.ts:6: "tells"',
  ]);
  expect(privateWordsOf("lib/sync/in-hand.ts", "")).toHaveLength(1);
  expect(privateWordsOf("lib/docs/rows.md", "One goes\non")).toHaveLength(1);
  expect(privateWordsOf("lib/console/a.tsx", "<p>\n  Be told\n</p>")).toHaveLength(1);
});

test("code, an ordinary use of the same letters and an import's path are no private words", () => {
  const source = 'import { told } from "./told.ts";\nconst told = /told/; // in doubt, a stand-in, go on call\n';

  expect(privateWordsOf("lib/sync/push.ts", source)).toEqual([]);
});

const COMMENT = /\/\*[\s\S]*?\*\/|\s\/\/[^\n]*/g;

/** Functions and fields that comments name, `likeThis`, and that no code of these files has. */
function namesOfNothing(sources: readonly (readonly [file: string, source: string])[]): string[] {
  const code = new Set(sources.flatMap(([, source]) => source.replace(COMMENT, " ").match(/\w+/g) ?? []));
  return sources.flatMap(([file, source]) =>
    (source.match(COMMENT) ?? [])
      .flatMap((comment) => [...comment.matchAll(/`([a-z]+[A-Z]\w*)(?:\(\))?`/g)])
      .flatMap(([, name = ""]) => (code.has(name) ? [] : [`${file}: ${name}`])),
  );
}

/** A function of a package, which its user need not call. */
const OF_OTHERS = ["lib/adapters/salesforce/guarded-fetch.ts: getGlobalDispatcher"];

test("what a comment names is there", () => {
  const sources = FILES.filter((file) => !file.endsWith(".md")).map(
    (file) => [file, readFileSync(join(PROJECT, file), "utf8")] as const,
  );

  expect(namesOfNothing(sources)).toEqual(OF_OTHERS);
});

test("a name that is gone is found in a comment, and one that is there is not", () => {
  const here = ["a.ts", "/** As `readRows()` and `writeRows` do. */\nconst readRows = 1; // like `askedFor`"] as const;
  const there = ["b.ts", "export const askedFor = 2;"] as const;

  expect(namesOfNothing([here, there])).toEqual(["a.ts: writeRows"]);
});
