import { expect, test } from "vitest";
import { isKey, matching, rowsOfKey } from "../../lib/console/find/entries.ts";

const ENTRIES = ["Overview", "Compare Contact now", "Contact", "Poll Account now"].map((name) => ({ name }));
const TABLES = [{ pg_table: "contact" }, { pg_table: "account" }];

test.each([
  ["contact", ["Contact", "Compare Contact now"]],
  ["now cont", ["Compare Contact now"]],
  ["", ENTRIES.map(({ name }) => name)],
  ["zebra", []],
])("%j finds the entries that hold each of its words, those that begin with it first", (text, names) => {
  expect(matching(ENTRIES, text).map(({ name }) => name)).toEqual(names);
});

test("a group shows six entries at most", () => {
  const pages = Array.from({ length: 9 }, (_, at) => ({ name: `Page ${at}` }));

  expect(matching(pages, "page")).toHaveLength(6);
});

test.each([
  ["G-7", true],
  ["42", true],
  ["003Ws00000AbCdEIAV", true],
  ["ada42@example.com", false],
  ["guest 42", false],
  ["Lovelace", false],
])("%j may be the key of a row: %j", (text, may) => {
  expect(isKey(text)).toBe(may);
});

test("a number is the key of a row of each table, and any other key is looked up in all of them", () => {
  expect(rowsOfKey(" 42 ", TABLES).map(({ href }) => href)).toEqual(["#/rows/contact?key=42", "#/rows/account?key=42"]);
  expect(rowsOfKey("A&B-1", TABLES).map(({ href }) => href)).toEqual(["#/rows/-?key=A%26B-1"]);
});
