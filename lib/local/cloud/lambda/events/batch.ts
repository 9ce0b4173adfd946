import * as z from "zod/mini";
import type { Sqs } from "../../sqs/sqs.ts";
import { MAXIMUM_PAYLOAD_BYTES } from "../invocation.ts";

/** A message as the embedded SQS hands it out. */
export type Message = NonNullable<Awaited<ReturnType<Sqs["actions"]["ReceiveMessage"]>>["Messages"]>[number];

/** The event of an SQS batch, with the members that Lambda gives each record. */
export function batchEvent(messages: readonly Message[], queueArn: string) {
  return { Records: messages.map((message) => recordOf(message, queueArn)) };
}

function recordOf(message: Message, queueArn: string) {
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: message.Attributes ?? {},
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, { DataType, StringValue, BinaryValue }]) => [
        name,
        {
          dataType: DataType,
          ...(StringValue !== undefined && { stringValue: StringValue }),
          ...(BinaryValue !== undefined && { binaryValue: BinaryValue }),
          stringListValues: [],
          binaryListValues: [],
        },
      ]),
    ),
    md5OfBody: message.MD5OfBody,
    ...(message.MD5OfMessageAttributes !== undefined && { md5OfMessageAttributes: message.MD5OfMessageAttributes }),
    eventSource: "aws:sqs",
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(":")[3] ?? "",
  };
}

/** Splits messages so that no event passes what a function may be given. */
export function splitBySize(messages: readonly Message[], maximumBytes = MAXIMUM_PAYLOAD_BYTES): Message[][] {
  const batches: Message[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const message of messages) {
    const size = Buffer.byteLength(JSON.stringify(recordOf(message, "")));
    bytes += size;
    if (bytes > maximumBytes) {
      batches.push([]);
      bytes = size;
    }
    batches.at(-1)?.push(message);
  }
  return batches;
}

const partialFailures = z.nullish(
  z.object({ batchItemFailures: z.nullish(z.array(z.object({ itemIdentifier: z.string().check(z.minLength(1)) }))) }),
);

/**
 * The messages that a function's answer leaves as failed: those it names. An answer of another form, or a name that is
 * not in the batch, fails all, as Lambda has it; null then says why in `reason`.
 */
export function failedMessages(
  payload: string,
  messages: readonly Message[],
): { readonly failed: ReadonlySet<string>; readonly reason?: string } {
  const all = new Set(messages.map(({ MessageId }) => MessageId));
  const parsed = partialFailures.safeParse(JSON.parse(payload));
  if (!parsed.success) return { failed: all, reason: "the answer is not of the form { batchItemFailures }" };
  const named = parsed.data?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier) ?? [];
  const stranger = named.find((id) => !all.has(id));
  if (stranger !== undefined) return { failed: all, reason: `the answer names ${stranger}, which is not in the batch` };
  return { failed: new Set(named) };
}
