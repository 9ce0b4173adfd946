import { sqsError, within } from "./errors.ts";
import type { SqsInput } from "./inputs.ts";
import type { Queue } from "./queue.ts";
import type { Queues } from "./queues.ts";

const COUNTS = [
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesDelayed",
  "ApproximateNumberOfMessagesNotVisible",
];
const ASSIGNED = [...COUNTS, "CreatedTimestamp", "LastModifiedTimestamp", "QueueArn"];
const SETTABLE = [
  "DelaySeconds",
  "KmsDataKeyReusePeriodSeconds",
  "KmsMasterKeyId",
  "MaximumMessageSize",
  "MessageRetentionPeriod",
  "Policy",
  "ReceiveMessageWaitTimeSeconds",
  "RedriveAllowPolicy",
  "RedrivePolicy",
  "SqsManagedSseEnabled",
  "VisibilityTimeout",
];
const KNOWN = new Set(["All", ...ASSIGNED, ...SETTABLE]);

/** The settings of a queue and the counts of its messages, which here are exact. */
export function getQueueAttributes(queues: Queues, input: SqsInput<"GetQueueAttributes">) {
  const queue = queues.at(input.QueueUrl);
  const wanted = new Set(input.AttributeNames ?? []);
  for (const name of wanted) if (!KNOWN.has(name)) throw sqsError("InvalidAttributeName", `Unknown Attribute ${name}.`);
  queue.backlog.catchUp(queues.clock.now());
  const { ready, delayed, inFlight } = queue.backlog.counts;
  const all: Record<string, string> = {
    ...queue.attributes,
    ApproximateNumberOfMessages: String(ready),
    ApproximateNumberOfMessagesDelayed: String(delayed),
    ApproximateNumberOfMessagesNotVisible: String(inFlight),
    CreatedTimestamp: String(Math.floor(queue.createdAt / 1000)),
    LastModifiedTimestamp: String(Math.floor(queue.modifiedAt / 1000)),
    QueueArn: queue.arn,
  };
  const shown = Object.entries(all).filter(([name]) => wanted.has("All") || wanted.has(name));
  return shown.length > 0 ? { Attributes: Object.fromEntries(shown) } : {};
}

export function listQueues(queues: Queues, { QueueNamePrefix = "", MaxResults, NextToken }: SqsInput<"ListQueues">) {
  const found = queues.list().filter(({ name }) => name.startsWith(QueueNamePrefix));
  const { page, next } = pageOf(found, MaxResults, NextToken);
  return { QueueUrls: page.map((queue) => queues.urlOf(queue)), ...next };
}

/** The queues whose messages end in this one when they are received too often. */
export function listDeadLetterSourceQueues(
  queues: Queues,
  { QueueUrl, MaxResults, NextToken }: SqsInput<"ListDeadLetterSourceQueues">,
) {
  const { arn } = queues.at(QueueUrl);
  const sources = queues.list().filter(({ redrive }) => redrive?.deadLetterArn === arn);
  const { page, next } = pageOf(sources, MaxResults, NextToken);
  return { queueUrls: page.map((queue) => queues.urlOf(queue)), ...next };
}

function pageOf(found: Queue[], most: number | undefined, token: string | undefined) {
  if (token !== undefined && most === undefined) {
    throw sqsError(
      "InvalidParameterValue",
      "MaxResults is a mandatory parameter when you provide a value for NextToken.",
    );
  }
  const size = within("MaxResults", most ?? 1_000, 1, 1_000);
  const rest = token === undefined ? found : found.filter(({ name }) => name > token);
  const page = rest.slice(0, size);
  const last = page.at(-1);
  const hasMore = rest.length > size && most !== undefined && last !== undefined;
  return { page, next: hasMore ? { NextToken: last.name } : {} };
}
