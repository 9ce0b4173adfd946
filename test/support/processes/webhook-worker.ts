import diagnostics from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { handToWorker, queueUrlOf, sweepWebhooks, WORKED, type WorkedQueue } from "../worlds/webhook-workers.ts";

/** What the process is asked: let the workers do what waits, or the sweeper look, as of this time. */
export interface WorkOrder {
  readonly task: "work" | "sweep";
  /** Effects are counted from here on. */
  readonly begins: boolean;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Die by SIGKILL at this durable effect, counted from 1; null: live. */
  readonly die: Death | null;
}

/** `before`: the effect never happens. `after`: it has happened, and this process does not notice. */
export interface Death {
  readonly effect: number;
  readonly when: "before" | "after";
}

/** What it answers when nothing is left: the durable effects so far, in words. */
export interface WorkDone {
  readonly effects: readonly string[];
}

const WRITES =
  /(PutItem|UpdateItem|DeleteItem|BatchWriteItem|TransactWriteItems|BatchExecuteStatement|SendMessageBatch|DeleteMessage)$/;

const effects: string[] = [];
let death: Death | null = null;
let time = 0;

/** The workers of webhooks as a process of its own, which dies at a given point. */
function main(): void {
  const sqs = new SQSClient({});
  Reflect.set(globalThis, Symbol.for("bridge.now"), () => time);
  diagnostics.subscribe("http.client.request.created", (message) => {
    observe((message as { readonly request: ClientRequest }).request);
  });
  process.on("disconnect", () => process.exit());
  process.on("message", async (order: WorkOrder) => {
    time = order.at;
    death = order.die;
    if (order.begins) effects.length = 0;
    if (order.task === "work") await workAll(sqs);
    else await sweepWebhooks();
    process.send?.({ effects } satisfies WorkDone);
  });
}

/** Counts what changes something outside of this process, and dies on the way when it is time. */
function observe(request: ClientRequest): void {
  const target = String(request.getHeader("x-amz-target") ?? "");
  const isDelivery = request.getHeader("x-bridge-delivery") !== undefined;
  if (!isDelivery && !WRITES.test(target)) return;
  effects.push(isDelivery ? "POST to the receiver" : target);
  if (death?.effect !== effects.length) return;
  if (death.when === "before") process.kill(process.pid, "SIGKILL");
  request.once("response", () => process.kill(process.pid, "SIGKILL"));
}

async function workAll(sqs: SQSClient): Promise<void> {
  for (let isBusy = true; isBusy; ) {
    isBusy = false;
    for (const queue of WORKED) if (await workOn(sqs, queue)) isBusy = true;
  }
}

async function workOn(sqs: SQSClient, queue: WorkedQueue): Promise<boolean> {
  const QueueUrl = queueUrlOf(queue);
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
  for (const ReceiptHandle of await handToWorker(queue, Messages))
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  return Messages.length > 0;
}

if (process.send) main();
