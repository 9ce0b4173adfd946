import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { failureOf, MAXIMUM_PAYLOAD_BYTES, type Outcome } from "../invocation.ts";
import type { LambdaContext } from "./context.ts";
import { isStreaming, ResponseStream } from "./response-stream.ts";

/** A function's own code. */
export type Handler = (event: unknown, ...rest: readonly unknown[]) => unknown;

/** Loads the handler that `index.handler` names; the query separates copies of one module in a process. */
export async function loadHandler(folder: string, handler: string, query = ""): Promise<Handler> {
  const [file, name = ""] = handler.split(".");
  const url = pathToFileURL(join(folder, `${file}.mjs`));
  url.search = query;
  const module = (await import(url.href)) as Record<string, unknown>;
  const loaded = module[name];
  if (typeof loaded === "function") return loaded as Handler;
  throw new Error(`${handler} is undefined or not a function: ${folder} does not export it`);
}

/**
 * Calls a handler and gives the result; for a streaming one as soon as its stream begins. `apart` leaves the body of a
 * response beside the payload.
 */
export async function callHandler(
  handler: Handler,
  event: unknown,
  context: LambdaContext,
  { apart = false }: { readonly apart?: boolean } = {},
): Promise<Outcome> {
  if (isStreaming(handler)) return streamed(handler, event, context);
  try {
    const value = await handler(event, context);
    return (apart && answeredApart(value)) || answered(value);
  } catch (thrown) {
    return failureOf(thrown);
  }
}

/** The outcome of a handler's value: Lambda sends JSON, up to six megabytes of it. */
function answered(value: unknown): Outcome {
  const payload = JSON.stringify(value ?? null) ?? "null";
  const bytes = Buffer.byteLength(payload);
  if (bytes <= MAXIMUM_PAYLOAD_BYTES) return { kind: "answered", payload };
  return {
    kind: "failed",
    errorType: "Function.ResponseSizeTooLarge",
    message: `Response payload size (${bytes} bytes) exceeded maximum allowed payload size (${MAXIMUM_PAYLOAD_BYTES} bytes).`,
    trace: [],
  };
}

/** A text that needs no escaping because it does not travel, if even escaped it would be short enough. */
function answeredApart(value: unknown): Outcome | false {
  if (typeof value !== "object" || value === null || !("body" in value) || "toJSON" in value) return false;
  const { body, ...rest } = value;
  if (typeof body !== "string" || body.length > MOST_APART) return false;
  const outcome = answered(rest);
  return outcome.kind === "answered" ? { ...outcome, body } : outcome;
}

/** Escaped, a character is at most six bytes. */
const MOST_APART = MAXIMUM_PAYLOAD_BYTES / 8;

function streamed(handler: Handler, event: unknown, context: LambdaContext): Promise<Outcome> {
  return new Promise((resolve) => {
    let hasBegun = false;
    const stream = new ResponseStream(({ contentType }) => {
      hasBegun = true;
      resolve({ kind: "streaming", contentType, stream });
    });
    const broken = (thrown: unknown) => {
      if (hasBegun) stream.destroy(thrown instanceof Error ? thrown : new Error(String(thrown)));
      else resolve(failureOf(thrown));
    };
    const done = () => {
      if (!stream.writableEnded) stream.end(); // the runtime ends a stream that its handler left open
    };
    Promise.resolve()
      .then(() => handler(event, stream, context))
      .then(done, broken);
  });
}
