import { randomUUID } from "node:crypto";
import { finished } from "node:stream/promises";
import type { Cancel, Clock } from "../../clock.ts";
import type { LambdaFunction } from "./functions.ts";
import type { Failed, Outcome, Runner } from "./invocation.ts";
import type { Log } from "./log.ts";

/** Calls functions within their time and keeps count of what runs. */
export interface Invoker {
  /** Resolves with what came of it; for a stream once it begins. Never rejects. */
  invoke(target: LambdaFunction, event: unknown): Promise<Outcome>;
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
  const calls = new Set<Promise<unknown>>();
  const during = (work: Promise<unknown>) => {
    const ended = work.catch(() => {}).finally(() => calls.delete(ended));
    calls.add(ended);
  };
  const invoke = async (target: LambdaFunction, event: unknown): Promise<Outcome> => {
    const requestId = randomUUID();
    const deadline = clock.now() + target.timeoutSeconds * 1000;
    const timeOut = new AbortController();
    const { promise: late, cancel } = timedOut(clock, target, deadline, timeOut);
    const outcome = await Promise.race([
      runner.run(target, { requestId, event, deadline, signal: timeOut.signal }),
      late,
    ]);
    if (outcome.kind === "streaming") {
      const { stream } = outcome;
      timeOut.signal.addEventListener("abort", () => stream.destroy(new Error(timeOutMessage(target))));
      const whole = finished(stream, { writable: false, readable: true });
      whole.catch((error: Error) => {
        log({
          level: "error",
          event: "stream broken",
          function: target.name,
          request_id: requestId,
          message: error.message,
        });
      });
      during(whole.finally(cancel));
    } else {
      cancel();
    }
    if (outcome.kind === "failed") logFailure(log, target, requestId, outcome);
    return outcome;
  };
  return {
    invoke(target, event) {
      const call = invoke(target, event);
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

function timedOut(
  clock: Clock,
  target: LambdaFunction,
  deadline: number,
  timeOut: AbortController,
): { promise: Promise<Failed>; cancel: Cancel } {
  let cancel: Cancel = () => {};
  const promise = new Promise<Failed>((resolve) => {
    cancel = clock.at(deadline, () => {
      resolve({ kind: "failed", errorType: "Sandbox.Timedout", message: timeOutMessage(target), trace: [] });
      timeOut.abort();
    });
  });
  return { promise, cancel };
}

const timeOutMessage = ({ timeoutSeconds }: LambdaFunction): string =>
  `Task timed out after ${timeoutSeconds.toFixed(2)} seconds`;

function logFailure(log: Log, target: LambdaFunction, requestId: string, failed: Failed): void {
  const { errorType, message, trace } = failed;
  log({
    level: "error",
    event: "function failed",
    function: target.name,
    request_id: requestId,
    error_type: errorType,
    message,
    trace,
  });
}
