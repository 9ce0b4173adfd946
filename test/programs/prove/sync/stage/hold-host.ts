import { startHost } from "../../../../../lib/local/cloud/lambda/start-host.ts";
import { startCloud } from "../../../../../lib/local/cloud/start-cloud.ts";
import { operatorEnvironment } from "../../../../../lib/local/operator-file.ts";
import type { SalesforceConnection } from "../../../../../lib/model/workspace/workspace.ts";
import { movedClock } from "./moved-clock.ts";

/** What the process is to hold, as its only argument. */
export interface HostOrder {
  readonly dataDir: string;
  readonly assembly: string;
  readonly wirePort: number;
  readonly clockFile: string;
  readonly announcer: string;
  readonly environments: number;
  /** Where the service is reached from outside. */
  readonly publicUrl: string;
}

/** What it is asked for over IPC: messages for a queue, or a workspace. */
export type HostRequest =
  | { readonly kind: "send"; readonly queue: string; readonly message: unknown; readonly delaySeconds: number }
  | { readonly kind: "workspace"; readonly databaseUrl: string; readonly salesforce: SalesforceConnection };

/** Holds a cloud and the deployed functions on it, a process each, until it is killed. */
const order = JSON.parse(String(process.argv[2])) as HostOrder;
const clock = movedClock(order.clockFile);
const cloud = await startCloud({ dataDir: order.dataDir, clock, jitter: () => 0 });
const host = await startHost({
  cloud,
  assembly: order.assembly,
  isolate: true,
  mostPerFunction: order.environments,
  environment: {
    STAGE: "dev",
    BASE_URL: order.publicUrl,
    RATE_LIMIT_PER_MINUTE: "1000000",
    NODE_OPTIONS: `--import=${order.announcer}`,
    PROOF_WIRE: String(order.wirePort),
    PROOF_CLOCK: order.clockFile,
  },
});
Object.assign(process.env, operatorEnvironment(cloud.environment));
Reflect.set(globalThis, Symbol.for("bridge.now"), clock.now);

process.on("message", async (request: HostRequest) => {
  if (request.kind === "send") {
    const QueueUrl = cloud.sqs.urlOfArn(`arn:aws:sqs:${cloud.region}:${cloud.accountId}:${request.queue}`) ?? "";
    const { message, delaySeconds: DelaySeconds } = request;
    cloud.sqs.actions.SendMessage({ QueueUrl, MessageBody: JSON.stringify(message), DelaySeconds });
    return;
  }
  const { createTestWorkspace } = await import("../../../../support/worlds/workspace.ts");
  const postgres = { url: request.databaseUrl, schema: "salesforce" };
  const { id, token } = await createTestWorkspace({ postgres, salesforce: request.salesforce });
  process.send?.({ id, token });
});
process.on("disconnect", () => host.close().then(() => cloud.close()));
console.log(JSON.stringify({ baseUrl: host.baseUrl }));
