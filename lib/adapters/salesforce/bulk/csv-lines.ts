import { boundsAt, type CsvLine, valuesIn } from "../../../model/record/csv-line.ts";
import type { BulkPiece } from "../../../sync/load/load-ports.ts";

/**
 * Lines of a CSV answer of the Bulk API as its pieces come: the first line names the fields (Salesforce, Bulk API 2.0
 * results). Throws when a line has not a value for each name.
 */
export async function* csvLines(pieces: AsyncIterable<string>): AsyncGenerator<BulkPiece> {
  const reader = createReader();
  for await (const piece of pieces) yield { lines: reader.read(piece), characters: piece.length };
  const lines = reader.end();
  if (lines.length > 0) yield { lines, characters: 0 };
}

/** Reads whole lines, and keeps what is not whole for the next piece. */
function createReader() {
  let rest = "";
  let names: readonly string[] | null = null;

  const read = (piece: string): CsvLine[] => {
    const text = rest + piece;
    const lines: CsvLine[] = [];
    let at = 0;
    for (let bounds = boundsAt(text, at); bounds; bounds = boundsAt(text, at)) {
      const line = text.slice(at, bounds.end);
      at = bounds.next;
      if (names === null) names = valuesIn({ names: [], text: line });
      else if (bounds.values === names.length) lines.push({ names, text: line });
      else throw new Error(`the CSV has a line of ${bounds.values} values for ${names.length} names`);
    }
    rest = text.slice(at);
    return lines;
  };

  const end = (): CsvLine[] => {
    const lines = rest === "" ? [] : read("\n");
    if (rest !== "") throw new Error("the CSV ends within a quoted value");
    return lines;
  };
  return { read, end };
}
