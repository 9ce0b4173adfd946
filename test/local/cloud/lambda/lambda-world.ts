import { join } from "node:path";
import { ROUTES, type Route } from "../../../../lib/http/routes.ts";
import { build } from "../../../../lib/infra/build.ts";
import { synthesize } from "../../../../lib/infra/synthesize.ts";
import { createTestClock, type TestClock } from "../../../../lib/local/clock.ts";
import type { LogLine } from "../../../../lib/local/cloud/lambda/log.ts";
import type { LambdaContext } from "../../../../lib/local/cloud/lambda/runtime/context.ts";
import type { ResponseStream } from "../../../../lib/local/cloud/lambda/runtime/response-stream.ts";
import { type Host, type HostSettings, startHost } from "../../../../lib/local/cloud/lambda/start-host.ts";
import { WORKERS } from "../../../../lib/model/resources.ts";
import { type Sources, writeFunctions } from "../../../infra/fixture-functions.ts";
import { madeOnce } from "../../../support/run/made-once.ts";
import { startTestCloud, TEST_START, type TestCloud } from "../../../support/worlds/cloud.ts";

/** What a test lets a function do. */
type Behaviour = (event: Json, context: LambdaContext) => unknown;
type StreamBehaviour = (event: Json, stream: ResponseStream, context: LambdaContext) => unknown;

/** Anything that JSON can hold, to be walked down by name. */
export interface Json {
  readonly [name: string]: Json;
}

/** A host over fixture functions that tests give their behaviour, with the cloud's clock and the functions' own. */
export interface LambdaWorld {
  readonly cloud: TestCloud;
  readonly host: Host;
  readonly functionClock: TestClock;
  readonly log: LogLine[];
  /** What functions do until the next `forget`. */
  does(name: string, behaviour: Behaviour): void;
  streams(name: string, behaviour: StreamBehaviour): void;
  /** Takes all behaviours and log lines back. */
  forget(): void;
  close(): Promise<void>;
}

/** Functions of one process find their behaviour here. */
const behaviours: Record<string, Behaviour | StreamBehaviour> = {};
Object.assign(globalThis, { bridgeBehaviours: behaviours });

interface WorldSettings extends Partial<HostSettings> {
  readonly sources?: Sources;
  readonly cloud?: TestCloud;
}

/** Builds, synthesizes and hosts functions: those whose behaviour the test gives, or whose sources it hands in. */
export async function startLambdaWorld({ sources, ...settings }: WorldSettings = {}): Promise<LambdaWorld> {
  const assembly = await synthesized(sources ?? behavingSources());
  const cloud = settings.cloud ?? (await startTestCloud());
  const functionClock = createTestClock(TEST_START);
  const log: LogLine[] = [];
  const host = await startHost({ clock: functionClock, log: (line) => log.push(line), ...settings, cloud, assembly });
  return {
    cloud,
    host,
    functionClock,
    log,
    does: (name, behaviour) => {
      behaviours[name] = behaviour;
    },
    streams: (name, behaviour) => {
      behaviours[name] = behaviour;
    },
    forget() {
      for (const name of Object.keys(behaviours)) delete behaviours[name];
      log.length = 0;
    },
    async close() {
      await host.close();
      if (!settings.cloud) await cloud.close();
    },
  };
}

/** Builds and synthesizes fixture functions; gives the assembly's folder. */
async function synthesized(sources: Sources): Promise<string> {
  const made = await madeOnce(`assembly of ${JSON.stringify(sources)}`, async (folder) => {
    const bundles = join(folder, "dist/functions");
    await build({ functions: writeFunctions(join(folder, "functions"), sources), out: bundles });
    synthesize({ bundles, outdir: join(folder, "cdk.out") });
  });
  return join(made, "cdk.out");
}

/** Functions that do what the test says; until it says anything, endpoints answer 200 and workers succeed. */
function behavingSources(): Sources {
  const behaviour = (name: string) => `(...given) => globalThis.bridgeBehaviours["${name}"]?.(...given)`;
  const plain = (name: string) =>
    `const behave = ${behaviour(name)};\n` +
    `export const handler = async (...given) => (await behave(...given)) ?? { statusCode: 200 };\n`;
  const streaming = (name: string) => `export const handler = awslambda.streamifyResponse(async ${behaviour(name)});\n`;
  const rows: [string, Pick<Route, "streams">][] = [
    ...Object.entries<Route>(ROUTES),
    ...Object.keys(WORKERS).map((name): [string, object] => [name, {}]),
    ["no-such-endpoint", {}],
  ];
  return Object.fromEntries(rows.map(([name, { streams }]) => [name, streams ? streaming(name) : plain(name)]));
}
