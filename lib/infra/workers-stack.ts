import { Duration, Stack } from "aws-cdk-lib";
import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { WORKERS, type WorkerName } from "../model/resources.ts";
import { Beat } from "./beat.ts";
import type { BridgeFunction } from "./bridge-function.ts";
import type { Resources } from "./data-stack.ts";
import { logGroupOf, makeFunction } from "./make-function.ts";
import { idOf, type Settings } from "./options/settings.ts";

/** What runs automatically: a function per worker with the queue that feeds it, and what starts things by the clock. */
export class WorkersStack extends Stack {
  readonly beat: Beat;
  readonly #resources: Resources;
  readonly #reserved: ReadonlyMap<string, number>;

  constructor(scope: Construct, settings: Settings, resources: Resources, bundles: string) {
    super(scope, `Bridge-${settings.stage}-Workers`, {
      stackName: `Bridge-${settings.stage}-Workers`,
      description: `Bridge (${settings.stage}): workers and beat`,
    });
    this.#resources = resources;
    this.#reserved = settings.concurrency.reserved;
    this.beat = new Beat(this, resources, settings);
    const logGroup = logGroupOf(this, "workers", settings);
    const surroundings = { settings, bundles, resources: { ...resources, beat: this.beat }, logGroup };
    for (const name of Object.keys(WORKERS) as WorkerName[]) {
      const worker = makeFunction(
        this,
        { resends: undefined, ...WORKERS[name], name, access: WORKERS[name] },
        surroundings,
      );
      if (worker) this.addEventSource(name, worker);
    }
  }

  private addEventSource(name: WorkerName, worker: BridgeFunction): void {
    const { queue, batchSize, batchWindowSeconds, maxConcurrency } = WORKERS[name];
    const { queueArn } = this.#resources.queues[queue];
    worker.allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], [queueArn]);
    new EventSourceMapping(this, `${idOf(name)}Source`, {
      target: worker.live,
      eventSourceArn: queueArn,
      batchSize,
      ...(batchWindowSeconds > 0 && { maxBatchingWindow: Duration.seconds(batchWindowSeconds) }),
      // More would be received than may run, and end in the dead letters.
      maxConcurrency: Math.min(maxConcurrency, this.#reserved.get(name) ?? maxConcurrency),
      reportBatchItemFailures: true,
    });
  }
}
