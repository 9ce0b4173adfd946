import type { Server } from "node:http";
import { text } from "node:stream/consumers";
import { type Clock, systemClock } from "../../clock.ts";
import { type Caller, startGuard } from "../iam/guard.ts";
import type { Cloud } from "../start-cloud.ts";
import { callerIn } from "./chain.ts";
import { startPolling } from "./events/event-source.ts";
import { readEventSources } from "./events/read-event-sources.ts";
import { createFunctionUrl } from "./gateway/function-url.ts";
import { createGateway } from "./gateway/gateway.ts";
import { readRestApi } from "./gateway/rest-routes.ts";
import { listen, stopListening } from "./gateway/servers.ts";
import { type Outcome, type Runner, received, travelled } from "./invocation.ts";
import { createInvoker } from "./invoker.ts";
import { type Log, logToStderr } from "./log.ts";
import { checkEventSources, readPolicies } from "./read-policies.ts";
import { runInProcess } from "./runtime/in-process.ts";
import { runIsolated } from "./runtime/isolated.ts";
import { type Assembly, readAssembly } from "./template/assembly.ts";
import { functionNamed, type LambdaFunction, readFunctions, resourcesOfType } from "./template/functions.ts";
import { provision } from "./template/provision.ts";
import { createResolver, type Resolve } from "./template/resolve.ts";

/** How long `close` waits for functions at work. */
const DRAIN_SECONDS = 10;

/** How to host the functions of a cloud assembly. */
export interface HostSettings {
  readonly cloud: Cloud;
  /** The folder that `cdk synth` wrote. */
  readonly assembly: string;
  /** Where to listen; by default 127.0.0.1 and a free port. */
  readonly port?: number;
  readonly address?: string;
  /** A process per function instead of this one, each allowed what the policy of its role allows and no more. */
  readonly isolate?: boolean;
  /** The policies hold in this process as well, where functions are known by their traces. */
  readonly guarded?: boolean;
  /** With `isolate`: how many processes one function may have, 4 unless given. */
  readonly mostPerFunction?: number;
  /** Variables of every function; they win over those of the templates. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Counts how long functions and requests to them may take. What time it is, is the cloud's clock to say. */
  readonly clock?: Clock;
  readonly log?: Log;
  /** Loops that poll each queue: 1 unless given. */
  readonly pollers?: number;
  /** Wraps calls from the host to the functions, to measure them. */
  readonly around?: (runner: Runner) => Runner;
}

/** The running functions. */
export interface Host {
  /** `http://127.0.0.1:<port>`: what the contract calls base_url. */
  readonly baseUrl: string;
  /** The public URL of the metrics function, a listener of its own; null when the templates define none. */
  readonly metricsUrl: string | null;
  /** Calls a function by its name or its row's name and gives its answer. Rejects when the call fails. */
  invoke(name: string, event: unknown): Promise<unknown>;
  /** Resolves when no message is due or at work and no request under way. Messages of later wait for their time. */
  settle(): Promise<void>;
  /** Takes nothing more, lets what is at work end, and stops. */
  close(): Promise<void>;
}

/** Brings the templates' resources into the cloud and runs their functions on it. */
export async function startHost(settings: HostSettings): Promise<Host> {
  const { cloud, clock = systemClock, log = logToStderr, address = "127.0.0.1" } = settings;
  const assembly = readAssembly(settings.assembly);
  const resolve = createResolver(assembly, {
    region: cloud.region,
    accountId: cloud.accountId,
    queueUrl: (name) => `${cloud.endpoints.sqs}/${cloud.accountId}/${name}`,
    keyArn: cloud.kms.ensureKey,
  });
  await provision(cloud, assembly, resolve);
  const functions = readFunctions(assembly, resolve);
  const callers = settings.isolate || settings.guarded ? readPolicies(assembly, resolve, functions) : null;
  const { around = (runner) => runner } = settings;
  const runner = around(await startRunner(settings, functions, callers, clock, log));
  const invoker = createInvoker({ runner, clock, log });
  const gateway = serve(assembly, resolve, { functions, invoker, clock, log, accountId: cloud.accountId });
  const url = urlOf(assembly, resolve, functions);
  const urlServer = url && createFunctionUrl({ target: url, invoker, clock, log });
  const servers = urlServer ? [gateway, urlServer] : [gateway];
  const end = async () => {
    for (const server of servers) server.closeAllConnections();
    await runner.close();
  };
  let baseUrl: string;
  let metricsUrl: string | null;
  const sources = readEventSources(assembly, resolve, functions, runner.mostPerFunction);
  try {
    if (callers) checkEventSources(sources, callers);
    baseUrl = await listen(gateway, settings.port ?? 0, address);
    metricsUrl = urlServer ? `${await listen(urlServer, 0, address)}/` : null;
  } catch (error) {
    await Promise.all(servers.map(stopListening));
    await end();
    throw error;
  }
  const pollers = sources.map((source) =>
    startPolling(source, { sqs: cloud.sqs, clock: cloud.clock, invoker, log, pollers: settings.pollers }),
  );

  return {
    baseUrl,
    metricsUrl,
    async invoke(name, event) {
      return valueFrom(name, await invoker.invoke(functionNamed(functions, name), travelled(event)));
    },
    async settle() {
      for (;;) {
        await invoker.idle();
        await breath();
        const busy = pollers.filter((poller) => poller.isBusy());
        if (busy.length === 0 && invoker.running === 0) return;
        await Promise.race([
          ...busy.map((poller) => poller.changed()),
          ...(invoker.running > 0 ? [invoker.idle()] : []),
        ]);
      }
    },
    async close() {
      const drained = Promise.all([...pollers.map((poller) => poller.stop()), ...servers.map(stopListening)]);
      await withinSeconds(
        DRAIN_SECONDS,
        clock,
        drained.then(() => invoker.idle()),
      );
      await end();
    },
  };
}

async function startRunner(
  settings: HostSettings,
  functions: readonly LambdaFunction[],
  callers: readonly Caller[] | null,
  clock: Clock,
  log: Log,
): Promise<Runner> {
  const { cloud, environment = {}, isolate = false } = settings;
  if (callers) return startGuarded(settings, { functions, callers, isolate }, clock, log);
  return runInProcess({
    functions,
    environment: { ...cloud.environment, ...environment },
    ...timeOf(cloud, clock, log),
  });
}

const timeOf = (cloud: Cloud, clock: Clock, log: Log) => ({
  clock,
  now: cloud.clock.now,
  onWarning: (message: string) => log({ level: "warn", event: "variables differ", message }),
});

/** Functions whose only way into the cloud is the guard's door: each in processes of its own, or known by its traces. */
async function startGuarded(
  { cloud, environment = {}, mostPerFunction = 4 }: HostSettings,
  {
    functions,
    callers,
    isolate,
  }: { functions: readonly LambdaFunction[]; callers: readonly Caller[]; isolate: boolean },
  clock: Clock,
  log: Log,
): Promise<Runner> {
  const guard = await startGuard({
    endpoints: cloud.endpoints,
    accessKeyId: cloud.environment["AWS_ACCESS_KEY_ID"] ?? "",
    callers,
    arnOf: (service, rest) => `arn:aws:${service}:${cloud.region}:${cloud.accountId}:${rest}`,
    callerOf: isolate ? undefined : (header) => callerIn(header, functions)?.name,
    onRefusal: (name, { action, resource }) =>
      log({ level: "error", event: "access denied", function: name, message: `no ${action} on ${resource}` }),
  });
  const queuesOf = (one: LambdaFunction) => behindGuard(one.environment, cloud.endpoints.sqs, guard.address);
  const environmentOf = (target: LambdaFunction) => ({
    ...cloud.environment,
    ...guard.environmentOf(target.name),
    ...queuesOf(target),
    ...environment,
  });
  const shared = { ...cloud.environment, ...guard.endpoints, ...Object.assign({}, ...functions.map(queuesOf)) };
  const runner = isolate
    ? runIsolated({ environmentOf, mostPerFunction })
    : runInProcess({ functions, environment: { ...shared, ...environment }, ...timeOf(cloud, clock, log) });
  return {
    ...runner,
    async close() {
      await runner.close();
      await guard.close();
    },
  };
}

/** The SDK sends to the host of a queue's URL, so those that a function knows lead to the guard as well. */
function behindGuard(variables: Readonly<Record<string, string>>, sqs: string, guard: string): Record<string, string> {
  const queues = Object.entries(variables).filter(([, value]) => value.startsWith(`${sqs}/`));
  return Object.fromEntries(queues.map(([name, url]) => [name, url.replace(sqs, guard)]));
}

function serve(
  assembly: Assembly,
  resolve: Resolve,
  settings: Omit<Parameters<typeof createGateway>[0], "api">,
): Server {
  const api = readRestApi(assembly, resolve);
  if (!api) throw new Error("the templates define no REST API: is this the assembly of Bridge?");
  return createGateway({ ...settings, api });
}

function urlOf(assembly: Assembly, resolve: Resolve, functions: readonly LambdaFunction[]): LambdaFunction | undefined {
  const [url, another] = resourcesOfType<{ TargetFunctionArn: string }>(assembly, resolve, "AWS::Lambda::Url");
  if (another) throw new Error(`the local host serves one function URL, but there are ${url?.id} and ${another.id}`);
  return functions.find(({ arn }) => arn === url?.properties.TargetFunctionArn);
}

async function valueFrom(name: string, outcome: Outcome): Promise<unknown> {
  if (outcome.kind === "answered") return received(outcome);
  if (outcome.kind === "failed") throw new Error(`${name} failed: ${outcome.errorType}: ${outcome.message}`);
  return await text(outcome.stream);
}

function withinSeconds(seconds: number, clock: Clock, work: Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const cancel = clock.at(clock.now() + seconds * 1000, () => resolve(undefined));
    work.then(resolve, reject).finally(cancel);
  });
}

const breath = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
