/** One line of the summary. Bars were set before anything was measured, and are never loosened. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

export const isMissed = ({ value, atMost = Infinity, atLeast = -Infinity }: Figure): boolean =>
  Number.isNaN(value) || value > atMost || value < atLeast;

/** Prints each figure with its bar and the verdict, or all as JSON; a missed bar makes the process end with 1. */
export function report(figures: readonly Figure[], { json = false }: { readonly json?: boolean } = {}): void {
  if (json) console.log(JSON.stringify(figures.map((figure) => ({ ...figure, missed: isMissed(figure) }))));
  else for (const figure of figures) console.log(lineOf(figure));
  if (figures.some(isMissed)) process.exitCode = 1;
}

function lineOf(figure: Figure): string {
  const { name, value, unit, atMost, atLeast } = figure;
  const bar = atMost !== undefined ? `at most ${atMost}` : atLeast !== undefined ? `at least ${atLeast}` : "";
  const verdict = bar === "" ? "" : isMissed(figure) ? "MISSED" : "ok";
  return `${name.padEnd(58)} ${value.toFixed(2).padStart(10)} ${unit.padEnd(4)} ${bar.padEnd(14)} ${verdict}`.trimEnd();
}

export const median = (values: readonly number[]): number => percentile(values, 50);

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

export const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** Processor time of this process so far, in milliseconds. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Says on stderr how far it is, with the seconds since the start. */
export function say(text: string): void {
  console.error(`${(performance.now() / 1000).toFixed(0).padStart(5)} s  ${text}`);
}
