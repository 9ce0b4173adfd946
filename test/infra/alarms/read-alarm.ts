import type { Json } from "../assembly.ts";

/** One metric as an alarm watches it. */
export interface WatchedMetric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly statistic: string;
  readonly periodSeconds: number;
}

/** An alarm as CloudWatch reads it from the template. */
export interface ReadAlarm {
  readonly name: string;
  /** The metrics by the names that the expression uses. */
  readonly metrics: Readonly<Record<string, WatchedMetric>>;
  /** A metric's name where there is only one. */
  readonly expression: string;
  readonly threshold: number;
  readonly isBelow: boolean;
  readonly periods: number;
  readonly isMissingBreaching: boolean;
}

/** Reads the properties of an `AWS::CloudWatch::Alarm`. Throws on what the evaluation does not know. */
export function readAlarm(properties: Json): ReadAlarm {
  const queries = Object.values(properties["Metrics"] ?? {});
  const calculated = queries.find((query) => query["Expression"] !== undefined);
  const only = queries.length === 0 ? { only: watched(properties, properties) } : null;
  const stats = queries
    .filter((query) => query["MetricStat"] !== undefined)
    .map((query) => [String(query["Id"]), watched(query["MetricStat"]?.["Metric"] ?? {}, query["MetricStat"] ?? {})]);
  const comparison = String(properties["ComparisonOperator"]);
  const missing = String(properties["TreatMissingData"]);
  if (!["GreaterThanThreshold", "LessThanThreshold"].includes(comparison)) throw new Error(`unknown: ${comparison}`);
  if (!["breaching", "notBreaching"].includes(missing)) throw new Error(`unknown: ${missing}`);
  if (properties["DatapointsToAlarm"] !== undefined) throw new Error("unknown: DatapointsToAlarm");
  return {
    name: String(properties["AlarmName"]),
    metrics: only ?? Object.fromEntries(stats),
    expression: only ? "only" : String(calculated?.["Expression"]),
    threshold: Number(properties["Threshold"]),
    isBelow: comparison === "LessThanThreshold",
    periods: Number(properties["EvaluationPeriods"]),
    isMissingBreaching: missing === "breaching",
  };
}

/** What CloudWatch takes $0.10 a month for, each. */
export const metricsOf = ({ metrics }: ReadAlarm): readonly WatchedMetric[] => Object.values(metrics);

function watched(metric: Json, stat: Json): WatchedMetric {
  const dimensions = Object.values(metric["Dimensions"] ?? {});
  return {
    namespace: String(metric["Namespace"]),
    name: String(metric["MetricName"]),
    dimensions: Object.fromEntries(dimensions.map(({ Name, Value }) => [String(Name), String(Value)])),
    statistic: String(stat["Statistic"] ?? stat["Stat"]),
    periodSeconds: Number(stat["Period"]),
  };
}

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
