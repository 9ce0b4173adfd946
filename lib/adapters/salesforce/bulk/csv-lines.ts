import { boundsAt, type CsvLine, type CsvPiece, valuesIn } from "../../../model/record/csv-line.ts";

/** Characters of the longest line: all long texts of a record, and as much again for its quotes. */
const LONGEST_LINE = 8_000_000;

/** An object has at most 800 fields of its own. */
const MOST_NAMES = 2_000;

/**
 * Lines of a CSV answer of the Bulk API as its pieces come: the first line names the fields (Salesforce, Bulk API 2.0
 * results). Throws when a line has not a value for each name, or is longer than any record.
 */
export async function* csvLines(pieces: AsyncIterable<string>): AsyncGenerator<CsvPiece> {
  const reader = createReader();
  for await (const piece of pieces) yield { lines: reader.read(piece), characters: piece.length };
  const lines = reader.end();
  if (lines.length > 0) yield { lines, characters: 0 };
}

/** Reads whole lines, and keeps what is not whole for the next pieces. */
function createReader() {
  let rest = "";
  let looked = 0;
  let names: readonly string[] | null = null;

  const read = (piece: string, isLast = false): CsvLine[] => {
    const text = rest + piece;
    rest = text;
    // What is not whole is looked at again when it has doubled, so that an endless value costs two looks at each letter.
    if (text.length < 2 * looked && !isLast) return [];
    const lines: CsvLine[] = [];
    let at = 0;
    for (let bounds = boundsAt(text, at); bounds; bounds = boundsAt(text, at)) {
      if (bounds.values > MOST_NAMES) throw new Error(`the CSV has a line of ${bounds.values} values`);
      const line = text.slice(at, bounds.end);
      at = bounds.next;
      if (names === null) names = valuesIn({ names: [], text: line });
      else if (bounds.values === names.length) lines.push({ names, text: line });
      else throw new Error(`the CSV has a line of ${bounds.values} values for ${names.length} names`);
    }
    rest = text.slice(at);
    looked = rest.length;
    if (looked > LONGEST_LINE) throw new Error(`the CSV has a line of more than ${LONGEST_LINE} characters`);
    return lines;
  };

  const end = (): CsvLine[] => {
    const lines = read("", true);
    if (rest !== "") lines.push(...read("\n", true));
    if (rest !== "") throw new Error("the CSV ends within a quoted value");
    return lines;
  };
  return { read, end };
}
