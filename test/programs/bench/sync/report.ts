import { barOf, type Figure, isMissed } from "./figure.ts";

/** Prints each figure with its bar and the verdict, or all as JSON; a missed bar makes the process end with 1. */
export function report(figures: readonly Figure[], { json = false }: { readonly json?: boolean } = {}): void {
  if (json) console.log(JSON.stringify(figures.map((figure) => ({ ...figure, missed: isMissed(figure) }))));
  else for (const figure of figures) console.log(lineOf(figure));
  if (figures.some(isMissed)) process.exitCode = 1;
}

function lineOf(figure: Figure): string {
  const { name, value, unit } = figure;
  const bar = barOf(figure);
  const verdict = bar === "" ? "" : isMissed(figure) ? "MISSED" : "ok";
  return `${name.padEnd(58)} ${value.toFixed(2).padStart(10)} ${unit.padEnd(4)} ${bar.padEnd(14)} ${verdict}`.trimEnd();
}
