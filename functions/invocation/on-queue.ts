import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import type * as z from "zod/mini";
import { describeFault } from "../../lib/model/fault.ts";
import { writeLine } from "../../lib/model/log-line.ts";

/** A message that could not be dealt with; the queue hands it out again, in the end to the dead letters. */
export interface Undone {
  /** Its place in the batch. */
  readonly position: number;
  readonly fault: unknown;
}

/**
 * The Lambda handler of a worker. Each message is parsed at the door; one that cannot be parsed, or that `work` gives
 * back, is logged and returned to SQS, and delays no other of its batch.
 */
export function onQueue<Message>(
  schema: z.ZodMiniType<Message>,
  work: (messages: readonly Message[]) => Promise<readonly Undone[]>,
) {
  return async ({ Records }: SQSEvent): Promise<SQSBatchResponse> => {
    const failed = new Map<string, unknown>();
    const parsed = Records.flatMap(({ messageId, body }) => {
      try {
        return [{ messageId, message: schema.parse(JSON.parse(body)) }];
      } catch (fault) {
        failed.set(messageId, fault);
        return [];
      }
    });
    const undone = parsed.length === 0 ? [] : await work(parsed.map(({ message }) => message));
    for (const { position, fault } of undone) failed.set(parsed[position]?.messageId ?? "", fault);
    for (const [messageId, fault] of failed) {
      const body = Records.find((record) => record.messageId === messageId)?.body;
      writeLine({ level: "error", message_id: messageId, message: body, fault: describeFault(fault) });
    }
    return { batchItemFailures: [...failed.keys()].map((itemIdentifier) => ({ itemIdentifier })) };
  };
}

/** Handles each message separately, all at once. */
export function each<Message>(work: (message: Message) => Promise<unknown>) {
  return async (messages: readonly Message[]): Promise<readonly Undone[]> => {
    const ended = await Promise.allSettled(messages.map(work));
    return ended.flatMap((end, position) => (end.status === "rejected" ? [{ position, fault: end.reason }] : []));
  };
}
