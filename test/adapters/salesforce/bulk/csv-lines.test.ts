import { ReadableStream } from "node:stream/web";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { piecesOf } from "../../../../lib/adapters/salesforce/bulk/bulk-jobs.ts";
import { type CsvLine, valueIn } from "../../../../lib/model/record/csv-line.ts";

async function linesIn(pieces: readonly (string | Buffer)[]): Promise<readonly CsvLine[]> {
  const lines: CsvLine[] = [];
  const body = ReadableStream.from<Uint8Array>(pieces.map((piece) => new Uint8Array(Buffer.from(piece))));
  for await (const piece of piecesOf(body)) lines.push(...piece.lines);
  return lines;
}

const read = async (pieces: readonly (string | Buffer)[]) => (await linesIn(pieces)).map(recordIn);
const recordIn = (line: CsvLine) => Object.fromEntries(line.names.map((name) => [name, valueIn(line, name)]));

const value = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r", " ", "ü", "😀") });

test("every value arrives as it was written, wherever the answer is cut into pieces", async () => {
  const file = fc.record({
    rows: fc.array(fc.tuple(value, value, value), { maxLength: 6 }),
    end: fc.constantFrom("\n", "\r\n"),
    size: fc.integer({ min: 1, max: 9 }),
    isEnded: fc.boolean(),
  });

  await fc.assert(
    fc.asyncProperty(file, async ({ rows, end, size, isEnded }) => {
      const lines = [["Id", "Name", "Note__c"], ...rows].map((row) =>
        row.map((text) => `"${text.replaceAll('"', '""')}"`).join(","),
      );
      const csv = lines.join(end) + (isEnded ? end : "");
      const bytes = Buffer.from(csv);
      const pieces = [...bytes].flatMap((_, at) => (at % size === 0 ? [bytes.subarray(at, at + size)] : []));

      const records: Record<string, string>[] = parse(csv, { columns: true, record_delimiter: end });
      expect(await read(pieces)).toEqual(records);
      const found = (await linesIn(pieces)).map((line) => line.names.map((name) => valueIn(line, name)));
      expect(found).toEqual(records.map((record) => Object.values(record)));
    }),
  );
});

test("values without quotes are read, too", async () => {
  expect(await read(["Id,Name\n003,Ada\n", '004,"Lovelace, Ada"\n005,'])).toEqual([
    { Id: "003", Name: "Ada" },
    { Id: "004", Name: "Lovelace, Ada" },
    { Id: "005", Name: "" },
  ]);
});

test("an answer that breaks off within a value, or within a line, is refused", async () => {
  await expect(read(['"Id","Name"\n"003","Ad'])).rejects.toThrow("ends within a quoted value");
  await expect(read(['"Id","Name"\n"003"\n'])).rejects.toThrow("1 values for 2 names");
});
