import { readFileSync } from "node:fs";
import { join } from "node:path";
import { METRICS_NAMESPACE } from "../../../lib/infra/grant-access.ts";
import { QUEUES, WORKERS } from "../../../lib/model/resources.ts";
import { AWS_METRICS } from "./aws-metrics.ts";
import type { Sample } from "./read-alarm.ts";

/** What is measured in one minute of a deployment, so many minutes after something broke; 0 and below: nothing has. */
type Measured = (minute: number) => readonly Metric[];
type Metric = Omit<Sample, "minute">;

const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A metric of AWS's own, which must be in the list with these dimensions. */
function aws(namespace: string, name: string, dimensions: Readonly<Record<string, string>>, value: number): Metric {
  const known = AWS_METRICS[`${namespace} ${name}`];
  if (JSON.stringify(known) !== JSON.stringify(Object.keys(dimensions).sort()))
    throw new Error(`AWS has no ${namespace} ${name} by ${Object.keys(dimensions)}`);
  return { namespace, name, dimensions, value };
}
const lambda = (name: string, metric: string, value: number) =>
  aws("AWS/Lambda", metric, { FunctionName: `bridge-dev-${name}` }, value);
const sqs = (queue: string, metric: string, value: number) =>
  aws("AWS/SQS", metric, { QueueName: `bridge-dev-${kebab(queue)}` }, value);
const dynamo = (table: string, metric: string, value: number, more = {}) =>
  aws("AWS/DynamoDB", metric, { TableName: `bridge-dev-${table}`, ...more }, value);
const own = (name: string, value: number): Metric => ({
  namespace: METRICS_NAMESPACE,
  name,
  dimensions: { Stage: "dev" },
  value,
});
const age = (queue: string, seconds: number) => sqs(queue, "ApproximateAgeOfOldestMessage", seconds);
const dead = (queue: string) => sqs(`${queue}-dead`, "ApproximateNumberOfMessagesVisible", 1);

/** A healthy deployment of ten mappings in two workspaces, of which AWS sends what is not zero. */
export const QUIET: Measured = (minute) => [
  own("MappingsSilent", 0),
  lambda("sweep-minute", "Invocations", 1),
  lambda("run-cycle", "Invocations", 12),
  lambda("fan-out-cycles", "Invocations", 2),
  ...([1, 3].includes(minute % 5) ? [sqs("fanOut", "NumberOfMessagesSent", 5)] : []),
  age("cycles", 600), // beats wait for their time
  age("loads", minute % 1440 < 20 ? 900 : 0), // the daily comparisons, one after the other
  age("provisioning", 1),
  age("deliveries", 6),
  age("events", 2),
  age("retriesLong", 900),
  own("RowsAccepted", 40),
  own("RowsFailed", minute % 7 === 0 ? 3 : 0),
  ...(minute % 1440 === 700 ? [own("OldestWaitingSeconds", 400), own("OrgBudgetUsed", 62)] : []), // a nightly import
  ...(minute % 1440 === 300 ? [own("CyclesFailed", 100), own("MappingsBroken", 1)] : []), // a database restarts
  ...(minute % 2880 === 100 ? [aws("AWS/ApiGateway", "5XXError", { ApiName: "bridge-dev-api", Stage: "dev" }, 2)] : []),
];

const without =
  (name: string, function_ = ""): Measured =>
  (minute) =>
    QUIET(minute).filter((one) => one.name !== name || (function_ && one.dimensions["FunctionName"] !== function_));

const plus =
  (broken: Measured): Measured =>
  (minute) => [...QUIET(minute), ...broken(minute)];

/** A message that its reader cannot read, seen so many times, each for as long as the queue hides it. */
function poisoned(queue: keyof typeof QUEUES): Measured {
  const readers = Object.values(WORKERS).filter((worker) => worker.queue === queue);
  const hidden = Math.max(...readers.map((one) => 6 * one.timeoutSeconds + one.batchWindowSeconds)) / 60;
  const { delaySeconds, maxReceives } = QUEUES[queue];
  return plus((minute) => {
    const received = (minute - delaySeconds / 60) / hidden;
    // The age of one that was received more than three times is not shown (SQS: poison-pill messages).
    return received >= maxReceives ? [dead(queue)] : received < 3 ? [age(queue, minute * 60)] : [];
  });
}

/** What is called now and then, and ends before it began. */
const dying = (name: string): Measured => plus((minute) => (minute % 2 === 1 ? [lambda(name, "Errors", 1)] : []));

/** Nothing comes from what stops; the beats that are under way end within ten minutes. */
const STOPPED: Measured = (minute) =>
  QUIET(minute).filter(({ dimensions }) => minute < 10 && !Object.values(dimensions).includes("bridge-dev-fan-out"));

/** What is measured in each outage, by its name in lib/infra/OUTAGES.md. */
export const OUTAGES: Readonly<Record<string, Measured>> = {
  "the key is disabled, or will be deleted": plus(() => [own("KeyUnusable", 1)]),
  "DynamoDB throttles the engine's table, and most cycles continue": plus(() => [
    dynamo("engine", "WriteThrottleEvents", 4),
    own("CyclesFailed", 100),
  ]),
  "DynamoDB answers with errors of its own": plus(() => [dynamo("engine", "SystemErrors", 30, { Operation: "Query" })]),
  "DynamoDB does not answer": (minute) => [
    ...without("MappingsSilent")(minute),
    lambda("sweep-minute", "Errors", 1),
    own("CyclesFailed", 1200),
  ],
  "SQS takes no beats": (minute) => [
    ...(minute < 10 ? QUIET(minute) : without("Invocations", "bridge-dev-run-cycle")(minute)),
    ...(minute % 5 === 1 ? [own("CyclesFailed", 100)] : []),
    ...(minute < 7 ? [] : [lambda("sweep-minute", "Errors", 1)]), // it sends what the ticks did not
  ],
  "EventBridge Scheduler stops": (minute) =>
    STOPPED(minute).filter(
      ({ name, dimensions }) => name !== "MappingsSilent" && dimensions["FunctionName"] !== "bridge-dev-sweep-minute",
    ),
  "the mappings' schedules stop, the sweep runs and sends their beats": (minute) => [
    ...QUIET(minute).filter(({ name }) => name !== "MappingsSilent" && name !== "NumberOfMessagesSent"),
    own("MappingsSilent", minute % 5 === 3 ? 10 : 0), // the sweep sends their beats
  ],
  "one database of many is down": plus((minute) => [own("CyclesFailed", 100), ...broken(minute)]),
  "one org of many refuses its user": plus((minute) => [own("CyclesFailed", 100), ...broken(minute)]),
  "DNS or the NAT gateway of the private network: no database is reached": plus((minute) => [
    own("CyclesFailed", 1200),
    ...broken(minute),
  ]),
  "one mapping makes `run-cycle` run out of memory": plus((minute) =>
    minute % 3 ? [] : [lambda("run-cycle", "Errors", 1)],
  ),
  "a load makes `load-mapping` run out of memory": dying("load-mapping"),
  "the event source of `run-cycle` is disabled": without("Invocations", "bridge-dev-run-cycle"),
  "more cycles than concurrent executions": plus((minute) => [age("cycles", 600 + minute * 60)]),
  "other functions use up the account's concurrency": plus(() => [aws("AWS/Lambda", "Throttles", {}, 3)]),
  "a poisoned message in `cycles`": poisoned("cycles"),
  "a poisoned message in `fan-out`": poisoned("fanOut"),
  "a poisoned message in `provisioning`": poisoned("provisioning"),
  "a poisoned message in `loads`": poisoned("loads"),
  "a poisoned message in `sweeps`": poisoned("sweeps"),
  "a poisoned message in `events`": poisoned("events"),
  "a poisoned message in `deliveries`": poisoned("deliveries"),
  "a poisoned message in `slow-deliveries`": poisoned("slowDeliveries"),
  "a poisoned message in `retries-short`": poisoned("retriesShort"),
  "a poisoned message in `retries-medium`": poisoned("retriesMedium"),
  "a poisoned message in `retries-long`": poisoned("retriesLong"),
  "a bad bundle of `fan-out-cycles`": dying("fan-out-cycles"),
  "a bad bundle of `run-cycle`": dying("run-cycle"),
  "a bad bundle of `load-mapping`": dying("load-mapping"),
  "a bad bundle of `provision-mapping`": dying("provision-mapping"),
  "a bad bundle of `sweep-minute`": (minute) => [
    ...without("MappingsSilent")(minute),
    lambda("sweep-minute", "Errors", 1),
  ],
  "a bad bundle of `dispatch-events`": dying("dispatch-events"),
  "a bad bundle of `deliver-webhook`": dying("deliver-webhook"),
  "`dispatch-events` is too slow for its events": plus((minute) => [age("events", minute * 60)]),
  "more deliveries than `deliver-webhook` can make": plus((minute) => [age("deliveries", minute * 60)]),
  "more deliveries of slow webhooks than slots": plus((minute) => [age("slowDeliveries", minute * 60)]),
  "a bad bundle of `read-metrics`": plus(() => [lambda("read-metrics", "Url5xxCount", 2)]),
  "a bad bundle of an endpoint that is called twice a minute": plus(() => [
    aws("AWS/ApiGateway", "5XXError", { ApiName: "bridge-dev-api", Stage: "dev" }, 2),
  ]),
  "a part of the minute sweep fails each time": plus(() => [lambda("sweep-minute", "Errors", 1)]),
  "Bridge's log lines do not become metrics any more": (minute) =>
    QUIET(minute).filter(({ namespace }) => namespace !== METRICS_NAMESPACE),
  "a change waits for Salesforce": plus((minute) => [own("OldestWaitingSeconds", minute * 60)]),
  "a new rule of the org refuses most rows": plus(() => [own("RowsFailed", 30)]),
  "the org's calls run out": plus(() => [own("OrgBudgetUsed", 91)]),
  "more is deleted than the limit allows": plus(() => [own("DeletesHeld", 939)]),
  "a forgotten pause": plus((minute) => (minute < 60 ? [] : [own("PausedSeconds", minute * 60)])),
};

/** Three cycles in a row fail within a minute, and the sweep counts it in the next. */
function broken(minute: number): readonly Metric[] {
  return minute < 2 ? [] : [own("MappingsBroken", 1)];
}

interface OutageLine {
  readonly outage: string;
  readonly alarm: string;
  readonly section: string;
  readonly minutes: number;
  readonly isBroken: boolean;
}

/** The table of lib/infra/OUTAGES.md; throws on a line that is not whole. */
export function readOutages(): readonly OutageLine[] {
  const page = readFileSync(join(import.meta.dirname, "../../../lib/infra/OUTAGES.md"), "utf8");
  const lines = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| what breaks"));
  return lines.map((line) => {
    const found = /^\| (.+) \| \[([\w-]+)\]\(RUNBOOK\.md#([\w-]+)\) \| (\d+) \| (broken|evaluated) \|$/.exec(line);
    if (!found) throw new Error(`not a line of an outage: ${line}`);
    const [, outage = "", alarm = "", section = "", minutes, tried] = found;
    return { outage, alarm, section, minutes: Number(minutes), isBroken: tried === "broken" };
  });
}
