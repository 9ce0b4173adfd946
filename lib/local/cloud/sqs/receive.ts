import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Held } from "./backlog.ts";
import { md5, md5OfAttributes } from "./digests.ts";
import { sqsError, within } from "./errors.ts";
import type { MessageAttributes, SqsInput } from "./inputs.ts";
import type { Queue } from "./queue.ts";
import type { Queues } from "./queues.ts";
import { handleFor, receiptAt } from "./receipt-handle.ts";
import type { MessageRow } from "./store.ts";

/** A message as its receiver sees it. */
export interface ReceivedMessage {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly MD5OfBody: string;
  readonly Body: string;
  readonly Attributes?: Record<string, string>;
  readonly MessageAttributes?: MessageAttributes;
  readonly MD5OfMessageAttributes?: string;
}

const MAXIMUM_IN_FLIGHT = 120_000;
const SENDER_ID = "AIDALOCALBRIDGE";
const SYSTEM_ATTRIBUTES = new Set([
  "All",
  "ApproximateFirstReceiveTimestamp",
  "ApproximateReceiveCount",
  "AWSTraceHeader",
  "DeadLetterQueueSourceArn",
  "MessageDeduplicationId",
  "MessageGroupId",
  "SenderId",
  "SentTimestamp",
  "SequenceNumber",
]);

/** Takes up to ten messages, waiting up to 20 s for the first; a receiver whose signal aborts takes none. */
export async function receiveMessage(
  queues: Queues,
  input: SqsInput<"ReceiveMessage">,
  signal: AbortSignal,
): Promise<{ Messages?: ReceivedMessage[] }> {
  const queue = queues.at(input.QueueUrl);
  const request = checked(input, queue);
  const deadline = queues.clock.now() + request.waitSeconds * 1000;
  for (;;) {
    if (signal.aborted) return {};
    const rows = take(queues, queue, request.most, request.visibilitySeconds);
    if (rows.length > 0) return { Messages: rows.map((row) => shown(row, queue, request)) };
    if (queues.clock.now() >= deadline) return {};
    await queue.awaitMessage(deadline, signal);
    // What others send in the same turn comes in one batch: without that a busy process works message by message.
    await nextTurn();
    if (queues.isClosed) return {};
    queues.at(input.QueueUrl); // deleted meanwhile?
  }
}

interface Request {
  readonly most: number;
  readonly visibilitySeconds: number;
  readonly waitSeconds: number;
  readonly systemNames: ReadonlySet<string>;
  readonly attributeNames: readonly string[];
}

function checked(input: SqsInput<"ReceiveMessage">, queue: Queue): Request {
  if (input.ReceiveRequestAttemptId !== undefined) {
    throw sqsError("InvalidParameterValue", "ReceiveRequestAttemptId is valid for FIFO queues only.");
  }
  const systemNames = new Set([...(input.AttributeNames ?? []), ...(input.MessageSystemAttributeNames ?? [])]);
  for (const name of systemNames) {
    if (!SYSTEM_ATTRIBUTES.has(name)) throw sqsError("InvalidAttributeName", `Unknown Attribute ${name}.`);
  }
  return {
    most: within("MaxNumberOfMessages", input.MaxNumberOfMessages ?? 1, 1, 10),
    visibilitySeconds: within(
      "VisibilityTimeout",
      input.VisibilityTimeout ?? queue.seconds("VisibilityTimeout"),
      0,
      43_200,
    ),
    waitSeconds: within(
      "WaitTimeSeconds",
      input.WaitTimeSeconds ?? queue.seconds("ReceiveMessageWaitTimeSeconds"),
      0,
      20,
    ),
    systemNames,
    attributeNames: input.MessageAttributeNames ?? [],
  };
}

/** The next messages, marked as received in one commit. Messages received too often go to the dead letters instead. */
function take(queues: Queues, queue: Queue, most: number, visibilitySeconds: number): MessageRow[] {
  const { backlog } = queue;
  const now = queues.clock.now();
  backlog.catchUp(now);
  if (backlog.counts.inFlight >= MAXIMUM_IN_FLIGHT) {
    throw sqsError(
      "OverLimit",
      `${queue.name} has ${MAXIMUM_IN_FLIGHT} messages in flight, as many as a queue may have.`,
    );
  }
  if (backlog.counts.ready === 0) return [];
  const rows: MessageRow[] = [];
  queues.store.transaction(() => {
    for (let next = backlog.peek(); next && rows.length < most; next = backlog.peek()) {
      if (next.sentAt + queue.seconds("MessageRetentionPeriod") * 1000 <= now) expire(queues, queue, next);
      else if (isDeadLetter(queue, next) && moveToDeadLetters(queues, queue, next)) continue;
      else rows.push(receive(queues, queue, next, visibilitySeconds));
    }
  });
  return rows;
}

function receive(queues: Queues, { backlog }: Queue, held: Held, visibilitySeconds: number): MessageRow {
  const now = queues.clock.now();
  const visibleAt = now + visibilitySeconds * 1000;
  const receipt = receiptAt(now, randomUUID());
  const row = queues.store.receiveMessage.get(visibleAt, receipt, now, held.seq);
  if (!row) throw new Error(`message ${held.seq} is in the order of its queue but not on disk`);
  Object.assign(held, { visibleAt, receipt, receiveCount: row.receive_count });
  backlog.wait(held);
  return row;
}

function expire(queues: Queues, queue: Queue, held: Held): void {
  queues.store.deleteMessage.run(held.seq);
  queue.backlog.remove(held);
}

function isDeadLetter({ redrive }: Queue, held: Held): boolean {
  return redrive !== null && held.receiveCount >= redrive.maxReceiveCount;
}

/** False when the dead-letter queue is gone: the message then stays and is received again, as on AWS. */
function moveToDeadLetters(queues: Queues, queue: Queue, held: Held): boolean {
  const target = queues.byArn(queue.redrive?.deadLetterArn ?? "");
  if (!target) return false;
  const now = queues.clock.now();
  queues.store.moveMessage.run(target.id, queue.arn, now, held.receiveCount, held.seq);
  queue.backlog.remove(held);
  target.backlog.add({ ...held, visibleAt: now, receipt: null });
  target.changed();
  return true;
}

function shown(row: MessageRow, queue: Queue, { systemNames, attributeNames }: Request): ReceivedMessage {
  const all = systemNames.has("All");
  const system = Object.entries(systemAttributes(row)).filter(([name]) => all || systemNames.has(name));
  const own = Object.entries(JSON.parse(row.attributes ?? "{}") as MessageAttributes).filter(([name]) =>
    attributeNames.some((wanted) => isWanted(name, wanted)),
  );
  const attributes = Object.fromEntries(own);
  return {
    MessageId: row.message_id,
    ReceiptHandle: handleFor(queue.id, row.seq, row.receipt ?? ""),
    MD5OfBody: md5(row.body),
    Body: row.body,
    ...(system.length > 0 && { Attributes: Object.fromEntries(system) }),
    ...(own.length > 0 && { MessageAttributes: attributes, MD5OfMessageAttributes: md5OfAttributes(attributes) }),
  };
}

function systemAttributes(row: MessageRow): Record<string, string> {
  return {
    SenderId: SENDER_ID,
    SentTimestamp: String(row.sent_at),
    ApproximateReceiveCount: String(row.receive_count),
    ApproximateFirstReceiveTimestamp: String(row.first_received_at),
    ...(row.group_id !== null && { MessageGroupId: row.group_id }),
    ...(row.trace_header !== null && { AWSTraceHeader: row.trace_header }),
    ...(row.source_arn !== null && { DeadLetterQueueSourceArn: row.source_arn }),
  };
}

function isWanted(name: string, wanted: string): boolean {
  if (wanted === "All" || wanted === ".*") return true;
  return wanted.endsWith(".*") ? name.startsWith(wanted.slice(0, -2)) : name === wanted;
}
