import { setTimeout as pause } from "node:timers/promises";
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry } from "@aws-sdk/client-sqs";
import { chunks } from "../../model/chunks.ts";
import type { Outgoing } from "../../model/messages.ts";
import type { QueueName } from "../../model/resources.ts";
import type { Queues } from "./client.ts";

/** A message with its group: a crowd of one group does not hold up the others (fair queues). */
export interface Grouped extends Outgoing<object> {
  readonly group?: string;
}

/** SQS holds a message back for at most 15 minutes. */
export const MAX_DELAY_SECONDS = 900;

const BATCH = 10;
const ATTEMPTS = 4;

/** Sends the messages, ten a call. Rejects when one of them could not be sent; others may then have been. */
export async function send(queues: Queues, queue: QueueName, messages: readonly Grouped[]): Promise<void> {
  await Promise.all(chunks(messages, BATCH).map((some) => sendBatch(queues, queue, some.map(toEntry))));
}

function toEntry({ message, delaySeconds, group }: Grouped, position: number): SendMessageBatchRequestEntry {
  return {
    Id: String(position),
    MessageBody: JSON.stringify(message),
    ...(delaySeconds === undefined ? {} : { DelaySeconds: delaySeconds }),
    ...(group === undefined ? {} : { MessageGroupId: group }),
  };
}

/** A call can succeed for some of its messages; the others are sent again. */
async function sendBatch(queues: Queues, queue: QueueName, entries: SendMessageBatchRequestEntry[]): Promise<void> {
  let left = entries;
  for (let attempt = 1; ; attempt += 1) {
    const answer = await queues.client.send(
      new SendMessageBatchCommand({ QueueUrl: queues.url(queue), Entries: left }),
    );
    const failed = answer.Failed ?? [];
    if (failed.length === 0) return;
    if (failed.some(({ SenderFault }) => SenderFault) || attempt === ATTEMPTS) {
      const { Code, Message } = failed[0] ?? {};
      throw new Error(`SQS refused ${failed.length} messages to the queue ${queue}: ${Code} ${Message ?? ""}`);
    }
    left = left.filter(({ Id }) => failed.some((one) => one.Id === Id));
    await pause(50 * 2 ** attempt * Math.random());
  }
}
