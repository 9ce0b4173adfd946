import { sqsError } from "./errors.ts";

const HANDLE = /^(\d+)\/(\d+)\/((\d+)\/[0-9a-f-]{36})$/;

/** The contents of a receipt handle. */
export interface Receipt {
  readonly queueId: number;
  readonly seq: number;
  readonly receipt: string;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}

/** The proof of one receipt, which the store keeps. */
export function receiptAt(receivedAt: number, unique: string): string {
  return `${receivedAt}/${unique}`;
}

/** The handle that a receiver gets for one receipt of one message. */
export function handleFor(queueId: number, seq: number, receipt: string): string {
  return Buffer.from(`${queueId}/${seq}/${receipt}`).toString("base64url");
}

/** The contents of a handle. Throws ReceiptHandleIsInvalid unless this queue gave it out. */
export function receiptOf(handle: string, queueId: number): Receipt {
  const match = HANDLE.exec(Buffer.from(handle, "base64url").toString());
  const [, queue, seq, receipt, receivedAt] = match ?? [];
  if (Number(queue) !== queueId || receipt === undefined) {
    throw sqsError("ReceiptHandleIsInvalid", `The input receipt handle "${handle}" is not a valid receipt handle.`);
  }
  return { queueId, seq: Number(seq), receipt, receivedAt: Number(receivedAt) };
}
