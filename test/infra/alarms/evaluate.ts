import type { ReadAlarm, WatchedMetric } from "./read-alarm.ts";

/** One datum of a metric. */
export interface Sample extends Pick<WatchedMetric, "namespace" | "name" | "dimensions"> {
  /** Minutes since the beginning. */
  readonly minute: number;
  readonly value: number;
}

/** Samples by metric, as CloudWatch keeps them. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

export const bySeries = (samples: readonly Sample[]): Samples => Map.groupBy(samples, seriesOf);

const seriesOf = ({ namespace, name, dimensions }: Omit<Sample, "minute" | "value">): string =>
  JSON.stringify([namespace, name, Object.entries(dimensions).sort()]);

/**
 * The minutes at whose end an alarm rings, up to a minute, as CloudWatch evaluates it (Amazon CloudWatch User Guide,
 * Evaluating an alarm): by whole periods, the last `periods` of which must all breach; missing data count as the alarm
 * says.
 */
export function ringsAt(alarm: ReadAlarm, samples: Samples, until: number): readonly number[] {
  const length = periodOf(alarm);
  const ends = Array.from({ length: Math.floor(until / length) }, (_, at) => (at + 1) * length);
  const breaches = valuesOf(alarm, samples, ends.length, length).map((value) => {
    if (value === null) return alarm.isMissingBreaching;
    return alarm.isBelow ? value < alarm.threshold : value > alarm.threshold;
  });
  return ends.filter(
    (_, at) => at + 1 >= alarm.periods && breaches.slice(at + 1 - alarm.periods, at + 1).every(Boolean),
  );
}

function periodOf({ metrics }: ReadAlarm): number {
  const [seconds = 0, ...others] = [...new Set(Object.values(metrics).map(({ periodSeconds }) => periodSeconds))];
  if (others.length > 0) throw new Error("an alarm of several periods is not known here");
  return seconds / 60;
}

/** The expression's value in each period; null: missing. */
function valuesOf({ metrics, expression }: ReadAlarm, samples: Samples, count: number, length: number) {
  const names = Object.keys(metrics);
  const columns = names.map((name) => column(metrics[name] as WatchedMetric, samples, count, length));
  const calculate = compile(expression, names);
  return Array.from({ length: count }, (_, at) => calculate(columns.map((values) => values[at] ?? null)));
}

function column(metric: WatchedMetric, samples: Samples, count: number, length: number): readonly (number | null)[] {
  const periods: number[][] = Array.from({ length: count }, () => []);
  for (const { minute, value } of samples.get(seriesOf(metric)) ?? [])
    periods[Math.floor(minute / length)]?.push(value);
  return periods.map((values) => (values.length === 0 ? null : statisticOf(metric.statistic, values)));
}

function statisticOf(statistic: string, values: readonly number[]): number {
  if (statistic === "Sum") return values.reduce((sum, value) => sum + value, 0);
  if (statistic === "Maximum") return Math.max(...values);
  if (statistic === "SampleCount") return values.length;
  throw new Error(`the statistic ${statistic} is not known here`);
}

/** What the templates use of metric math: arithmetic, comparisons, AND, IF and FILL with a number. */
const KNOWN = /^(?:[\s()+\-*/,.\d]|>=|==|>|<|&&|\b(?:IF|FILL)\b|\b[a-z]\w*\b)*$/;

/** What is missing, and not filled, leaves the whole missing. */
function compile(expression: string, names: readonly string[]): (values: readonly (number | null)[]) => number | null {
  const text = expression.replaceAll(/\bAND\b/g, "&&");
  if (!KNOWN.test(text)) throw new Error(`this metric math is not known here: ${expression}`);
  const FILL = (value: number | null, instead: number) => value ?? instead;
  const IF = (condition: boolean, then: number, otherwise: number) => (condition ? then : otherwise);
  const run = new Function("FILL", "IF", ...names, `return (${text})`);
  const bare = text.replaceAll(/FILL\(\w+,/g, "");
  const needed = names.map((name) => new RegExp(`\\b${name}\\b`).test(bare));
  return (values) =>
    values.some((value, at) => value === null && needed[at]) ? null : Number(run(FILL, IF, ...values));
}
