import { randomUUID } from "node:crypto";
import { finished } from "node:stream/promises";
import type { Cancel, Clock } from "../../clock.ts";
import { BEGINNING, type Chain, traceHeader } from "./chain.ts";
import { type Failed, failureOf, type Invocation, type Outcome, type Runner } from "./invocation.ts";
import type { Log, LogLine } from "./log.ts";
import type { LambdaFunction } from "./template/functions.ts";

/** Calls functions within their time and keeps count of what runs. */
export interface Invoker {
  /** Resolves with the result; for a stream once it begins. Never rejects. */
  invoke(target: LambdaFunction, event: unknown, chain?: Chain): Promise<Outcome>;
  /** How many calls are under way, streams included. */
  readonly running: number;
  /** Resolves when none is. */
  idle(): Promise<void>;
}

interface InvokerSettings {
  readonly runner: Runner;
  /** Counts the functions' time. */
  readonly clock: Clock;
  readonly log: Log;
}

/** Every problem of a call becomes one line of the log, with the function's name and the request's id. */
export function createInvoker({ runner, clock, log }: InvokerSettings): Invoker {
  const calls = new Set<Promise<void>>();
  const during = (work: Promise<unknown>) => {
    // It gives nothing: a set that calls come and go through would keep their answers from quick collections of memory.
    const end = () => void calls.delete(ended);
    const ended: Promise<void> = work.then(end, end);
    calls.add(ended);
  };
  const invoke = async (target: LambdaFunction, event: unknown, chain: Chain): Promise<Outcome> => {
    const requestId = randomUUID();
    const timeOut = new AbortController();
    const called = { requestId, event, traceHeader: traceHeader(chain, target) };
    const { outcome, cancel } = await runWithinTime(runner, clock, target, called, timeOut);
    if (outcome.kind === "streaming") {
      timeOut.signal.addEventListener("abort", () => outcome.stream.destroy(new Error(timeOutMessage(target))));
      const whole = finished(outcome.stream, { writable: false, readable: true });
      whole.catch((error: Error) => log(problem("stream broken", target, requestId, error.message)));
      during(whole.finally(cancel));
      return outcome;
    }
    cancel();
    if (outcome.kind === "failed") {
      const { errorType, message, trace } = outcome;
      log({ ...problem("function failed", target, requestId, message), error_type: errorType, trace });
    }
    return outcome;
  };
  return {
    invoke(target, event, chain = BEGINNING) {
      const call = invoke(target, event, chain);
      during(call);
      return call;
    },
    get running() {
      return calls.size;
    },
    async idle() {
      while (calls.size > 0) await Promise.all(calls);
    },
  };
}

interface Timed {
  readonly outcome: Outcome;
  /** Calls the time-out off. */
  readonly cancel: Cancel;
}

/** Runs a function until it answers or is out of time, which counts from when it has a place to run. */
async function runWithinTime(
  runner: Runner,
  clock: Clock,
  target: LambdaFunction,
  call: Pick<Invocation, "requestId" | "event" | "traceHeader">,
  timeOut: AbortController,
): Promise<Timed> {
  let cancel: Cancel = () => {};
  try {
    const place = await runner.acquire(target);
    const deadline = clock.now() + target.timeoutSeconds * 1000;
    const late = new Promise<Failed>((resolve) => {
      cancel = clock.at(deadline, () => {
        resolve({ kind: "failed", errorType: "Sandbox.Timedout", message: timeOutMessage(target), trace: [] });
        timeOut.abort();
      });
    });
    return { outcome: await Promise.race([place.run({ ...call, deadline, signal: timeOut.signal }), late]), cancel };
  } catch (thrown) {
    return { outcome: failureOf(thrown), cancel };
  }
}

const timeOutMessage = ({ timeoutSeconds }: LambdaFunction): string =>
  `Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;

function problem(event: string, target: LambdaFunction, requestId: string, message: string): LogLine {
  return { level: "error", event, function: target.name, request_id: requestId, message };
}
