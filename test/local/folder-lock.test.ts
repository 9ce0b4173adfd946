import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lockFolder } from "../../lib/local/folder-lock.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";

test("a folder has one owner, and is free again when the owner releases it", () => {
  const folder = temporaryFolder();
  const lock = lockFolder(folder);

  expect(() => lockFolder(folder)).toThrow(`${folder} is in use by process ${process.pid}: stop that process`);

  lock.release();
  lockFolder(folder).release();
});

test.each(["owner.lock", "owner.pid"])("a folder in which %s cannot be written is named, with the remedy", (file) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, file));

  expect(() => lockFolder(folder)).toThrow(
    new RegExp(
      `^the data folder ${folder} cannot be written \\(.+\\): give this user the right to, and room on the disk`,
    ),
  );
});

test("what failed half way leaves the folder free", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "owner.pid"));

  expect(() => lockFolder(folder)).toThrow("cannot be written");

  expect(() => lockFolder(folder)).toThrow("cannot be written");
});
