import { randomUUID } from "node:crypto";
import type { Meta } from "bridge/api";
import { CommandFailure, kindOf } from "./failure.ts";
import type { Chosen, Target } from "./profiles.ts";

/** An answer of the service: its `data`, and `meta` on a page of a list. */
export interface Answered<Data> {
  /** Typed as a service of this version answers; an older one may leave out what came later. */
  readonly data: Data;
  readonly meta: Meta | null;
  readonly etag: string | null;
  /** The mark of the cycle that was asked for, or of the one that runs. */
  readonly cycle: string | null;
}

type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

interface Sent {
  readonly query?: Query;
  readonly body?: unknown;
  /** The version that a change is meant for (If-Match). */
  readonly ifMatch?: string | null;
}

interface Received {
  readonly response: Response;
  readonly text: string;
}

/** Longer than the gateway lets a function think (29 s). */
const DEADLINE_MILLISECONDS = 35_000;

const ATTEMPTS = 3;

/** The API of one workspace. Paths are relative to it: `/mappings`. */
export class Api {
  readonly target: Target & Partial<Pick<Chosen, "because">>;
  readonly #interrupted: AbortSignal;

  constructor(target: Api["target"], interrupted: AbortSignal) {
    this.target = target;
    this.#interrupted = interrupted;
  }

  get<Data>(path: string, query: Query = {}): Promise<Answered<Data>> {
    return this.#call("GET", path, { query });
  }

  post<Data>(path: string, sent: Sent = {}): Promise<Answered<Data>> {
    return this.#call("POST", path, sent);
  }

  put<Data>(path: string, sent: Sent): Promise<Answered<Data>> {
    return this.#call("PUT", path, sent);
  }

  patch<Data>(path: string, sent: Sent): Promise<Answered<Data>> {
    return this.#call("PATCH", path, sent);
  }

  delete<Data>(path: string, query: Query = {}): Promise<Answered<Data>> {
    return this.#call("DELETE", path, { query });
  }

  /** An answer that is not the envelope. */
  async text(path: string, query: Query = {}): Promise<string> {
    const { response, text } = await this.#send("GET", path, { query }, {});
    if (!response.ok) throw refusalIn(response, text, `GET ${path}`);
    return text;
  }

  async #call<Data>(method: string, path: string, sent: Sent): Promise<Answered<Data>> {
    // The same key on every attempt, so that a repeated POST happens once.
    const key: Record<string, string> = method === "POST" ? { "Idempotency-Key": randomUUID() } : {};
    const { response, text } = await this.#send(method, path, sent, key);
    const answer = parse(text);
    if (!response.ok || answer?.["success"] !== true) throw refusalIn(response, text, `${method} ${path}`);
    return {
      data: answer["data"] as Data,
      meta: (answer["meta"] as Meta | undefined) ?? null,
      etag: response.headers.get("etag"),
      cycle: response.headers.get("bridge-cycle"),
    };
  }

  /** A connection that was refused or broken is tried again, at once: the request is repeatable by its key. */
  async #send(method: string, path: string, sent: Sent, more: Record<string, string>): Promise<Received> {
    const { url, workspaceId, token } = this.target;
    const place = `${url}/api/v1/t/${encodeURIComponent(workspaceId)}${path}${queryText(sent.query ?? {})}`;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await fetch(place, {
          method,
          redirect: "error",
          headers: {
            Authorization: `Bearer ${token}`,
            Accept: "application/json",
            ...(sent.body === undefined ? {} : { "Content-Type": "application/json" }),
            ...(sent.ifMatch ? { "If-Match": sent.ifMatch } : {}),
            ...more,
          },
          ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
          signal: AbortSignal.any([this.#interrupted, AbortSignal.timeout(DEADLINE_MILLISECONDS)]),
        });
        return { response, text: await response.text() };
      } catch (error) {
        if (this.#interrupted.aborted) throw new CommandFailure("interrupted", "interrupted", { cause: error });
        if (attempt === ATTEMPTS || isTimeout(error)) throw unreachable(this.target, error);
      }
    }
  }
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === "TimeoutError";

function unreachable({ url, because }: Api["target"], error: unknown): CommandFailure {
  const why = isTimeout(error) ? `no answer within ${DEADLINE_MILLISECONDS / 1000} s` : reasonOf(error);
  const address = because === undefined ? url : `${url} (by ${because})`;
  return new CommandFailure("unreachable", `${address} cannot be reached: ${why}. Does it run? Is the address right?`, {
    cause: error,
  });
}

/** Fetch says "fetch failed" and keeps the reason in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return code || (cause instanceof Error ? cause.message : error.message);
}

function refusalIn(response: Response, text: string, call: string): CommandFailure {
  const error = parse(text)?.["error"];
  if (typeof error !== "object" || error === null) {
    const from = new URL(response.url).origin;
    return new CommandFailure(kindOf(response.status), `${call}: ${from} answered ${response.status} without a reason`);
  }
  const { code, message, details } = error as Record<string, unknown>;
  return new CommandFailure(kindOf(response.status), String(message), {
    code: String(code),
    details: Array.isArray(details) ? (details as CommandFailure["details"]) : [],
    help: `${response.url.replace(/\/api\/v1\/.*$/s, "")}/docs/errors#${code}`,
  });
}

function parse(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" ? (parsed as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

function queryText(query: Query): string {
  const said = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const text = new URLSearchParams(said.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}
