import type { IncomingMessage } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { RESPONSE_BODY_BYTES } from "../../model/delivery/delivery.ts";

/** Bytes of an answer's body after which it is cut off, whatever is kept of them. */
const READ_BYTES = 64 * 1024;

/** The beginning of an answer's body, as text. */
export interface AnswerStart {
  /** At most 1,024 bytes in UTF-8, never half a character. */
  readonly text: string;
  /** There was more, or the body did not end in time. */
  readonly truncated: boolean;
}

/**
 * Reads the beginning of a body and then lets go of the connection: at the body's end, after 64 KiB, at an error of the
 * connection, or when `signal` aborts. Never rejects: what came until then is the answer.
 */
export async function readStart(response: IncomingMessage, signal: AbortSignal): Promise<AnswerStart> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let readBytes = 0;
  const ended = await new Promise<boolean>((resolve) => {
    const cut = () => resolve(false);
    signal.addEventListener("abort", cut, { once: true });
    if (signal.aborted) cut();
    response.on("data", (chunk: Buffer) => {
      readBytes += chunk.length;
      const part = chunk.subarray(0, RESPONSE_BODY_BYTES + 1 - keptBytes);
      // A copy, because a slice would hold the whole chunk in memory.
      if (part.length > 0) kept.push(Buffer.from(part));
      keptBytes += part.length;
      if (readBytes >= READ_BYTES) cut();
    });
    response.once("end", () => resolve(response.complete));
    response.once("error", cut);
    response.once("close", cut);
  });
  response.destroy();
  const start = firstBytes(Buffer.concat(kept));
  return { text: start.text, truncated: start.truncated || !ended };
}

function firstBytes(bytes: Buffer): AnswerStart {
  const text = wholeCharacters(bytes);
  const truncated = bytes.length > RESPONSE_BODY_BYTES;
  // Bytes that are no UTF-8 became replacement characters, which are longer than those bytes.
  const again = Buffer.from(text);
  return again.length <= RESPONSE_BODY_BYTES ? { text, truncated } : { text: wholeCharacters(again), truncated: true };
}

/** The decoder keeps back the bytes of a character that is not complete. */
function wholeCharacters(bytes: Buffer): string {
  return new StringDecoder("utf8").write(bytes.subarray(0, RESPONSE_BODY_BYTES));
}
