import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { ROUTES, type Route } from "../../../../lib/http/routes.ts";
import { build } from "../../../../lib/infra/build.ts";
import { createTestClock, type TestClock } from "../../../../lib/local/clock.ts";
import type { LogLine } from "../../../../lib/local/cloud/lambda/log.ts";
import type { LambdaContext } from "../../../../lib/local/cloud/lambda/runtime/context.ts";
import type { ResponseStream } from "../../../../lib/local/cloud/lambda/runtime/response-stream.ts";
import { type Host, type HostSettings, startHost } from "../../../../lib/local/cloud/lambda/start-host.ts";
import { readAssembly } from "../../../../lib/local/cloud/lambda/template/assembly.ts";
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
  /** The URL of a queue by the name of its row. */
  urlOf(queue: string): string;
  /** How many messages a queue holds, whatever they wait for. */
  kept(queue: string): Promise<number>;
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

/** Hosts functions: those whose sources the test hands in, and others whose behaviour it gives. */
export async function startLambdaWorld({ sources = {}, ...settings }: WorldSettings = {}): Promise<LambdaWorld> {
  const assembly = await synthesized(sources);
  const cloud = settings.cloud ?? (await startTestCloud());
  const functionClock = createTestClock(TEST_START);
  const log: LogLine[] = [];
  const host = await startHost({ clock: functionClock, log: (line) => log.push(line), ...settings, cloud, assembly });
  const urlOf = (queue: string) => {
    const name = queue.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return `${cloud.endpoints.sqs}/${cloud.accountId}/bridge-dev-${name}`;
  };
  return {
    urlOf,
    async kept(queue) {
      const names = ["", "Delayed", "NotVisible"] as const;
      const AttributeNames = names.map((kind) => `ApproximateNumberOfMessages${kind}` as const);
      const asked = new GetQueueAttributesCommand({ QueueUrl: urlOf(queue), AttributeNames });
      const { Attributes = {} } = await cloud.clients.sqs.send(asked);
      return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
    },
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

/** The folder of an assembly whose functions do what the test says, or what these sources say. */
async function synthesized(sources: Sources): Promise<string> {
  const behaving = await madeOnce("assembly of behaving functions", async (folder) => {
    const { synthesize } = await import("../../../../lib/infra/synthesize.ts"); // with all of the CDK
    const bundles = join(folder, "dist/functions");
    await build({ functions: writeFunctions(join(folder, "functions"), behavingSources()), out: bundles });
    synthesize({ bundles, outdir: join(folder, "cdk.out") });
  });
  if (Object.keys(sources).length === 0) return join(behaving, "cdk.out");
  const made = await madeOnce(`assembly of ${JSON.stringify(sources)}`, async (folder) => {
    cpSync(join(behaving, "cdk.out"), join(folder, "cdk.out"), { recursive: true });
    await replaceBundles(join(folder, "cdk.out"), sources);
  });
  return join(made, "cdk.out");
}

/** Puts other bundles into an assembly, whose templates stay as they are: the code of a function is none of its settings. */
async function replaceBundles(assembly: string, sources: Sources): Promise<void> {
  const [functions, out] = [join(assembly, "functions"), join(assembly, "dist/functions")];
  mkdirSync(functions);
  for (const [name, source] of Object.entries(sources)) writeFileSync(join(functions, `${name}.ts`), source);
  await build({ functions, out });
  const { stacks, assetFolder } = readAssembly(assembly);
  for (const { Type, Properties } of stacks.flatMap(({ resources }) => Object.values(resources))) {
    if (Type !== "AWS::Lambda::Function") continue;
    const { FunctionName, Code } = Properties as { readonly FunctionName: string; readonly Code: { S3Key: string } };
    const name = FunctionName.replace("bridge-dev-", "");
    if (name in sources) cpSync(join(out, name), assetFolder(Code.S3Key), { recursive: true });
  }
}

/** Functions that do what the test says; until it says anything, endpoints answer 200 and workers succeed. */
function behavingSources(): Sources {
  const behaviour = (name: string) => `(...given) => globalThis.bridgeBehaviours?.["${name}"]?.(...given)`;
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
