import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { grouped } from "./http-request.ts";
import type { HttpAnswer } from "./proxy-answer.ts";

/**
 * Writes an answer. A streamed body that breaks off cuts the connection, so that a part does not look like the whole.
 */
export function writeAnswer(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  response.statusCode = status;
  for (const [name, values] of grouped(headers)) response.setHeader(name, values.length === 1 ? values.join() : values);
  if (!response.hasHeader("content-type")) response.setHeader("Content-Type", "application/json");
  if (typeof body === "string" || Buffer.isBuffer(body)) {
    response.setHeader("Content-Length", Buffer.byteLength(body));
    response.end(body);
    return;
  }
  response.removeHeader("content-length");
  stream(body, response);
}

/** What stream.pipeline does, without the AbortError that each of its ends makes, dearer than a page of a list. */
function stream(body: Readable, response: ServerResponse): void {
  body.once("error", () => response.destroy()); // the invoker has logged why
  body.once("close", () => {
    if (!body.readableEnded) response.destroy();
  });
  response.once("close", () => body.destroy());
  if (body.destroyed && !body.readableEnded) response.destroy();
  else body.pipe(response);
}
