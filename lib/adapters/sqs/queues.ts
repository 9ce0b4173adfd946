import { setTimeout as pause } from "node:timers/promises";
import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, SQSClient } from "@aws-sdk/client-sqs";
import type { QueueName } from "../../model/resources.ts";

/** A message as it leaves. */
export interface Outgoing {
  readonly body: unknown;
  /** Whose it is: SQS serves groups fairly, so one workspace's flood holds nobody else up. */
  readonly group?: string;
  /** 0 to 900; the queue's own delay unless given. */
  readonly delaySeconds?: number;
}

/** The queues, by name. */
export interface Queues {
  /** Resolves when every message is in the queue. */
  send(queue: QueueName, messages: readonly Outgoing[]): Promise<void>;
}

/** SQS takes at most ten messages, and 1 MiB, in one call. */
const BATCH = 10;

/** A message that SQS could not take (it says so per message) is sent again this often. */
const ATTEMPTS = 5;

/** The queues that `urlOf` names; region, endpoint and credentials are the SDK's to find. */
export function openQueues(urlOf: (name: QueueName) => string): Queues {
  const sqs = new SQSClient({ maxAttempts: 5 });
  return {
    send: async (queue, messages) => {
      for (let at = 0; at < messages.length; at += BATCH) {
        const entries = messages.slice(at, at + BATCH).map(entryOf);
        await sendAll(sqs, urlOf(queue), entries, 1);
      }
    },
  };
}

function entryOf({ body, group, delaySeconds }: Outgoing, at: number): SendMessageBatchRequestEntry {
  return {
    Id: String(at),
    MessageBody: JSON.stringify(body),
    ...(group === undefined ? {} : { MessageGroupId: group }),
    ...(delaySeconds === undefined ? {} : { DelaySeconds: delaySeconds }),
  };
}

async function sendAll(
  sqs: SQSClient,
  url: string,
  entries: readonly SendMessageBatchRequestEntry[],
  attempt: number,
): Promise<void> {
  const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: [...entries] }));
  if (Failed.length === 0) return;
  if (attempt === ATTEMPTS || Failed.some(({ SenderFault }) => SenderFault)) {
    throw new Error(`${url} refused ${Failed.length} messages: ${Failed[0]?.Code} ${Failed[0]?.Message ?? ""}`);
  }
  await pause(Math.random() * 50 * 2 ** attempt);
  const again = new Set(Failed.map(({ Id }) => Id));
  await sendAll(
    sqs,
    url,
    entries.filter(({ Id }) => again.has(Id)),
    attempt + 1,
  );
}
