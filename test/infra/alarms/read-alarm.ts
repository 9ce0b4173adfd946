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
