import type { Meta, Refusal } from "bridge/api";

/** Who asks: a token and the workspace that it belongs to. */
export interface Credentials {
  readonly workspaceId: string;
  readonly token: string;
}

/** A question that changes nothing; `Answer` is the `data` that comes back. */
export interface Question<Answer> {
  /** Below the workspace: `/health`. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** Never there: it only carries the type. */
  readonly answer?: Answer;
}

/** An act: something that is created, changed or started. */
export interface Act<Answer, Body = undefined> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Query | undefined;
  readonly body?: Body | undefined;
  /** Refuses the change when another one came first. */
  readonly ifMatch?: string | undefined;
  readonly answer?: Answer;
}

/** What is left undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The answer to a question, with its place in the list and its version where it has one. */
export interface Reply<Answer> {
  readonly data: Answer;
  readonly meta: Meta | null;
  readonly etag: string | null;
}

type Code = Refusal["error"]["code"] | "UNREACHABLE" | "UNREADABLE";

/** A refusal of the service, or no answer at all. */
export class Refused extends Error {
  readonly code: Code;
  readonly status: number;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(error: Pick<Refusal["error"], "message" | "details"> & { readonly code: Code }, response?: Response) {
    super(error.message);
    this.name = "Refused";
    this.code = error.code;
    this.status = response?.status ?? 0;
    this.details = error.details ?? [];
    this.requestId = response?.headers.get("x-request-id") ?? null;
    this.retryAfterSeconds = Number(response?.headers.get("retry-after") ?? 0) || null;
  }
}

/** API Gateway answers within 30 seconds, or in place of a function that has not. */
const ANSWER_SECONDS = 35;

/** Asks the API, with everything that a request needs. Rejects with `Refused`, also when no answer comes in time. */
export async function ask<Answer>(
  credentials: Credentials,
  asked: Question<Answer> | Act<Answer, unknown>,
  signal?: AbortSignal,
  seconds = ANSWER_SECONDS,
): Promise<Reply<Answer>> {
  const limit = AbortSignal.timeout(seconds * 1000);
  const until = signal ? AbortSignal.any([signal, limit]) : limit;
  const response = await send(credentials, asked, until);
  const envelope = await read<Answer>(response, until);
  if (!envelope.success) throw new Refused(envelope.error, response);
  return { data: envelope.data, meta: envelope.meta ?? null, etag: response.headers.get("etag") };
}

/** Fetches a file of the API, such as the audit log as CSV. Rejects with `Refused`. */
export async function download(credentials: Credentials, question: Question<unknown>): Promise<Blob> {
  const response = await send(credentials, question);
  if (response.ok) return response.blob();
  const envelope = await read(response);
  throw new Refused(
    envelope.success ? { code: "UNREADABLE", message: "the answer is no file" } : envelope.error,
    response,
  );
}

async function send(
  { workspaceId, token }: Credentials,
  asked: Question<unknown> | Act<unknown, unknown>,
  signal?: AbortSignal,
): Promise<Response> {
  const act = "method" in asked ? asked : undefined;
  const address = new URL(`api/v1/t/${encodeURIComponent(workspaceId)}${asked.path}`, document.baseURI);
  for (const [name, value] of Object.entries(asked.query ?? {}))
    if (value !== undefined && value !== "") address.searchParams.set(name, String(value));
  try {
    return await fetch(address, {
      method: act?.method ?? "GET",
      headers: {
        Authorization: `Bearer ${token}`,
        ...(act?.body !== undefined && { "Content-Type": "application/json" }),
        ...(act?.method === "POST" && { "Idempotency-Key": crypto.randomUUID() }),
        ...(act?.ifMatch !== undefined && { "If-Match": act.ifMatch }),
      },
      ...(act?.body !== undefined && { body: JSON.stringify(act.body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    throw noAnswer(error, signal);
  }
}

type Envelope<Answer> = { readonly success: true; readonly data: Answer; readonly meta?: Meta } | Refusal;

/** What is thrown when no answer came: a page that was left wants none. */
function noAnswer(error: unknown, signal?: AbortSignal): unknown {
  const isLate = signal?.aborted && (signal.reason as Error).name === "TimeoutError";
  if (signal?.aborted && !isLate) return error;
  const message = isLate ? "The service takes too long to answer." : "The service did not answer.";
  return new Refused({ code: "UNREACHABLE", message });
}

async function read<Answer>(response: Response, signal?: AbortSignal): Promise<Envelope<Answer>> {
  try {
    return (await response.json()) as Envelope<Answer>;
  } catch (error) {
    if (signal?.aborted) throw noAnswer(error, signal);
    throw new Refused(
      { code: "UNREADABLE", message: `The service answered with status ${response.status} and no explanation.` },
      response,
    );
  }
}
