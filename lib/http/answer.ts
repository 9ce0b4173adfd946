import type { Readable } from "node:stream";
import type { Failure } from "../model/failure.ts";

/** One page of a list: the rows and their positions (contract 2.1). */
export class Paged {
  readonly rows: readonly unknown[];
  readonly meta: { readonly total: number; readonly limit: number; readonly offset: number };

  constructor(
    { rows, total }: { readonly rows: Paged["rows"]; readonly total: number },
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ) {
    this.rows = rows;
    this.meta = { total, limit, offset };
  }
}

/** One thing, with headers. */
export class Headed {
  readonly content: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(content: unknown, headers: Readonly<Record<string, string>>) {
    this.content = content;
    this.headers = headers;
  }
}

/** One thing with its version, which a later change can name (If-Match). */
export class Tagged extends Headed {
  constructor(content: unknown, etag: string) {
    super(content, { ETag: etag });
  }
}

/** An answer that is not the envelope: metrics, CSV. A stream is for routes that stream. */
export class Plain {
  readonly contentType: string;
  readonly body: string | Readable;
  readonly headers: Readonly<Record<string, string>>;

  constructor(contentType: string, body: string | Readable, headers: Readonly<Record<string, string>> = {}) {
    this.contentType = contentType;
    this.body = body;
    this.headers = headers;
  }
}

/** What goes back to the gateway. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
}

/** What `run` gave, as an answer: data in the envelope, a page with its `meta`, one thing with its ETag, or plain text as it is. */
export function answerWith(reply: unknown, headers: Readonly<Record<string, string>>): Answer {
  if (reply instanceof Plain) {
    return {
      statusCode: 200,
      headers: { ...headers, ...reply.headers, "Content-Type": reply.contentType },
      body: reply.body,
    };
  }
  if (reply instanceof Paged) return json(200, { success: true, data: reply.rows, meta: reply.meta }, headers);
  if (reply instanceof Headed) {
    return json(200, { success: true, data: reply.content }, { ...headers, ...reply.headers });
  }
  return json(200, { success: true, data: reply }, headers);
}

/** A refusal as an answer. */
export function refuseWith(failure: Failure, headers: Readonly<Record<string, string>>): Answer {
  const { code, message, details } = failure;
  const error = details.length === 0 ? { code, message } : { code, message, details };
  return json(failure.status, { success: false, error }, { ...headers, ...failure.headers });
}

const json = (statusCode: number, content: object, headers: Answer["headers"]): Answer => ({
  statusCode,
  headers: { ...headers, "Content-Type": "application/json" },
  body: JSON.stringify(content),
});
