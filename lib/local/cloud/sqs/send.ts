import { randomUUID } from "node:crypto";
import type { AwsError } from "../aws-error.ts";
import type { Held } from "./backlog.ts";
import { eachEntry } from "./batch.ts";
import { md5, md5OfAttributes } from "./digests.ts";
import { sqsError } from "./errors.ts";
import type { Outgoing, SqsInput } from "./inputs.ts";
import { checkedBytes, MAXIMUM_BYTES } from "./message-rules.ts";
import type { Queue } from "./queue.ts";
import type { Queues } from "./queues.ts";

/** The sender's answer for a message that is on disk now. */
export interface Sent {
  readonly MessageId: string;
  readonly MD5OfMessageBody: string;
  readonly MD5OfMessageAttributes?: string;
  readonly MD5OfMessageSystemAttributes?: string;
}

/** The trace header of the request becomes the message's own, unless the message names one. */
export function sendMessage(queues: Queues, input: SqsInput<"SendMessage">, traceHeader?: string): Sent {
  const queue = queues.at(input.QueueUrl);
  checkedBytes(input, queue.seconds("MaximumMessageSize"));
  const [sent, held] = store(queues, queue, input, traceHeader);
  queue.backlog.add(held);
  queue.changed();
  return sent;
}

/** Sends the entries that keep the rules in one commit, and says of each other one why not. */
export function sendMessageBatch(
  queues: Queues,
  { QueueUrl, Entries }: SqsInput<"SendMessageBatch">,
  traceHeader?: string,
) {
  const queue = queues.at(QueueUrl);
  const maximumBytes = queue.seconds("MaximumMessageSize");
  let bytes = 0;
  for (const entry of Entries) bytes += Buffer.byteLength(entry.MessageBody);
  if (bytes > MAXIMUM_BYTES) throw tooLong(bytes);

  const arrived: Held[] = [];
  let checkedTotal = 0;
  const answer = queues.store.transaction(() =>
    eachEntry(Entries, (entry): Sent => {
      checkedTotal += checkedBytes(entry, maximumBytes);
      if (checkedTotal > MAXIMUM_BYTES) throw tooLong(checkedTotal);
      const [sent, held] = store(queues, queue, entry, traceHeader);
      arrived.push(held);
      return sent;
    }),
  );
  for (const held of arrived) queue.backlog.add(held);
  queue.changed();
  return answer;
}

function tooLong(bytes: number): AwsError {
  return sqsError(
    "BatchRequestTooLong",
    `Batch requests cannot be longer than ${MAXIMUM_BYTES} bytes. You have sent ${bytes} bytes.`,
  );
}

function store(queues: Queues, queue: Queue, message: Outgoing, traceHeader?: string): [Sent, Held] {
  const { MessageBody: body, MessageAttributes: attributes, MessageSystemAttributes: system } = message;
  const now = queues.clock.now();
  const visibleAt = now + (message.DelaySeconds ?? queue.seconds("DelaySeconds")) * 1000;
  const messageId = randomUUID();
  const groupId = message.MessageGroupId ?? null;
  const row = queues.store.insertMessage.get(
    queue.id,
    messageId,
    body,
    attributes ? JSON.stringify(attributes) : null,
    system?.["AWSTraceHeader"]?.StringValue ?? traceHeader ?? null,
    groupId,
    now,
    visibleAt,
  );
  if (!row) throw new Error(`a message for ${queue.name} was not written`);
  const sent = {
    MessageId: messageId,
    MD5OfMessageBody: md5(body),
    ...(attributes && { MD5OfMessageAttributes: md5OfAttributes(attributes) }),
    ...(system && { MD5OfMessageSystemAttributes: md5OfAttributes(system) }),
  };
  return [sent, { seq: row.seq, groupId, sentAt: now, visibleAt, receiveCount: 0, receipt: null }];
}
