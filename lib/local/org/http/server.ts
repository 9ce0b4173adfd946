import { createServer as createPlainServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Clock } from "../clock.ts";
import type { Call, Reply } from "./call.ts";

/** A certificate and its key, as PEM text. */
export interface Tls {
  readonly key: string;
  readonly cert: string;
}

/** Sends an answer; faults replace it to break off, wait or drip. */
export type Send = (reply: Reply, response: ServerResponse) => Promise<void>;

/** Gives the answer to a request, and the way to send it. */
export type Answerer = (call: Call) => Promise<{ reply: Reply; send: Send }>;

const MAX_BODY_BYTES = 160 * 1024 * 1024;

/** The HTTP server of the org: reads requests, hands them over, stamps each answer with the org's own Date. */
export function makeServer(clock: Clock, tls: Tls | null, answer: Answerer): Server {
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    void respond(clock, tls !== null, request, response, answer);
  };
  const options = { keepAliveTimeout: 65_000, requestTimeout: 0, maxHeaderSize: 16_384 };
  return tls ? createTlsServer({ ...options, ...tls }, listener) : createPlainServer(options, listener);
}

async function respond(
  clock: Clock,
  isTls: boolean,
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answerer,
): Promise<void> {
  response.sendDate = false;
  try {
    const { reply, send } = await answer(await callOf(request, isTls));
    response.setHeader("Date", clock.now().toUTCString());
    await send(reply, response);
  } catch (error) {
    if (!request.destroyed && !response.headersSent)
      response.writeHead(500, { "Content-Type": "text/plain" }).end(String(error));
    else response.destroy();
  }
}

async function callOf(request: IncomingMessage, isTls: boolean): Promise<Call> {
  const origin = `${isTls ? "https" : "http"}://${request.headers.host ?? "127.0.0.1"}`;
  const [rawPath = "/", rawQuery = ""] = splitOnce(request.url ?? "/", "?");
  const path = rawPath.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
  return {
    method: request.method ?? "GET",
    path,
    query: new URLSearchParams(rawQuery),
    headers: request.headers,
    body: await bodyOf(request),
    origin,
  };
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const source = request.headers["content-encoding"] === "gzip" ? request.pipe(createGunzip()) : request;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`request body larger than ${MAX_BODY_BYTES} bytes`);
  }
  return Buffer.concat(chunks, bytes);
}

/** Sends an answer as it is. */
export const sendPlainly: Send = async ({ status, headers, body }, response) => {
  if (typeof body === "string" || body instanceof Uint8Array) {
    const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
    response.writeHead(status, status === 204 ? headers : { ...headers, "Content-Length": String(length) });
    response.end(body);
    return;
  }
  response.writeHead(status, headers);
  await pipeline(body, response);
};
