import jsonBodyParser from "@middy/http-json-body-parser";
import { Failure } from "../model/failure.ts";
import { invalid } from "./input.ts";
import { type GatewayEvent, header } from "./request.ts";

/** Bytes that a request's body may have. */
const MAX_BODY_BYTES = 1024 * 1024;

/** How deep the JSON of a body may be nested. */
const MAX_BODY_DEPTH = 32;

/** Refuses a body that would cost more to parse than an honest one. */
function weigh(event: GatewayEvent): void {
  const text = typeof event.body === "string" ? event.body : "";
  if (Buffer.byteLength(text, event.isBase64Encoded ? "base64" : "utf8") > MAX_BODY_BYTES) {
    throw new Failure("PAYLOAD_TOO_LARGE", `the body may have at most ${MAX_BODY_BYTES} bytes`);
  }
  const json = event.isBase64Encoded ? Buffer.from(text, "base64").toString() : text;
  if (depthOf(json) > MAX_BODY_DEPTH) {
    throw invalid([{ path: "body", message: `must not be nested deeper than ${MAX_BODY_DEPTH} levels` }]);
  }
}

const parser = jsonBodyParser();

/** What the JSON of the event's body says. Keys that could poison a prototype are refused, and texts that are none. */
export function bodyOf(event: GatewayEvent): unknown {
  weigh(event);
  try {
    parser.before?.({ event } as never);
  } catch (error) {
    throw failureOf(error, event);
  }
  const path = brokenText(event.body, []);
  if (path === null) return event.body;
  const message = "holds half a character (a lone surrogate), which no store can keep; send whole characters";
  throw invalid([{ path: path.join(".") || "body", message }]);
}

/** Where a text or a key is no Unicode; null: nowhere. */
function brokenText(value: unknown, path: readonly string[]): readonly string[] | null {
  if (typeof value === "string") return value.isWellFormed() ? null : path;
  if (typeof value !== "object" || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const broken = key.isWellFormed() ? brokenText(inner, [...path, key]) : path;
    if (broken !== null) return broken;
  }
  return null;
}

/** What the JSON body parser of middy says, in the words of this API; anything else as it was. */
function failureOf(error: unknown, event: GatewayEvent): unknown {
  if (!(error instanceof Error) || !("statusCode" in error)) return error;
  if (error.statusCode === 415) {
    const sent = header(event, "content-type") ?? "none";
    return new Failure("UNSUPPORTED_MEDIA_TYPE", `send the body as Content-Type: application/json; yours was ${sent}`);
  }
  if (error.statusCode === 422) return invalid([{ path: "body", message: whatIsWrong(error) }]);
  return error;
}

function whatIsWrong({ cause, message }: Error): string {
  const reason = typeof cause === "object" && cause !== null && "message" in cause ? String(cause.message) : null;
  if (reason !== null) return `is not JSON: ${reason}`;
  return message === "Forbidden key in JSON body" ? "must not hold a key named __proto__ or a constructor" : message;
}

/** The deepest nesting of brackets outside of strings, without parsing. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++depth);
    else if (token === "]" || token === "}") depth -= 1;
  }
  return deepest;
}
