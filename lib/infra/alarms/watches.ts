import { Duration } from "aws-cdk-lib";
import { type IMetric, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import { QUEUES, type QueueName, type TableName, WORKERS, type WorkerName } from "../../model/resources.ts";
import { METRICS_NAMESPACE } from "../grant-access.ts";
import { nameIn, type Settings } from "../options/settings.ts";

/** What wakes a person. The description leads to the section of RUNBOOK.md with the alarm's name. */
export interface Watch {
  readonly metric: IMetric;
  /** Rings when the metric is above this; null: when it is zero or silent … */
  readonly above: number | null;
  /** … in so many periods of five minutes, one after the other. */
  readonly periods: number;
  readonly says: string;
}

const PERIOD = Duration.minutes(5);

/** The alarms of a stage, by name. */
export function watchesOf(stage: Settings["stage"]): Record<string, Watch> {
  return {
    "cycles-missing": {
      metric: runsWithoutWork(stage),
      above: 0,
      periods: 2,
      says: "Beats are sent, but no cycle runs: no row moves",
    },
    "cycles-late": {
      metric: ageOf(stage, "cycles"),
      above: 900, // a beat waits ten minutes for its time, and a cycle at work counts as well
      periods: 2,
      says: "The oldest cycle is at least five minutes late, and so are its rows",
    },
    "cycles-failing": {
      metric: failingCycles(stage),
      above: 25,
      periods: 2,
      says: "More than a quarter of the cycles do not begin, or are ended by an error",
    },
    "sweeper-silent": {
      metric: ofRows(stage, "MappingsSilent", "SampleCount"),
      above: null,
      periods: 2,
      says: "The minute sweep reports nothing: lost messages are not repaired, and the alarms on its figures cannot ring",
    },
    "mappings-silent": {
      metric: ofRows(stage, "MappingsSilent", "Maximum"),
      above: 0,
      periods: 2,
      says: "Ticks of active mappings are missing, or no cycle of a mapping has ended for six minutes: its rows do not move",
    },
    "mappings-broken": {
      metric: ofRows(stage, "MappingsBroken", "Maximum"),
      above: 0,
      periods: 2,
      says: "An active mapping is broken: its database or its org fails, or a person has to decide",
    },
    "provisioning-overdue": {
      metric: ageOf(stage, "provisioning"),
      above: 900, // three times as long as a function works on one
      periods: 2,
      says: "A change of configuration is not carried out after fifteen minutes",
    },
    "loads-overdue": {
      metric: ageOf(stage, "loads"),
      above: 1800, // twice as long as a function works on one
      periods: 2,
      says: "A load does not continue, or waits for more than half an hour",
    },
    "deliveries-overdue": {
      metric: ageOf(stage, "deliveries"),
      above: 300,
      periods: 2,
      says: "The oldest first attempt of a delivery waits for more than five minutes",
    },
    "slow-deliveries-overdue": {
      metric: ageOf(stage, "slowDeliveries"),
      above: 1800, // one that finds no turn is sent again, with a delay of 7.5 minutes at most
      periods: 2,
      says: "The oldest attempt for a slow webhook waits for more than half an hour",
    },
    "events-overdue": {
      metric: ageOf(stage, "events"),
      above: 300,
      periods: 2,
      says: "The oldest event waits for more than five minutes to become deliveries",
    },
    "api-faults": {
      metric: new Metric({
        namespace: "AWS/ApiGateway",
        metricName: "5XXError",
        dimensionsMap: { ApiName: nameIn(stage, "api"), Stage: stage },
        statistic: "Sum",
        period: PERIOD,
      }),
      above: 5,
      periods: 1,
      says: "The API answered 5xx to more than five requests in five minutes",
    },
    "rows-waiting": {
      metric: ofRows(stage, "OldestWaitingSeconds", "Maximum"),
      above: 900,
      periods: 2,
      says: "A change has been waiting for Salesforce for more than fifteen minutes",
    },
    "rows-failing": {
      metric: failingRows(stage),
      above: 20,
      periods: 3,
      says: "Salesforce refuses more than a fifth of the rows that are sent to it",
    },
    "org-budget": {
      metric: ofRows(stage, "OrgBudgetUsed", "Maximum"),
      above: 85,
      periods: 1,
      says: "Bridge and all other clients of an org have used more than 85 % of its daily calls",
    },
    "deletes-held": {
      metric: ofRows(stage, "DeletesHeld", "Maximum"),
      above: 0,
      periods: 1,
      says: "More deletes came in an hour than the limit allows; the rest wait until an operator confirms or rejects them",
    },
    paused: {
      metric: ofRows(stage, "PausedSeconds", "Maximum"),
      above: 86_400,
      periods: 1,
      says: "A workspace, or the whole deployment, has been paused for more than a day: nothing moves there",
    },
    throttles: {
      metric: new Metric({ namespace: "AWS/Lambda", metricName: "Throttles", statistic: "Sum", period: PERIOD }),
      above: 0,
      periods: 2,
      says: "Lambda refused calls because the account's concurrent executions are used up",
    },
    "metrics-failing": {
      metric: ofFunction(stage, "read-metrics", "Url5xxCount"),
      above: 3,
      periods: 2,
      says: "The metrics URL answers 5xx: Prometheus sees nothing",
    },
    "dynamodb-failing": {
      metric: refusalsOfDynamo(stage),
      above: 10,
      periods: 2,
      says: "DynamoDB throttles the tables that every cycle uses, or fails",
    },
    "key-unusable": {
      metric: ofRows(stage, "KeyUnusable", "Maximum"),
      above: 0,
      periods: 1,
      says: "The key of all credentials is disabled, or will be deleted within days, and every credential with it",
    },
    ...Object.fromEntries((Object.keys(WORKERS) as WorkerName[]).map((name) => deaths(stage, name))),
    ...Object.fromEntries((Object.keys(QUEUES) as QueueName[]).map((name) => deadLetters(stage, name))),
  };
}

/** What a worker reports of a message is no error to Lambda: only what is thrown, out of memory or out of time. */
function deaths(stage: Settings["stage"], name: WorkerName): [string, Watch] {
  return [
    `worker-dies-${name}`,
    {
      metric: ofFunction(stage, name, "Errors"),
      above: 0,
      periods: name === "sweep-minute" ? 2 : 1, // it throws what any of its parts throws, and repeats all of it
      says: `The function ${nameIn(stage, name)} died: out of memory, out of time, or a defect`,
    },
  ];
}

function deadLetters(stage: Settings["stage"], name: QueueName): [string, Watch] {
  const dead = nameIn(stage, `${name}-dead`);
  return [
    `dead-letters-${nameIn(stage, name).slice(`bridge-${stage}-`.length)}`,
    {
      metric: ofQueue(dead, "ApproximateNumberOfMessagesVisible"),
      above: 0,
      periods: 1,
      says: `A message failed as often as its queue allows, and is kept in ${dead}`,
    },
  ];
}

/** 1 while beats are sent and nothing runs them; a stage without active mappings sends none. */
function runsWithoutWork(stage: Settings["stage"]): MathExpression {
  return new MathExpression({
    expression: "IF(FILL(sent, 0) > 0 AND FILL(runs, 0) == 0, 1, 0)",
    usingMetrics: {
      sent: ofQueue(nameIn(stage, "fanOut"), "NumberOfMessagesSent", "Sum"),
      runs: ofFunction(stage, "run-cycle", "Invocations"),
    },
    label: "beats without cycles",
    period: PERIOD,
  });
}

/**
 * Per cent of a call's cycles that failed, on average over all calls: those without a failure report nothing, and count
 * as 0. A call that died, or ran out of time, reports nothing either: all of its cycles failed.
 */
function failingCycles(stage: Settings["stage"]): MathExpression {
  return new MathExpression({
    expression: "(FILL(failed, 0) + 100 * FILL(died, 0)) / FILL(runs, 1)",
    usingMetrics: {
      failed: ofRows(stage, "CyclesFailed", "Sum"),
      died: ofFunction(stage, "run-cycle", "Errors"),
      runs: ofFunction(stage, "run-cycle", "Invocations"),
    },
    label: "cycles that failed, %",
    period: PERIOD,
  });
}

/** Of the tables that every cycle uses: what hits another one shows in its own queue or in the API. */
function refusalsOfDynamo(stage: Settings["stage"]): MathExpression {
  const usingMetrics = {
    engineWrites: ofTable(stage, "engine", "WriteThrottleEvents"),
    engineReads: ofTable(stage, "engine", "ReadThrottleEvents"),
    counterWrites: ofTable(stage, "counters", "WriteThrottleEvents"),
    mappingReads: ofTable(stage, "mappings", "ReadThrottleEvents"),
    workspaceReads: ofTable(stage, "workspaces", "ReadThrottleEvents"),
    faults: ofTable(stage, "engine", "SystemErrors", { Operation: "Query" }),
  };
  const expression = Object.keys(usingMetrics)
    .map((name) => `FILL(${name}, 0)`)
    .join(" + ");
  return new MathExpression({ expression, usingMetrics, label: "requests that DynamoDB refused", period: PERIOD });
}

/** Per cent of the rows that were refused; a handful of rows says nothing about all. */
function failingRows(stage: Settings["stage"]): MathExpression {
  return new MathExpression({
    expression: `IF(accepted + failed >= ${ROWS_THAT_TELL}, 100 * failed / (accepted + failed), 0)`,
    usingMetrics: { accepted: ofRows(stage, "RowsAccepted", "Sum"), failed: ofRows(stage, "RowsFailed", "Sum") },
    label: "rows refused by Salesforce, %",
    period: PERIOD,
  });
}

const ROWS_THAT_TELL = 10;

/** Figures that the workers report themselves, in the embedded metric format. */
function ofRows(stage: Settings["stage"], metricName: string, statistic: string): Metric {
  return new Metric({
    namespace: METRICS_NAMESPACE,
    metricName,
    dimensionsMap: { Stage: stage },
    statistic,
    period: PERIOD,
  });
}

const ageOf = (stage: Settings["stage"], name: QueueName): Metric =>
  ofQueue(nameIn(stage, name), "ApproximateAgeOfOldestMessage");

function ofQueue(QueueName: string, metricName: string, statistic = "Maximum"): Metric {
  return new Metric({ namespace: "AWS/SQS", metricName, dimensionsMap: { QueueName }, statistic, period: PERIOD });
}

function ofFunction(stage: Settings["stage"], name: string, metricName: string): Metric {
  const dimensionsMap = { FunctionName: nameIn(stage, name) };
  return new Metric({ namespace: "AWS/Lambda", metricName, dimensionsMap, statistic: "Sum", period: PERIOD });
}

function ofTable(
  stage: Settings["stage"],
  name: TableName,
  metricName: string,
  more: Record<string, string> = {},
): Metric {
  const dimensionsMap = { TableName: nameIn(stage, name), ...more };
  return new Metric({ namespace: "AWS/DynamoDB", metricName, dimensionsMap, statistic: "Sum", period: PERIOD });
}
