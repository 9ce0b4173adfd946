import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { grouped } from "./http-request.ts";
import type { HttpAnswer } from "./proxy-answer.ts";

/** Writes an answer. A streamed body that breaks off cuts the connection, so that nobody takes a part for the whole. */
export async function writeAnswer(response: ServerResponse, { status, headers, body }: HttpAnswer): Promise<void> {
  response.statusCode = status;
  for (const [name, values] of grouped(headers)) response.setHeader(name, values.length === 1 ? values.join() : values);
  if (!response.hasHeader("content-type")) response.setHeader("Content-Type", "application/json");
  if (Buffer.isBuffer(body)) {
    response.setHeader("Content-Length", body.length);
    response.end(body);
    return;
  }
  response.removeHeader("content-length");
  try {
    await pipeline(body, response);
  } catch {
    response.destroy(); // the invoker has logged why
  }
}
