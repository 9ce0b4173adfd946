import { expect, test } from "vitest";
import { fullFolders, importCycles, mutualChapters, sameNames } from "./programs/structure/count.ts";
import type { Import } from "./support/checks/imports.ts";
import { importsOnce } from "./support/checks/imports-once.ts";

const IMPORTS = await importsOnce();

test("no folder holds more than 25 files, the list of endpoints aside", () => {
  expect(fullFolders()).toEqual([]);
});

test("a full folder would be found, and the list of endpoints is left out", () => {
  const files = Array.from({ length: 26 }, (_, number) => `lib/sync/file-${number}.ts`);
  const endpoints = files.map((file) => file.replace("lib/sync", "functions/api"));

  expect(fullFolders([...files, ...endpoints])).toEqual(["lib/sync: 26"]);
  expect(fullFolders(files.slice(1))).toEqual([]);
});

test("no two chapters of a room import each other, types included", () => {
  expect(mutualChapters(IMPORTS)).toEqual([]);
});

test("chapters that import each other would be found, also for a type, or by a file beside the chapters", () => {
  const edge = (from: string, to: string, isType = false): Import => ({
    from: `lib/sync/${from}.ts`,
    to: `lib/sync/${to}.ts`,
    specifier: to,
    isPackage: false,
    isType,
  });

  expect(mutualChapters([edge("push/a", "pull/b"), edge("pull/c", "push/d")])).toEqual([
    "lib/sync/pull <> lib/sync/push: lib/sync/pull/c.ts > lib/sync/push/d.ts, lib/sync/push/a.ts > lib/sync/pull/b.ts",
  ]);
  expect(mutualChapters([edge("push/a", "pull/b"), edge("pull/c", "push/d", true)])).toHaveLength(1);
  expect(mutualChapters([edge("run-cycle", "pull/b"), edge("pull/c", "run-cycle")])).toEqual([
    "lib/sync/pull <> lib/sync/run-cycle.ts: lib/sync/pull/c.ts > lib/sync/run-cycle.ts, lib/sync/run-cycle.ts > lib/sync/pull/b.ts",
  ]);
  expect(mutualChapters([edge("run-cycle", "pull/b"), edge("pull/c", "clock"), edge("pull/b", "pull/c")])).toEqual([]);
});

test("no two files of a room have the same name", () => {
  expect(sameNames()).toEqual([]);
});

test("two files of one name would be found, in two rooms not", () => {
  expect(sameNames(["lib/sync/push/settle.ts", "lib/sync/doubt/settle.ts", "lib/model/settle.ts"])).toEqual([
    "lib/sync: settle.ts",
  ]);
  expect(sameNames(["lib/sync/ports.ts", "lib/webhooks/ports.ts", "lib/adapters/sqs/ports.ts"])).toEqual([]);
});

test("no imports go in a cycle, those of types included", () => {
  expect(importCycles(IMPORTS, { withTypes: true })).toEqual([]);
});

test("a cycle of imports would be found", () => {
  const edge = (from: string, to: string, isType: boolean): Import => ({
    from,
    to,
    specifier: to,
    isPackage: false,
    isType,
  });
  const edges = [edge("a", "b", false), edge("b", "c", true), edge("c", "a", false), edge("c", "d", false)];

  expect(importCycles(edges, { withTypes: true })).toEqual(["a, b, c"]);
  expect(importCycles(edges, { withTypes: false })).toEqual([]);
});
