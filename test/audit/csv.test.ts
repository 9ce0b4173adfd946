import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { csvOf } from "../../lib/audit/csv.ts";
import type { ListedEntry } from "../../lib/model/workspace/audit.ts";

const STARTS = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"];

const HOSTILE = [
  ...STARTS.flatMap((start) => [
    start,
    `${start}1+1`,
    `${start}HYPERLINK("http://example.com","x")`,
    `${start}cmd|' /C calc'!A0`,
    `${start}"quoted"`,
    `${start},x`,
    `${start}\r\nnext`,
  ]),
  ...STARTS.flatMap((start) => [`a;${start}1+1`, `;${start}`, `x;;${start}y;${start}z`]),
  ...["a,b", 'say "x"', "line\nbreak", "line\r\nbreak", "😀", "", " =1", "'=1", ";", "\u0000", "ü", "a\tb"],
  ...Array.from({ length: 120 }, (_, at) => `${STARTS[at % STARTS.length]}${String.fromCodePoint(32 + at)}${at}`),
];

const entryWith = (text: string): ListedEntry => ({
  id: "aud_1",
  actor: text,
  action: "token.created",
  resource_type: "token",
  resource_id: text,
  detail: { text },
  created_at: "2026-03-01T12:00:00.000Z",
});

async function csv(batches: readonly (readonly ListedEntry[])[]): Promise<string> {
  const iterable = async function* () {
    yield* batches;
  };
  let text = "";
  for await (const part of csvOf(iterable())) text += part;
  return text;
}

test("the columns are those of the contract, also without entries", async () => {
  expect(await csv([[]])).toBe('"id","created_at","actor","action","resource_type","resource_id","detail"\r\n');
});

test("at least 200 hostile texts come back as they were, and none is a formula", async () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(200);

  const text = await csv([HOSTILE.map(entryWith)]);

  const rows: string[][] = parse(text, { record_delimiter: "\r\n" });
  expect(rows).toHaveLength(HOSTILE.length + 1);
  rows.slice(1).forEach(([, , actor = "", , , resource = "", detail = ""], at) => {
    const original = HOSTILE[at] ?? "";
    expect(actor.replaceAll(/(^|;)'(?=[=+\-@\t\r\n＝＋－＠])/g, "$1")).toBe(original.replace(/^'(?==)/, ""));
    expect(resource).toBe(actor);
    expect(JSON.parse(detail)).toEqual({ text: original });
    const cells = [actor, resource, detail].flatMap((cell) => [cell, ...cell.split(";")]);
    expect(STARTS.some((start) => cells.some((cell) => cell.startsWith(start)))).toBe(false);
  });
});
