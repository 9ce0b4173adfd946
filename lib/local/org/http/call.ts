import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

/** A request as the org reads it: the path cleaned of doubled and trailing slashes, the body whole. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The scheme and host that the client used, without a slash at the end. */
  readonly origin: string;
}

/** An answer, ready to be sent. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Readable;
}

/** `METHOD /path?query`, by which faults and the journal know a request. */
export function nameOf(call: { method: string; path: string; query: URLSearchParams }): string {
  const query = call.query.toString();
  return `${call.method} ${call.path}${query === "" ? "" : `?${query}`}`;
}

export function jsonReply(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    status,
    headers: { "Content-Type": "application/json;charset=UTF-8", ...headers },
    body: JSON.stringify(value),
  };
}

export function emptyReply(status: number, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers, body: "" };
}
