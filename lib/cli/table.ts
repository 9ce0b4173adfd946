import { cut, harmless, pad, widthOf } from "./width.ts";

/** A column of a table: its heading and its cells. */
export interface Column<Row> {
  readonly name: string;
  readonly of: (row: Row) => string | number | boolean | null | undefined;
  /** Numbers are aligned right. */
  readonly right?: boolean;
  /** How people say it; a program that reads the table gets it as it is. */
  readonly short?: (text: string) => string;
  /** May be left out of a table that does not fit; the last one first. */
  readonly spare?: boolean;
  /** What is copied from the table, an id, is never cut. */
  readonly whole?: boolean;
  /** Is cut last: below this width each row is a block of lines, and this one is whole. */
  readonly least?: number;
  /** Paints a cell that is already cut and padded. */
  readonly paint?: (cell: string, row: Row) => string;
}

const GAP = "  ";

/** A column is never made narrower than this to make a table fit. */
const LEAST_WIDTH = 8;

/**
 * The lines of a table. With `columns` (cells of the terminal) what is too wide is first left out where it can be, then
 * cut, the widest first. Where ids or a reason leave no room for a table, each row is a block of lines.
 */
export function tableLines<Row>(
  given: readonly Column<Row>[],
  rows: readonly Row[],
  columns: number | null,
  heading: (text: string) => string,
): readonly string[] {
  const asked = given.map((column) => ({ ...column, name: harmless(column.name) }));
  const shown = columns === null ? asked.map((column) => measured(column, rows, false)) : fitting(asked, rows, columns);
  const widths = columns === null ? shown.map(({ width }) => width) : squeeze(shown, columns - gaps(shown.length));
  const isTight = shown.some(({ column, width }, at) => (widths[at] ?? 0) < Math.min(width, column.least ?? 0));
  if (columns !== null && (lengthOf(widths) > columns || isTight)) return blocks(asked, rows, heading);
  const line = (cells: readonly string[]) => cells.join(GAP).trimEnd();
  const place = (text: string, at: number) => {
    const width = widths[at] ?? 0;
    const short = cut(text, width);
    return shown[at]?.column.right ? " ".repeat(Math.max(0, width - widthOf(short))) + short : pad(short, width);
  };
  return [
    heading(line(shown.map(({ column }, at) => place(column.name, at)))),
    ...rows.map((row, index) =>
      line(
        shown.map(({ column, texts }, at) => {
          const cell = place(texts[index] ?? "", at);
          return column.paint?.(cell, row) ?? cell;
        }),
      ),
    ),
  ];
}

interface Measured<Row> {
  readonly column: Column<Row>;
  readonly texts: readonly string[];
  readonly width: number;
}

const gaps = (count: number): number => GAP.length * Math.max(0, count - 1);

const lengthOf = (widths: readonly number[]): number => widths.reduce((sum, width) => sum + width, gaps(widths.length));

/** Every cell on a line of its own, whole, and an empty line between rows. */
function blocks<Row>(columns: readonly Column<Row>[], rows: readonly Row[], heading: (text: string) => string) {
  const width = Math.max(...columns.map(({ name }) => widthOf(name)));
  const lines = rows.map((row) =>
    columns.map(({ name, of, short, paint }) => {
      const long = harmless(String(of(row) ?? ""));
      const text = short?.(long) ?? long;
      return `${heading(pad(name, width))}${GAP}${paint?.(text, row) ?? text}`.trimEnd();
    }),
  );
  return lines.flatMap((block, at) => (at === 0 ? block : ["", ...block]));
}

function measured<Row>(column: Column<Row>, rows: readonly Row[], shortly: boolean): Measured<Row> {
  const texts = rows.map((row) => {
    const text = harmless(String(column.of(row) ?? ""));
    return shortly && column.short ? column.short(text) : text;
  });
  return { column, texts, width: Math.max(widthOf(column.name), ...texts.map(widthOf)) };
}

function fitting<Row>(asked: readonly Column<Row>[], rows: readonly Row[], columns: number): readonly Measured<Row>[] {
  const fits = (some: readonly Measured<Row>[]) => lengthOf(some.map(({ width }) => width)) <= columns;
  let shown = asked.map((column) => measured(column, rows, true));
  while (!fits(shown)) {
    const spare = shown.findLastIndex(({ column }) => column.spare);
    if (spare === -1) break;
    shown = shown.toSpliced(spare, 1);
  }
  return shown;
}

/** Widths that sum up to at most `total` if that can be, taken from the widest first, from times last, from ids never. */
function squeeze<Row>(shown: readonly Measured<Row>[], total: number): readonly number[] {
  const widths = shown.map(({ width }) => width);
  const over = () => widths.reduce((sum, width) => sum + width, 0) - total;
  for (const mayCutTimes of [false, true]) {
    while (over() > 0) {
      const open = widths.map((width, at) => (isFixed(shown[at]?.column, mayCutTimes) ? 0 : width));
      const widest = Math.max(...open);
      if (widest <= LEAST_WIDTH) break;
      widths[open.indexOf(widest)] = widest - 1;
    }
  }
  return widths;
}

/** What is of no use when it is cut: ids; and of little, what was said as shortly as it can be. */
const isFixed = <Row>(column: Column<Row> | undefined, mayCutTimes: boolean): boolean =>
  Boolean(column?.whole || (column?.short && !mayCutTimes));
