import { cut, harmless, pad, widthOf } from "./width.ts";

/** A column of a table: its heading and what stands in it. */
export interface Column<Row> {
  readonly name: string;
  readonly of: (row: Row) => string | number | boolean | null | undefined;
  /** Numbers stand right. */
  readonly right?: boolean;
  /** Paints a cell that is already cut and padded. */
  readonly paint?: (cell: string, row: Row) => string;
}

const GAP = "  ";

/** A column is never made narrower than this to make a table fit. */
const LEAST_WIDTH = 8;

/** The lines of a table; with `columns` (cells of the terminal) the widest columns give way until it fits. */
export function tableLines<Row>(
  shown: readonly Column<Row>[],
  rows: readonly Row[],
  columns: number | null,
  heading: (text: string) => string,
): readonly string[] {
  const texts = rows.map((row) => shown.map(({ of }) => harmless(String(of(row) ?? ""))));
  const wanted = shown.map(({ name }, at) =>
    Math.max(widthOf(name), ...texts.map((cells) => widthOf(cells[at] ?? ""))),
  );
  const widths = columns === null ? wanted : squeeze(wanted, columns - GAP.length * (shown.length - 1));
  const line = (cells: readonly string[]) => cells.join(GAP).trimEnd();
  const place = (text: string, at: number) => {
    const width = widths[at] ?? 0;
    const short = cut(text, width);
    return shown[at]?.right ? " ".repeat(Math.max(0, width - widthOf(short))) + short : pad(short, width);
  };
  return [
    heading(line(shown.map(({ name }, at) => place(name, at)))),
    ...rows.map((row, index) =>
      line((texts[index] ?? []).map((text, at) => shown[at]?.paint?.(place(text, at), row) ?? place(text, at))),
    ),
  ];
}

/** Widths that sum up to at most `total`, taken from the widest first. */
function squeeze(wanted: readonly number[], total: number): readonly number[] {
  const widths = [...wanted];
  let over = widths.reduce((sum, width) => sum + width, 0) - total;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= LEAST_WIDTH) break;
    const at = widths.indexOf(widest);
    widths[at] = widest - 1;
    over -= 1;
  }
  return widths;
}
