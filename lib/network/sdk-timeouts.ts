import type { Readable } from "node:stream";

/**
 * How AWS's own services are asked. Without limits its clients wait for a silent connection until the function is ended,
 * with all that it had begun; what answers at all answers within a second. A request that was given up is asked again,
 * like one whose connection broke.
 */
export const ASKING = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  streamCollector: readWhole,
} as const;

/**
 * An answer's bytes; rejects when it breaks off. The SDK's own collector is a stream behind the stream: each outlives the
 * quick collections of memory, and holds the next one's bytes while it is dead itself, so that nothing less than a
 * collection of everything frees them, once in 64 MB of answers.
 */
function readWhole(answer: Readable): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const breakOff = () => reject(answer.errored ?? Object.assign(new Error("the answer broke off"), BROKEN));
    answer.on("data", (chunk: Buffer) => void chunks.push(chunk));
    answer.once("end", () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    answer.once("error", reject);
    answer.once("close", () => answer.readableEnded || breakOff());
    if (answer.destroyed || answer.readableEnded) breakOff(); // it ended before there was a listener
  });
}

/** By this the SDK knows that it may ask again. */
const BROKEN = { code: "ECONNRESET" };
