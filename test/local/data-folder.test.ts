import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../lib/local/cloud/open-database.ts";
import { checkFormat } from "../../lib/local/data-format.ts";
import { lockFolder } from "../../lib/local/folder-lock.ts";
import { Database } from "../../lib/local/org/store/database.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";

test("a folder has one owner, and is free again when the owner releases it", () => {
  const folder = temporaryFolder();
  const lock = lockFolder(folder);

  expect(() => lockFolder(folder)).toThrow(`${folder} is in use by process ${process.pid}: stop that process`);

  lock.release();
  lockFolder(folder).release();
});

test.each(["owner.lock", "owner.pid"])("a folder in which %s cannot be written is named, and left free", (file) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, file));

  for (const _ of ["first", "again"])
    expect(() => lockFolder(folder)).toThrow(
      new RegExp(`^the data folder ${folder} cannot be written \\(.+\\): give this user the right to, and room`),
    );
});

test("a folder says how it is laid out, and is resumed, also where a start was killed before it said so", () => {
  const folder = temporaryFolder();
  checkFormat(folder);
  expect(readFileSync(join(folder, "format"), "utf8")).toBe("1\n");
  checkFormat(folder);

  writeFileSync(join(folder, "format"), "");
  checkFormat(folder);
  expect(readFileSync(join(folder, "format"), "utf8")).toBe("1\n");
});

test.each([
  ["2\n", "has format 2, and this version of Bridge knows formats up to 1: start the newer version"],
  ["one", 'holds "one" instead of a number: write 1 into it'],
])("a folder that says %j is left alone, and the error shows what to do", (text, message) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "format"), text);

  expect(() => checkFormat(folder)).toThrow(message);

  expect(readFileSync(join(folder, "format"), "utf8")).toBe(text);
});

test("a full disk is named as such by the files of cloud and org, which take nothing of the transaction", () => {
  const [kept, org] = ["kept.sqlite", "org.db"].map((name) => join(temporaryFolder(), name));
  // SQLite gives a file that may not grow the answer that it gives on a full disk.
  const made = "CREATE TABLE t (x); PRAGMA max_page_count = 4";
  const cloud = openDatabase(kept ?? "", made);
  onTestFinished(() => cloud.close());
  const database = new Database(org ?? "");
  onTestFinished(() => database.close());
  database.execute(made);
  const statement = cloud.prepare("INSERT INTO t VALUES (zeroblob(?))");
  const insert = (bytes: number) => database.run("INSERT INTO t VALUES (zeroblob(?))", bytes);

  expect(() => cloud.transaction(() => [statement.run(10), statement.run(100_000)])).toThrow("disk is full");
  expect(() => database.transaction(() => [insert(10), database.transaction(() => insert(100_000))])).toThrow(
    "database or disk is full",
  );
  expect([cloud.prepare("SELECT * FROM t").all(), database.all("SELECT * FROM t")]).toEqual([[], []]);
});
