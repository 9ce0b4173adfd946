import type { Clock } from "../../../clock.ts";
import { failureOf, type Invocation, type Outcome, type Runner } from "../invocation.ts";
import type { LambdaFunction } from "../template/functions.ts";
import { contextOf } from "./context.ts";
import { FOR_LAMBDA_ALONE } from "./for-lambda-alone.ts";
import { callHandler, type Handler, loadHandler } from "./handler.ts";
import { provideRuntime } from "./response-stream.ts";
import { withTrace } from "./trace-store.ts";

interface InProcessSettings {
  readonly functions: readonly LambdaFunction[];
  /** Variables of every function, beside those of the templates. */
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** What functions take for the current time, in epoch milliseconds: the cloud's, which tests move. */
  readonly now: () => number;
  /** Receives variables that cannot have one value for all functions. */
  readonly onWarning: (message: string) => void;
}

/** Where `lib/adapters/time.ts` looks for a host's own time. */
const TIME_OF_FUNCTIONS = Symbol.for("bridge.now");

/** Separates hosts of one process, so that each loads the bundles again and none meets another's connections. */
let hosts = 0;
let running = 0;

/**
 * Runs every function inside this process: no start-up, little memory, easy to debug. What Lambda does and this cannot:
 * each function its own variables, its own module state per concurrent call, an end at its time-out.
 */
export function runInProcess(settings: InProcessSettings): Runner {
  if (running > 0) throw new Error("a host already runs functions in this process: close it, or use isolate");
  running++;
  const query = `host=${++hosts}`;
  const restore = setVariables(variablesOf(settings));
  Reflect.set(globalThis, TIME_OF_FUNCTIONS, settings.now);
  provideRuntime();
  const handlers = new Map<string, Promise<Handler>>();
  const handlerOf = (target: LambdaFunction): Promise<Handler> => {
    const loading = handlers.get(target.name) ?? loadHandler(target.folder, target.handler, query);
    handlers.set(target.name, loading);
    return loading;
  };
  const run = async (target: LambdaFunction, invocation: Invocation): Promise<Outcome> => {
    let handler: Handler;
    try {
      handler = await handlerOf(target);
    } catch (thrown) {
      handlers.delete(target.name);
      return failureOf(thrown);
    }
    const context = contextOf(target, invocation, settings.clock.now);
    return withTrace(invocation.traceHeader, () => callHandler(handler, invocation.event, context, { apart: true }));
  };
  return {
    mostPerFunction: Number.POSITIVE_INFINITY,
    acquire: async (target) => ({ run: (invocation) => run(target, invocation) }),
    async close() {
      running--;
      restore();
      Reflect.deleteProperty(globalThis, TIME_OF_FUNCTIONS);
    },
  };
}

/** The SDK hands on traces inside of Lambda alone, which it knows by this. */
const INSIDE_LAMBDA = { AWS_LAMBDA_FUNCTION_NAME: "every-function" };

/** All functions' variables as one set; those that differ between functions are reported. */
function variablesOf({ functions, environment, onWarning }: InProcessSettings): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const { name, environment: own } of functions) {
    for (const [variable, value] of Object.entries(own)) {
      if (FOR_LAMBDA_ALONE.has(variable)) continue;
      if (variables[variable] !== undefined && variables[variable] !== value) {
        onWarning(`${name} needs another value of ${variable} than others do, which takes --isolate`);
      }
      variables[variable] ??= value;
    }
  }
  return { ...variables, ...INSIDE_LAMBDA, ...environment };
}

/** Sets variables of this process; the answer takes them back. */
function setVariables(variables: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
