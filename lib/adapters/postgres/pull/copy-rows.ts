import { chunks } from "../../../model/chunks.ts";
import { isZoneless, type MappedTable, name, qualified, type StoreContext } from "../session/sql.ts";
import type { RowToWrite } from "./row-to-write.ts";

/** Lines that go to the server as one message. */
const LINES_AT_ONCE = 200;

/**
 * Inserts rows by COPY, which takes half the time of an INSERT. Triggers run for them as for any row, and each text is
 * read by its column's own type; `keyed` rows bring their keys along.
 */
export async function copyRows(
  { session }: StoreContext,
  { shape, layout }: MappedTable,
  columns: readonly string[],
  rows: readonly RowToWrite[],
  keyed: boolean,
): Promise<void> {
  const into = [...(keyed ? [layout.key] : []), "sfid", "systemmodstamp", "isdeleted", "_ab_lastop", ...columns];
  const zoneless = new Set(columns.filter((column) => isZoneless(layout, column)));
  const before = keyed ? 5 : 4;
  // One array for all lines: a load has as many lines as records.
  const fields: string[] = Array.from({ length: before + columns.length }, () => "");
  const lineOf = ({ key, sfid, stamp, values }: RowToWrite) => {
    if (keyed) fields[0] = String(key);
    fields[before - 4] = fieldOf(sfid, false);
    fields[before - 3] = stamp.toISOString();
    fields[before - 2] = "f";
    fields[before - 1] = "SYNCED";
    for (const [index, column] of columns.entries()) {
      fields[before + index] = fieldOf(values[column] ?? null, zoneless.has(column));
    }
    return fields.join("\t");
  };
  await session.copy(
    `COPY ${qualified(shape.schema, shape.table)} (${into.map(name).join(", ")}) FROM STDIN`,
    piecesOf(rows, lineOf),
  );
}

function* piecesOf(rows: readonly RowToWrite[], lineOf: (row: RowToWrite) => string): Generator<string> {
  for (const some of chunks(rows, LINES_AT_ONCE)) yield `${some.map(lineOf).join("\n")}\n`;
}

/** A value in COPY's text format. A column without a zone would drop the one that an instant names. */
function fieldOf(text: string | null, isInstantInUtc: boolean): string {
  if (text === null) return "\\N";
  if (isInstantInUtc) return new Date(text).toISOString();
  return SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, (letter) => ESCAPES[letter] ?? letter) : text;
}

const SPECIAL = /[\\\n\r\t]/;
const EVERY_SPECIAL = /[\\\n\r\t]/g;
const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
