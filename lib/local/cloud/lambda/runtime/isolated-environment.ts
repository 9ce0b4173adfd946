import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Failed, Invocation, Outcome } from "../invocation.ts";
import type { LambdaFunction } from "../template/functions.ts";
import { FOR_LAMBDA_ALONE } from "./for-lambda-alone.ts";
import { type RuntimeApi, serveRuntimeApi } from "./runtime-api.ts";

/** One process that runs one function, one event at a time. */
export interface Environment {
  isAlive(): boolean;
  /** The outcome, and the moment from which the environment takes another event or is dead. */
  run(invocation: Invocation): { readonly outcome: Promise<Outcome>; readonly free: Promise<void> };
  end(): Promise<void>;
}

/** Starts a process and its Runtime API; what goes wrong at start becomes the outcome of the first event. */
export async function startEnvironment(
  target: LambdaFunction,
  variables: Readonly<Record<string, string>>,
): Promise<Environment> {
  const api = await serveRuntimeApi();
  const child = spawnRuntime(target, variables, api);
  for (const said of [child.stdout, child.stderr]) if (said) printLines(said);
  let isAlive = true;
  const exited = new Promise<void>((resolve) => {
    const gone = (reason: string) => {
      isAlive = false;
      api.fail(crash(reason));
      void api.close();
      resolve();
    };
    child.once("error", (error) => gone(error.message));
    child.once("exit", (code, signal) => gone(`exit status ${code ?? signal}`));
  });
  return {
    isAlive: () => isAlive,
    run(invocation) {
      const kill = () => child.kill("SIGKILL");
      invocation.signal.addEventListener("abort", kill);
      if (invocation.signal.aborted) kill();
      const { outcome, done } = api.hand(invocation, target);
      const free = Promise.race([done, exited]).finally(() => invocation.signal.removeEventListener("abort", kill));
      return { outcome, free };
    },
    async end() {
      if (isAlive) child.kill("SIGKILL"); // an idle environment is frozen on AWS: it gets no notice of its end
      await exited;
    },
  };
}

function spawnRuntime(
  target: LambdaFunction,
  environment: Readonly<Record<string, string>>,
  api: RuntimeApi,
): ChildProcess {
  const heap = `--max-old-space-size=${target.memoryMegabytes}`;
  return spawn(process.execPath, [heap, join(import.meta.dirname, "runtime.ts")], {
    cwd: target.folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      TZ: ":UTC",
      LANG: "en_US.UTF-8",
      ...target.environment,
      ...environment,
      ...emptied(FOR_LAMBDA_ALONE),
      AWS_LAMBDA_RUNTIME_API: api.address,
      AWS_LAMBDA_FUNCTION_NAME: target.name,
      AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(target.memoryMegabytes),
      AWS_LAMBDA_LOG_GROUP_NAME: target.logGroup,
      AWS_LAMBDA_LOG_STREAM_NAME: target.name,
      AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
      LAMBDA_TASK_ROOT: target.folder,
      _HANDLER: target.handler,
    },
  });
}

const emptied = (names: ReadonlySet<string>): Record<string, string> =>
  Object.fromEntries([...names].map((name) => [name, ""]));

/** What a function prints comes out of this process's console, line by line, as it does when it runs inside. */
function printLines(said: Readable): void {
  createInterface({ input: said }).on("line", (line) => console.log(line));
}

const crash = (reason: string): Failed => ({
  kind: "failed",
  errorType: "Runtime.ExitError",
  message: `RequestId: the runtime exited: ${reason}`,
  trace: [],
});
