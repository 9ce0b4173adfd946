import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { CREDENTIAL_COMMANDS, credentialCommandsIn, KEPT_DAYS, keptDaysIn } from "../model/resources.ts";
import { assemble } from "./assemble.ts";
import { cannotListen } from "./cannot-listen.ts";
import { systemClock } from "./clock.ts";
import { startHost } from "./cloud/lambda/start-host.ts";
import { startCloud } from "./cloud/start-cloud.ts";
import { checkFormat } from "./data-format.ts";
import { type Demo, isConnectedTo, knownDemo, openDemo } from "./demo/demo.ts";
import { hasWriter, startWriter } from "./demo/demo-writer.ts";
import { unwritable } from "./folder-lock.ts";
import { type FunctionLog, openFunctionLog } from "./function-log.ts";
import { type InstanceFile, readInstanceFile, writeBegunFile, writeInstanceFile } from "./instance-file.ts";
import { operatorEnvironment, writeOperatorFile } from "./operator-file.ts";
import { NO_LATENCY, readLatency } from "./org/simulation/latency.ts";
import { type Org, startOrg } from "./org/start-org.ts";
import { postgresUser } from "./postgres/programs.ts";
import { type Postgres, startPostgres } from "./postgres/start-postgres.ts";
import { usePostgres } from "./postgres/use-postgres.ts";

export interface InstanceOptions {
  /** Of the service; 0 picks a free one. */
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  /** Null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  readonly demo: boolean;
  /** The demo begins with two empty mappings and without its writer. */
  readonly quiet: boolean;
  /** A process per function, as on Lambda. */
  readonly isolate: boolean;
  /** How long the Salesforce org takes to save, `SAVE,JOB` in seconds; null: as long as this machine takes. */
  readonly orgLatency: string | null;
  /** Receives what has been done, a phrase each. */
  readonly progress: (step: string) => void;
  /** Receives what moves or fails while it runs, a line each. */
  readonly show: (line: string) => void;
  /** Called when a part that nothing works without has ended unexpectedly. */
  readonly onLoss: (reason: string) => void;
}

/** Bridge on one machine, running. */
export interface Instance {
  readonly file: InstanceFile;
  readonly filePath: string;
  /** Stops what was started, last first; nothing that was accepted is lost. */
  close(): Promise<void>;
}

type Closers = (() => Promise<unknown>)[];

/** Starts every part, finds or makes the demo workspace, and writes `instance.json`. When a part fails, the others are stopped again. */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const dataDir = resolve(options.dataDir);
  makeFolder(dataDir);
  checkFormat(dataDir);
  const closers: Closers = [];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const log = openFunctionLog(dataDir, options.show);
    closers.push(async () => log.close());
    const file = await startParts(options, dataDir, closers, log);
    return { file, filePath: writeInstanceFile(dataDir, file, options.demo), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function makeFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: postgresUser() ? 0o711 : 0o700 }); // PostgreSQL may run as another user below it
  } catch (error) {
    throw unwritable(dataDir, error as Error);
  }
}

async function startParts(
  options: InstanceOptions,
  dataDir: string,
  closers: Closers,
  log: FunctionLog,
): Promise<InstanceFile> {
  const before = readInstanceFile(dataDir);
  const awaited = new Set<string>();
  const progress = withProgress(options.progress, awaited);
  const keep = async <Part extends { close(): Promise<unknown> }>(
    name: string,
    starting: Promise<Part>,
  ): Promise<Part> => {
    awaited.add(name);
    const part = await starting;
    closers.push(() => part.close());
    awaited.delete(name);
    progress.say(name);
    return part;
  };
  closers.push(async () => progress.end());
  const deployment = "deployment synthesized";
  awaited.add(deployment);
  const assembling = assemble({ shared: !options.isolate, progress: progress.say }).then((assembly) => {
    awaited.delete(deployment);
    progress.say(deployment);
    return assembly;
  });
  const starts = await Promise.allSettled([
    keep("cloud: DynamoDB, SQS, Scheduler, KMS", startCloud({ dataDir: join(dataDir, "cloud") })),
    keep("PostgreSQL", openPostgres(options, dataDir, before)),
    keep("Salesforce org", openOrg(options, dataDir, before)),
    assembling,
  ]);
  const [cloud, postgres, org, assembly] = allOf(starts);
  let stopping = false;
  closers.push(async () => {
    stopping = true;
  });
  const lose = (part: string, logFile: string) => {
    if (stopping) return;
    const message = `${part} has ended; its last words are in ${logFile}`;
    log.write(JSON.stringify({ level: "error", event: "lost", message }));
    options.onLoss(message);
  };
  postgres.exited.then(() => lose("the embedded PostgreSQL", postgres.logFile));
  cloud.dynamodb.lost.then(() => lose("the embedded DynamoDB", join(dataDir, "cloud/dynamodb.log")));
  const environment = operatorEnvironment(cloud.environment);
  const host = await keep(
    "functions",
    startHost({
      cloud,
      assembly,
      port: options.port,
      address: options.host,
      isolate: options.isolate,
      environment: { ...DEVELOPMENT, ...chosen() },
      log: (line) => log.write(JSON.stringify({ part: "lambda host", ...line })),
    }).catch((error: unknown) => {
      throw cannotListen(error, "the service", "choose another with --port (0 picks a free one) or --host");
    }),
  );
  writeOperatorFile(dataDir, environment);
  const fileWith = (demo: Demo | null): InstanceFile => ({
    pid: process.pid,
    base_url: host.baseUrl,
    metrics_url: `${host.baseUrl}/api/metrics`,
    workspace_id: demo?.workspaceId ?? null,
    api_token: demo?.token ?? null,
    database_url: postgres.url,
    salesforce: {
      url: org.url,
      username: org.username,
      password: org.password,
      access_token: org.accessToken,
      client_id: org.clientId,
      client_secret: org.clientSecret,
    },
  });
  const onBegun = (demo: Demo) => writeBegunFile(dataDir, fileWith(demo));
  // A database of the user's own gets no demo.
  const isLive = !options.quiet && options.databaseUrl === null;
  const demo = options.demo
    ? await openDemo({
        environment,
        postgres,
        org,
        before,
        ...options,
        progress: progress.say,
        dataDir,
        isLive,
        baseUrl: host.baseUrl,
        onBegun,
      })
    : knownDemo(before);
  if (options.demo && demo && isLive && hasWriter(dataDir)) {
    const isOurs = () => isConnectedTo({ baseUrl: host.baseUrl, postgres, org }, demo);
    const { show } = options;
    const writer = startWriter({ dataDir, databaseUrl: postgres.url, org, isOurs, show, clock: systemClock });
    closers.push(() => writer.close());
  }
  progress.end();
  return fileWith(demo);
}

/** Shows each step, and after four seconds without one what is still awaited: a busy machine is not silent. */
function withProgress(show: (step: string) => void, awaited: ReadonlySet<string>) {
  let last = performance.now();
  const say = (step: string) => {
    last = performance.now();
    show(step);
  };
  const timer = setInterval(() => {
    if (performance.now() - last > 4000) say(`… still to come: ${[...awaited].join("; ") || "the demo"}`);
  }, 500);
  return { say, end: () => clearInterval(timer) };
}

/** This process's settings: the rate limit, as load tests set it, commands for credentials, and the retention of deliveries and audit entries. */
function chosen(): Record<string, string> {
  keptDaysIn(process.env);
  credentialCommandsIn(process.env);
  const names = [
    "RATE_LIMIT_PER_MINUTE",
    "BASE_URL",
    CREDENTIAL_COMMANDS,
    ...Object.values(KEPT_DAYS).map(({ variable }) => variable),
  ];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** Settings of functions beyond their templates. Pull intervals, time-outs and limits stay those of AWS. */
const DEVELOPMENT = { STAGE: "dev" };

function openPostgres(options: InstanceOptions, dataDir: string, before: InstanceFile | null): Promise<Postgres> {
  if (options.databaseUrl !== null) return usePostgres(options.databaseUrl);
  return startPostgres({ dataDir: join(dataDir, "postgres"), keepsPort: before !== null });
}

/** The org keeps its port, because the workspace's connection names it. */
async function openOrg({ orgLatency }: InstanceOptions, dataDir: string, before: InstanceFile | null): Promise<Org> {
  const port = before === null ? 0 : Number(new URL(before.salesforce.url).port);
  const latency = orgLatency === null ? NO_LATENCY : readLatency(orgLatency);
  try {
    return await startOrg({ dataDir: join(dataDir, "org"), port, controls: true, latency });
  } catch (error) {
    throw cannotListen(error, "the Salesforce org", "the workspace's connection names it: end what uses it");
  }
}

type Settled<Parts extends readonly unknown[]> = {
  readonly [Index in keyof Parts]: PromiseSettledResult<Parts[Index]>;
};

/** Every part, or what the first failed one said. */
function allOf<Parts extends readonly unknown[]>(starts: Settled<Parts>): Parts {
  const failed = starts.find((start) => start.status === "rejected");
  if (failed) throw failed.reason;
  return starts.map((start) => (start.status === "fulfilled" ? start.value : undefined)) as unknown as Parts;
}
