import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../lib/local/cloud/open-database.ts";
import { Database } from "../../lib/local/org/store/database.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";

// SQLite gives a file that may not grow the answer that it gives on a full disk.
const NO_ROOM = "PRAGMA max_page_count = 4";

test("a full disk is named as such by the cloud's files, which take nothing of the transaction", () => {
  const database = openDatabase(join(temporaryFolder(), "kept.sqlite"), `CREATE TABLE t (x); ${NO_ROOM}`);
  onTestFinished(() => database.close());
  const insert = database.prepare("INSERT INTO t VALUES (zeroblob(?))");

  const work = () => database.transaction(() => [insert.run(10), insert.run(100_000)]);

  expect(work).toThrow("database or disk is full");
  expect(database.prepare("SELECT * FROM t").all()).toEqual([]);
});

test("a full disk is named as such by the org's file, however deep the transaction", () => {
  const database = new Database(join(temporaryFolder(), "org.db"));
  onTestFinished(() => database.close());
  database.execute(`CREATE TABLE t (x); ${NO_ROOM}`);
  const insert = (bytes: number) => database.run("INSERT INTO t VALUES (zeroblob(?))", bytes);

  const work = () => database.transaction(() => [insert(10), database.transaction(() => insert(100_000))]);

  expect(work).toThrow("database or disk is full");
  expect(database.all("SELECT * FROM t")).toEqual([]);
});
