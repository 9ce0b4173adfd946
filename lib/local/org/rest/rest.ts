import type { Session } from "../access/sessions.ts";
import { type Call, emptyReply, jsonReply, nameOf, type Reply } from "../http/call.ts";
import type { Parts } from "../parts.ts";
import { notFound, Refusal } from "../refusal.ts";
import { isSpoken } from "../release.ts";
import type { RestBody, RestCall, RestReply, Route } from "../rest-call.ts";
import { errorsOf } from "./rest-errors.ts";
import { routes } from "./rest-routes.ts";

/** The REST protocol: finds the route, runs it, and puts the result into Salesforce's forms. */
export class Rest {
  readonly #parts: Parts;
  readonly #routes: readonly { readonly segments: readonly string[]; readonly handlers: Route[1] }[];

  constructor(parts: Parts) {
    this.#parts = parts;
    const table = routes((outer, request) => this.#inner(outer, request));
    this.#routes = table.map(([pattern, handlers]) => ({
      segments: pattern === "" ? [] : pattern.split("/"),
      handlers,
    }));
  }

  /** Answers a request whose session is known and which has been counted. */
  async answer(call: Call, session: Session): Promise<Reply> {
    try {
      const answer = await this.#run(call, session, { bytes: call.body }, this.#parts);
      // Bulk answers come without the usage header (salesforce-facts 5).
      const isBulk = /^\/services\/data\/v[\d.]+\/jobs\//.test(call.path);
      return replyOf(answer, isBulk ? null : this.#parts.calls.header());
    } catch (error) {
      return refusalReply(error, this.#parts.calls.header());
    }
  }

  async #inner(
    outer: RestCall,
    { method, url, body }: { method: string; url: string; body: unknown },
  ): Promise<RestReply> {
    const relative = url.startsWith("/") ? url : `/services/data/${url}`;
    const target = new URL(relative.replace(/(?<=[^:])\/{2,}/g, "/"), "http://org");
    const call = {
      ...outer,
      method,
      path: target.pathname.replace(/\/$/, ""),
      query: target.searchParams,
      body: Buffer.alloc(0),
    };
    return await this.#run(call, outer.session, { value: body }, outer.parts);
  }

  async #run(call: Call, session: Session, body: RestBody, parts: Parts): Promise<RestReply> {
    const [version, ...segments] = call.path
      .replace(/^\/services\/data\/v/, "")
      .split("/")
      .map(decodeSegment);
    if (version === undefined || !isSpoken(version, parts.release.newestVersion)) throw notFound();
    const { handler, params } = this.#find(call.method, segments);
    const { method, query, headers, origin } = call;
    return await handler({
      parts: parts.fieldAccess.partsOf(parts, session.userId),
      session,
      method,
      version,
      base: `/services/data/v${version}`,
      params,
      query,
      headers,
      body,
      origin,
      name: nameOf(call),
    });
  }

  #find(method: string, segments: readonly string[]) {
    const matching = this.#routes.flatMap(({ segments: pattern, handlers }) => {
      const params = matched(pattern, segments);
      return params ? [{ handlers, params }] : [];
    });
    for (const { handlers, params } of matching) {
      const handler = handlers[method === "HEAD" ? "GET" : method];
      if (handler) return { handler, params };
    }
    const [first] = matching;
    if (!first) throw notFound();
    const allowed = Object.keys(first.handlers).join(",");
    throw new Refusal("METHOD_NOT_ALLOWED", `HTTP Method '${method}' not allowed. Allowed are ${allowed}`, {
      status: 405,
    });
  }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a stray % is part of the text, as it is for Salesforce
  }
}

function matched(pattern: readonly string[], segments: readonly string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? "";
    if (part.startsWith(":")) params[part.slice(1)] = segment;
    else if (part.toLowerCase() !== segment.toLowerCase()) return null;
  }
  return params;
}

function replyOf(answer: RestReply, usage: string | null): Reply {
  if ("reply" in answer) return answer.reply;
  const headers = { ...(usage === null ? {} : { "Sforce-Limit-Info": usage }), ...answer.headers };
  return answer.json === undefined
    ? emptyReply(answer.status, headers)
    : jsonReply(answer.status, answer.json, headers);
}

/** A refused request (salesforce-facts 8); anything else is UNKNOWN_EXCEPTION with its own words. */
export function refusalReply(error: unknown, usage: string): Reply {
  const headers = { "Sforce-Limit-Info": usage };
  if (error instanceof Refusal) return jsonReply(error.status, errorsOf(error), headers);
  const message = `An unexpected error occurred in the embedded org: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  return jsonReply(500, [{ message, errorCode: "UNKNOWN_EXCEPTION" }], headers);
}
