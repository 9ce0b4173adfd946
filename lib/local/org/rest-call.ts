import type { Session } from "./access/sessions.ts";
import type { Call, Reply } from "./http/call.ts";
import type { Parts } from "./parts.ts";
import { Refusal } from "./refusal.ts";

/** A REST request below `/services/data/vXX.X`, also one inside of a composite. */
export interface RestCall {
  readonly parts: Parts;
  readonly session: Session;
  readonly method: string;
  /** `66.0` */
  readonly version: string;
  /** `/services/data/v66.0` */
  readonly base: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Call["headers"];
  readonly body: RestBody;
  readonly origin: string;
  /** How the request is called in the journal and by faults. */
  readonly name: string;
}

/** A request's body: bytes from the wire, or the value inside of a composite. */
export type RestBody = { readonly bytes: Buffer } | { readonly value: unknown };

/** REST's answer: a JSON value, or a reply of another kind (CSV). `undefined` is an empty body. */
export type RestReply =
  | { readonly status: number; readonly json: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly reply: Reply };

export function ok(json: unknown): RestReply {
  return { status: 200, json };
}

export const noContent: RestReply = { status: 204, json: undefined };

/** The request's JSON object, or JSON_PARSER_ERROR. */
export function jsonObject(call: RestCall): Record<string, unknown> {
  const value = jsonValue(call);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Refusal("JSON_PARSER_ERROR", "The HTTP entity body is required, but this request has no entity body.");
  }
  return value as Record<string, unknown>;
}

function jsonValue({ body }: RestCall): unknown {
  if ("value" in body) return body.value;
  if (body.bytes.length === 0)
    throw new Refusal("JSON_PARSER_ERROR", "The HTTP entity body is required, but this request has no entity body.");
  try {
    return JSON.parse(body.bytes.toString("utf8"));
  } catch (error) {
    throw new Refusal(
      "JSON_PARSER_ERROR",
      `Unexpected character at [line:1, column:1]: ${error instanceof Error ? error.message : ""}`,
    );
  }
}

/** A list of JSON objects; nothing is an empty one, anything else JSON_PARSER_ERROR. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  if (value === undefined || value === null) return [];
  const isObject = (entry: unknown) => typeof entry === "object" && entry !== null && !Array.isArray(entry);
  if (Array.isArray(value) && value.every(isObject)) return value as Record<string, unknown>[];
  throw new Refusal("JSON_PARSER_ERROR", "Cannot deserialize: a list of objects is expected");
}

/** The parameter of a route, which its pattern guarantees. */
export function param(call: RestCall, name: string): string {
  return call.params[name] ?? "";
}

/** A path below `/services/data/vXX.X`, with `:name` for any segment, and what answers it by method. */
export type Route = readonly [
  pattern: string,
  handlers: Readonly<Record<string, (call: RestCall) => RestReply | Promise<RestReply>>>,
];
