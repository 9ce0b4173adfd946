import { eachEntry } from "./batch.ts";
import { sqsError, within } from "./errors.ts";
import type { SqsInput } from "./inputs.ts";
import type { Queue } from "./queue.ts";
import type { Queues } from "./queues.ts";
import { receiptOf } from "./receipt-handle.ts";

const MAXIMUM_VISIBILITY_SECONDS = 43_200;

export function deleteMessage(queues: Queues, { QueueUrl, ReceiptHandle }: SqsInput<"DeleteMessage">): void {
  deleteReceived(queues, queues.at(QueueUrl), ReceiptHandle);
}

export function deleteMessageBatch(queues: Queues, { QueueUrl, Entries }: SqsInput<"DeleteMessageBatch">) {
  const queue = queues.at(QueueUrl);
  return queues.store.transaction(() =>
    eachEntry(Entries, ({ ReceiptHandle }) => deleteReceived(queues, queue, ReceiptHandle)),
  );
}

export function changeMessageVisibility(queues: Queues, input: SqsInput<"ChangeMessageVisibility">): void {
  const queue = queues.at(input.QueueUrl);
  changeVisibility(queues, queue, input.ReceiptHandle, input.VisibilityTimeout);
  queue.changed();
}

export function changeMessageVisibilityBatch(queues: Queues, input: SqsInput<"ChangeMessageVisibilityBatch">) {
  const queue = queues.at(input.QueueUrl);
  const answer = queues.store.transaction(() =>
    eachEntry(input.Entries, ({ ReceiptHandle, VisibilityTimeout }) => {
      if (VisibilityTimeout === undefined) {
        throw sqsError("MissingParameter", "The request must contain the parameter VisibilityTimeout.");
      }
      return changeVisibility(queues, queue, ReceiptHandle, VisibilityTimeout);
    }),
  );
  queue.changed();
  return answer;
}

/** A handle that a later receipt has replaced deletes nothing, and nothing is said about it: as on AWS. */
function deleteReceived(queues: Queues, queue: Queue, handle: string): void {
  const { seq, receipt } = receiptOf(handle, queue.id);
  queue.backlog.catchUp(queues.clock.now());
  const held = queue.backlog.get(seq);
  if (held?.receipt !== receipt) return;
  queues.store.deleteMessage.run(seq);
  queue.backlog.remove(held);
}

function changeVisibility(queues: Queues, queue: Queue, handle: string, timeout: number): void {
  within("VisibilityTimeout", timeout, 0, MAXIMUM_VISIBILITY_SECONDS);
  const { seq, receipt, receivedAt } = receiptOf(handle, queue.id);
  const now = queues.clock.now();
  queue.backlog.catchUp(now);
  const held = queue.backlog.get(seq);
  if (held?.receipt !== receipt || !queue.backlog.isInFlight(held)) {
    throw sqsError("MessageNotInflight", "The message referred to is not in flight under this receipt handle.");
  }
  const visibleAt = now + timeout * 1000;
  if (visibleAt > receivedAt + MAXIMUM_VISIBILITY_SECONDS * 1000) {
    throw sqsError(
      "InvalidParameterValue",
      `Value ${timeout} for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [${MAXIMUM_VISIBILITY_SECONDS} seconds].`,
    );
  }
  queues.store.setVisibleAt.run(visibleAt, seq);
  held.visibleAt = visibleAt;
  queue.backlog.wait(held);
}
