import type { IncomingMessage } from "node:http";

/** A request, from which both kinds of events are built. */
export interface HttpRequest {
  readonly method: string;
  /** The path exactly as sent, percent signs included. */
  readonly path: string;
  readonly rawQuery: string;
  /** Names as sent; what the connection alone is about is left out. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly sourceIp: string;
  readonly port: number;
}

/** The body was longer than the gateway takes. */
export class TooLarge extends Error {}

const OF_THE_CONNECTION = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Reads a request whole; rejects with TooLarge as soon as the body passes the limit. */
export async function readRequest(incoming: IncomingMessage, maximumBytes: number): Promise<HttpRequest> {
  const target = incoming.url ?? "/";
  const query = target.indexOf("?");
  return {
    method: incoming.method ?? "GET",
    path: query < 0 ? target : target.slice(0, query),
    rawQuery: query < 0 ? "" : target.slice(query + 1),
    headers: headersOf(incoming),
    body: await bodyOf(incoming, maximumBytes),
    sourceIp: (incoming.socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
    port: incoming.socket.localPort ?? 0,
  };
}

/** The last value of a header, by its name in lower case. */
export function headerOf({ headers }: HttpRequest, name: string): string | undefined {
  return headers.findLast(([sent]) => sent.toLowerCase() === name)?.[1];
}

/** Names with all their values, in the order of their first appearance. */
export function grouped(pairs: Iterable<readonly [name: string, value: string]>): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [name, value] of pairs) groups.set(name, [...(groups.get(name) ?? []), value]);
  return groups;
}

function headersOf({ rawHeaders }: IncomingMessage): [string, string][] {
  const headers: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!OF_THE_CONNECTION.has(name.toLowerCase())) headers.push([name, value]);
  }
  return headers;
}

const NOTHING = Buffer.alloc(0);

async function bodyOf(incoming: IncomingMessage, maximumBytes: number): Promise<Buffer> {
  // Without either header a request has no body (RFC 9112, 6.3).
  if (!("content-length" in incoming.headers || "transfer-encoding" in incoming.headers)) return NOTHING;
  if (Number(incoming.headers["content-length"] ?? 0) > maximumBytes) throw new TooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maximumBytes) throw new TooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
