import { expect, test } from "vitest";
import { fullFolders, importCycles, mutualChapters, sameNames } from "./programs/structure/count.ts";
import { importsOnce } from "./support/checks/imports-once.ts";

const IMPORTS = await importsOnce();

test("no folder holds more than 25 files, the list of endpoints aside", () => {
  expect(fullFolders()).toEqual([]);
});

test("no two chapters of a room import each other, types included", () => {
  expect(mutualChapters(IMPORTS)).toEqual([]);
});

test("no two files of a room have the same name", () => {
  expect(sameNames()).toEqual([]);
});

test("no imports go in a cycle, those of types included", () => {
  expect(importCycles(IMPORTS, { withTypes: true })).toEqual([]);
});
