import type { Readable } from "node:stream";
import type { LambdaFunction } from "./template/functions.ts";

/** One call of a function. */
export interface Invocation {
  readonly requestId: string;
  /** What JSON can say, and the function's own from now on. */
  readonly event: unknown;
  /** Names the chain of calls that caused it: what it sends carries that on. */
  readonly traceHeader: string;
  /** Epoch milliseconds at which the function is out of time. */
  readonly deadline: number;
  /** Aborts when the time is up; the function is ended then if possible. */
  readonly signal: AbortSignal;
}

/** The result of a call. A stream may still break off, with an error that names the reason. */
export type Outcome =
  | Answered
  | { readonly kind: "streaming"; readonly contentType: string; readonly stream: Readable }
  | Failed;

/** What the function gave, as JSON; where both run in one process, the body of a response may lie beside it as it is. */
export interface Answered {
  readonly kind: "answered";
  readonly payload: string;
  readonly body?: string;
}

/** A call that did not end well: the function threw, crashed or ran out of time. */
export interface Failed {
  readonly kind: "failed";
  /** `TypeError`, `Runtime.ExitError`, `Sandbox.Timedout` … */
  readonly errorType: string;
  readonly message: string;
  readonly trace: readonly string[];
}

/** What a function gave, as it is after it has travelled. */
export function received({ payload, body }: Answered): unknown {
  const value: unknown = JSON.parse(payload);
  return body === undefined ? value : Object.assign(value as object, { body });
}

/** A copy of an event as it is after it has travelled. */
export const travelled = (event: unknown): unknown => JSON.parse(JSON.stringify(event));

/** Where functions run. */
export interface Runner {
  /** How many calls of one function may be at work at once. */
  readonly mostPerFunction: number;
  /** Waits for a place where the function can run, which its time-out does not count. Rejects when there is none. */
  acquire(target: LambdaFunction): Promise<Place>;
  close(): Promise<void>;
}

/** A place where a function runs one call. */
export interface Place {
  run(invocation: Invocation): Promise<Outcome>;
}

/** Lambda refuses answers above this, unless they are streamed. */
export const MAXIMUM_PAYLOAD_BYTES = 6 * 1024 * 1024;

/** The failure for a thrown value, as Lambda reports it. */
export function failureOf(thrown: unknown): Failed {
  if (!(thrown instanceof Error))
    return { kind: "failed", errorType: typeof thrown, message: String(thrown), trace: [] };
  return { kind: "failed", errorType: thrown.name, message: thrown.message, trace: (thrown.stack ?? "").split("\n") };
}
