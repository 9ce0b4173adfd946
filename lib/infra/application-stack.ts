import { existsSync } from "node:fs";
import { join } from "node:path";
import { Annotations, type App, CfnOutput, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { EventSourceMapping, FunctionUrlAuthType, InvokeMode } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { NO_SUCH_ENDPOINT, ROUTES, type Route, type RouteName } from "../http/routes.ts";
import { type Access, WORKERS, type WorkerName } from "../model/resources.ts";
import { Beat } from "./beat.ts";
import { BridgeFunction } from "./bridge-function.ts";
import type { Resources } from "./data-stack.ts";
import { grantAccess } from "./grant-access.ts";
import { baseUrlOf, restApi, STREAM_TIMEOUT_SECONDS } from "./rest-api.ts";
import { idOf, nameIn, type Settings } from "./settings.ts";

/** Below the gateway's 29 seconds, so that a slow function is ended, and told, before its caller is. */
const API_TIMEOUT_SECONDS = 25;
const API_MEMORY_MEGABYTES = 512;

const METRICS: RouteName = "read-metrics";

interface Sizing {
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly resends?: boolean;
}

/** Everything that runs: one function per row of the route table and of the workers, and what calls them. */
export class ApplicationStack extends Stack {
  readonly #settings: Settings;
  readonly #bundles: string;
  readonly #resources: Resources;
  readonly #beat: Beat;

  constructor(app: App, settings: Settings, resources: Resources, bundles: string) {
    super(app, `Bridge-${settings.stage}`, { description: `Bridge (${settings.stage}): API, workers and beat` });
    this.#settings = settings;
    this.#bundles = bundles;
    this.#resources = resources;
    this.#beat = new Beat(this, resources, settings);
    this.addApi();
    this.addWorkers();
  }

  private addApi(): void {
    const logs = this.logGroup("api");
    const sizing = { timeoutSeconds: API_TIMEOUT_SECONDS, memoryMegabytes: API_MEMORY_MEGABYTES };
    const answered = Object.entries<Route>(ROUTES).flatMap(([name, route]) => {
      const by = this.function(
        name,
        route,
        logs,
        route.streams ? { ...sizing, timeoutSeconds: STREAM_TIMEOUT_SECONDS } : sizing,
      );
      return by ? [{ name, route, by }] : [];
    });
    const api = restApi(
      this,
      this.#settings,
      answered,
      this.function("no-such-endpoint", NO_SUCH_ENDPOINT, logs, sizing),
    );
    new CfnOutput(this, "BaseUrl", { value: baseUrlOf(api), description: "base_url of the API" });
    for (const { name, route, by } of answered) if (name === METRICS) this.addMetricsUrl(route, by);
  }

  /** The second door for scrapers; both permissions that a public URL needs come with it. */
  private addMetricsUrl(route: Route, by: BridgeFunction): void {
    const { url } = by.addFunctionUrl({
      authType: FunctionUrlAuthType.NONE,
      invokeMode: route.streams ? InvokeMode.RESPONSE_STREAM : InvokeMode.BUFFERED,
    });
    new CfnOutput(this, "MetricsUrl", { value: url, description: "What a metrics scraper reads, without a token" });
  }

  private addWorkers(): void {
    const logs = this.logGroup("workers");
    for (const name of Object.keys(WORKERS) as WorkerName[]) {
      const worker = this.function(name, WORKERS[name], logs, WORKERS[name]);
      if (worker) this.addEventSource(name, worker);
    }
  }

  private addEventSource(name: WorkerName, worker: BridgeFunction): void {
    const { queue, batchSize, batchWindowSeconds, maxConcurrency } = WORKERS[name];
    const { queueArn } = this.#resources.queues[queue];
    worker.allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], [queueArn]);
    new EventSourceMapping(this, `${idOf(name)}Source`, {
      target: worker,
      eventSourceArn: queueArn,
      batchSize,
      ...(batchWindowSeconds > 0 && { maxBatchingWindow: Duration.seconds(batchWindowSeconds) }),
      maxConcurrency,
      reportBatchItemFailures: true,
    });
  }

  /** The function of a row, with what the row grants; none while its bundle does not exist. */
  private function(name: string, access: Access, logGroup: LogGroup, sizing: Sizing): BridgeFunction | undefined {
    const folder = join(this.#bundles, name);
    if (!existsSync(join(folder, "index.mjs"))) {
      Annotations.of(this).addWarningV2(`bridge:no-bundle:${name}`, `${name} is left out: it has no bundle`);
      return undefined;
    }
    const { timeoutSeconds, memoryMegabytes, resends = false } = sizing;
    const made = new BridgeFunction(this, {
      name,
      folder,
      settings: this.#settings,
      logGroup,
      timeoutSeconds,
      memoryMegabytes,
      resends,
    });
    grantAccess(made, access, { ...pick(this.#resources), beat: this.#beat });
    return made;
  }

  private logGroup(name: string): LogGroup {
    return new LogGroup(this, `${idOf(name)}Logs`, {
      logGroupName: `/bridge/${nameIn(this.#settings.stage, name)}`,
      retention: this.#settings.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
  }
}

const pick = ({ tables, queues, key }: Resources): Resources => ({ tables, queues, key });
