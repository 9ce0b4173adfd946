import type { SQSEvent, SQSRecord } from "aws-lambda";
import { deliveries, eventRows, events, now, wakeUps } from "../../../functions/services/composition.ts";
import { handler as deliverSlowWebhook } from "../../../functions/workers/deliver-slow-webhook.ts";
import { handler as deliverWebhook } from "../../../functions/workers/deliver-webhook.ts";
import { handler as dispatchEvents } from "../../../functions/workers/dispatch-events.ts";
import { handler as retryLong } from "../../../functions/workers/retry-webhook-long.ts";
import { handler as retryMedium } from "../../../functions/workers/retry-webhook-medium.ts";
import { handler as retryShort } from "../../../functions/workers/retry-webhook-short.ts";
import type { Cloud } from "../../../lib/local/cloud/start-cloud.ts";
import { type QueueName, queueVariable } from "../../../lib/model/resources.ts";
import { resendOverdue } from "../../../lib/webhooks/resend-overdue.ts";

/** The workers of webhooks, by the queues that they read. */
const WORKERS = {
  events: dispatchEvents,
  deliveries: deliverWebhook,
  slowDeliveries: deliverSlowWebhook,
  retriesShort: retryShort,
  retriesMedium: retryMedium,
  retriesLong: retryLong,
} as const;
export type WorkedQueue = keyof typeof WORKERS;
export const WORKED = Object.keys(WORKERS) as WorkedQueue[];

export const queueUrlOf = (queue: QueueName): string => process.env[queueVariable(queue)] ?? "";

/** How many messages of a queue can be seen, were handed out, or come later. */
export function countsOf({ sqs }: Pick<Cloud, "sqs">, queue: WorkedQueue) {
  const asked = { QueueUrl: queueUrlOf(queue), AttributeNames: ["All"] };
  const { Attributes = {} } = sqs.actions.GetQueueAttributes(asked);
  const count = (kind: string) => Number(Attributes[`ApproximateNumberOfMessages${kind}`] ?? 0);
  return { visible: count(""), inFlight: count("NotVisible"), delayed: count("Delayed") };
}

interface Message {
  readonly MessageId?: string | undefined;
  readonly Body?: string | undefined;
  readonly ReceiptHandle?: string | undefined;
}

/** Hands a batch to its worker, as an event source mapping would; gives the handles of the messages that it has done. */
export async function handToWorker(queue: WorkedQueue, messages: readonly Message[]): Promise<readonly string[]> {
  if (messages.length === 0) return [];
  const Records = messages.map(({ MessageId = "", Body = "" }) => ({ messageId: MessageId, body: Body }) as SQSRecord);
  const { batchItemFailures } = await WORKERS[queue]({ Records } satisfies SQSEvent);
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  return messages.flatMap(({ MessageId = "", ReceiptHandle = "" }) => (failed.has(MessageId) ? [] : [ReceiptHandle]));
}

/** What the hourly sweeper does for webhooks. */
export const sweepWebhooks = () =>
  resendOverdue({ rows: eventRows(), deliveries: deliveries(), events: events(), wakeUps: wakeUps(), now });
