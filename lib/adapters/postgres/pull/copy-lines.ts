import { chunks } from "../../../model/chunks.ts";
import type { Column } from "../../../model/mapping/shape.ts";
import { type CsvLine, rewritten } from "../../../model/record/csv-line.ts";
import { rewriteOf } from "../../../model/record/incoming.ts";
import type { Image } from "../../../model/record/record.ts";
import { isZoneless, type MappedTable, name, qualified, type StoreContext } from "../session/sql.ts";

/** Lines that go to the server as one message. */
const LINES_AT_ONCE = 200;

/** Lines of CSV that go into a table, the columns for their values, and the lines' texts. */
export interface Copyable {
  readonly columns: readonly string[];
  readonly lines: readonly CsvLine[];
  readonly textOf: (line: CsvLine) => string;
}

/**
 * The lines of new images, if a row is nothing but its line: each image has one, all with the same names, and PostgreSQL
 * reads their values as `insertRows` would write them. Null: it is not so.
 */
export function copyableLines({ shape, layout }: MappedTable, images: readonly Image[]): Copyable | null {
  const names = images[0]?.line?.names;
  if (names === undefined || !layout.takesCopies) return null;
  const columns = names.map((field) => OWN[field] ?? shape.columns.find((column) => pathOf(column) === field)?.column);
  const written = columns.filter((column) => column !== undefined);
  if (new Set(written).size !== names.length || !shape.columns.every(({ column }) => written.includes(column)))
    return null;
  const rewrites = names.map((field) => {
    const column = shape.columns.find((one) => pathOf(one) === field);
    return column === undefined ? null : rewriteOf(column);
  });
  if (written.some((column) => layout.generated.includes(column) || isZoneless(layout, column))) return null;
  const lines: CsvLine[] = [];
  for (const { line } of images) {
    if (line?.names !== names || line.text.includes(END_OF_COPY)) return null;
    lines.push(line);
  }
  const isAsItCame = rewrites.every((rewrite) => rewrite === null);
  return { columns: written, lines, textOf: isAsItCame ? ({ text }) => text : (line) => rewritten(line, rewrites) };
}

const OWN: Readonly<Record<string, string>> = { Id: "sfid", SystemModstamp: "systemmodstamp", IsDeleted: "isdeleted" };

const pathOf = ({ field, parent }: Column) => (parent ? `${parent.relationship}.${parent.field}` : field);

/** Alone on a line it ends a COPY, before PostgreSQL 18 in some places also within a value. */
const END_OF_COPY = "\\.";

/**
 * Inserts rows by COPY from the lines of CSV in which their records came: only numbers and times are written again on the way.
 * Triggers run for them as for any row, and each text is read by its column's own type.
 */
export async function copyLines(
  { session }: StoreContext,
  { shape }: MappedTable,
  { columns, lines, textOf }: Copyable,
): Promise<void> {
  const more = { _ab_lastop: "SYNCED", ...(columns.includes("isdeleted") ? {} : { isdeleted: "f" }) };
  const end = `,${Object.values(more).join(",")}\n`;
  await session.copy(
    `COPY ${qualified(shape.schema, shape.table)} (${[...columns, ...Object.keys(more)].map(name).join(", ")})
     FROM STDIN (FORMAT csv, FORCE_NULL (${columns.map(name).join(", ")}))`,
    messagesOf(lines.map(textOf), end),
  );
}

function* messagesOf(lines: readonly string[], end: string): Generator<string> {
  for (const some of chunks(lines, LINES_AT_ONCE)) yield some.join(end) + end;
}
