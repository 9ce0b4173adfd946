import { type Figure, median, percentile, sum } from "../bench/figures.ts";
import type { Sample } from "./sample.ts";

/** The most that the live heap may grow in an hour, once the product is warm; V8 compiles and optimizes for longer. */
const MOST_GROWTH_MB = 2;

const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;
const MB = 1e6;

/** What the samples and the end say, with the bars. */
export function figuresOf(samples: readonly Sample[], differences: number): Figure[] {
  const last = samples.at(-1);
  if (!last) return [{ name: "samples", value: 0, unit: "", atLeast: 1 }];
  // A restart makes another process, whose heap has nothing to do with the one before.
  const lastHour = samples.filter(({ pid, minutes }) => pid === last.pid && minutes >= last.minutes - HOUR_MINUTES);
  const growth = (of: (sample: Sample) => number) => growthPerMinute(lastHour, of) / MB;
  const parts = Object.keys(last.parts).map((part) => {
    const value = growth((sample) => sample.parts[part] ?? 0) * DAY_MINUTES;
    return { name: `data folder, ${part}: growth a day, extrapolated`, value, unit: "MB" };
  });
  const heap = growth((of) => of.heap - of.code) * HOUR_MINUTES;
  const seconds = (of: "toSalesforce" | "toPostgres") => samples.map((sample) => sample[of] ?? Infinity);
  return [
    { name: "live heap", value: last.heap / MB, unit: "MB" },
    { name: "  without compiled code, growth in the last hour", value: heap, unit: "MB", atMost: MOST_GROWTH_MB },
    { name: "compiled code, growth in the last hour", value: growth((of) => of.code) * HOUR_MINUTES, unit: "MB" },
    { name: "resident, growth in the last hour", value: growth((of) => of.resident) * HOUR_MINUTES, unit: "MB" },
    { name: "open files, most", value: Math.max(...samples.map(({ openFiles }) => openFiles)), unit: "" },
    { name: "data folder: growth a day, extrapolated", value: sum(parts.map(({ value }) => value)), unit: "MB" },
    ...parts,
    { name: "to Salesforce, p95", value: percentile(seconds("toSalesforce"), 95), unit: "s" },
    { name: "to PostgreSQL, p95", value: percentile(seconds("toPostgres"), 95), unit: "s" },
    { name: "rows and records that differ at the end", value: differences, unit: "", atMost: 0 },
  ];
}

/**
 * From the median of the first quarter of the samples to that of the last one: what a cycle holds just then makes single
 * samples swing by some megabytes.
 */
function growthPerMinute(samples: readonly Sample[], of: (sample: Sample) => number): number {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  const [first, last] = [samples.slice(0, quarter), samples.slice(-quarter)];
  const middle = (some: readonly Sample[]) => median(some.map(({ minutes }) => minutes));
  return (median(last.map(of)) - median(first.map(of))) / (middle(last) - middle(first));
}
