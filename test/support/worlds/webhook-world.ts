import type { SQSEvent, SQSRecord } from "aws-lambda";
import { deliveries, eventRows, events, now, slowSlots, wakeUps } from "../../../functions/services/composition.ts";
import { handler as deliverSlowWebhook } from "../../../functions/workers/deliver-slow-webhook.ts";
import { handler as deliverWebhook } from "../../../functions/workers/deliver-webhook.ts";
import { handler as dispatchEvents } from "../../../functions/workers/dispatch-events.ts";
import { handler as retryLong } from "../../../functions/workers/retry-webhook-long.ts";
import { handler as retryMedium } from "../../../functions/workers/retry-webhook-medium.ts";
import { handler as retryShort } from "../../../functions/workers/retry-webhook-short.ts";
import type { RouteName } from "../../../lib/http/routes.ts";
import type { TestClock } from "../../../lib/local/clock.ts";
import { EVENT_TYPES, type Event, type EventType } from "../../../lib/model/delivery/event.ts";
import { newId } from "../../../lib/model/id.ts";
import { type QueueName, queueVariable } from "../../../lib/model/resources.ts";
import type { Semaphore } from "../../../lib/webhooks/ports.ts";
import { resendOverdue } from "../../../lib/webhooks/resend-overdue.ts";
import { askingIn } from "../clients/ask.ts";
import type { Request, Response } from "../clients/call.ts";
import { type Behaviour, type Receiver, startReceiver } from "../doubles/receiver.ts";
import { type BridgeCloud, startBridgeCloud } from "./bridge-cloud.ts";
import { createTestWorkspace, type TestWorkspace } from "./workspace.ts";

type Duration = Parameters<TestClock["advance"]>[0];

/** The workers of webhooks and the queues that they read. */
const WORKERS = {
  events: dispatchEvents,
  deliveries: deliverWebhook,
  slowDeliveries: deliverSlowWebhook,
  retriesShort: retryShort,
  retriesMedium: retryMedium,
  retriesLong: retryLong,
} as const;
type WorkedQueue = keyof typeof WORKERS;
const WORKED = Object.keys(WORKERS) as WorkedQueue[];

/** A registered webhook and the receiver behind it. */
export interface WorldWebhook {
  readonly id: string;
  readonly secret: string;
  readonly receiver: Receiver;
  /** Seconds after the world's `mark` at which it was called. */
  calledAfterSeconds(): number[];
}

/** Webhooks on an embedded cloud, whose clock is moved by hand. One per process: functions open their adapters once. */
export interface WebhookWorld {
  readonly cloud: BridgeCloud;
  readonly slots: Semaphore;
  /** The workspace of this test. */
  workspace(): TestWorkspace;
  /** Forgets what other tests left, makes a new workspace, and lets times count from here. */
  begin(): Promise<void>;
  /** Registers a webhook for these events, all of them unless said, with a receiver of its own. */
  webhook(wish: { readonly answers: Behaviour; readonly events?: readonly EventType[] }): Promise<WorldWebhook>;
  /** Something happened; the same id is the same thing again. */
  publish(event: EventType, id?: string): Promise<Event>;
  /** Lets the workers do what waits. */
  work(): Promise<void>;
  /** Moves time on, the workers and once a minute the sweeper with it. */
  pass(by: Duration): Promise<void>;
  /** Calls an endpoint of the workspace with its token. */
  call(route: RouteName, request?: Request): Promise<Response>;
  /** The same for its `data`. */
  ask<Data>(route: RouteName, request?: Request): Promise<Data>;
  /** So many seconds after the test began, as ISO 8601. */
  after(seconds: number): string;
  /** Forgets a message instead of handing it out. */
  lose(queue: QueueName): Promise<number>;
  /** Hands everything that can be seen in a queue to its worker, in batches at the same time. */
  workAtOnce(queue: WorkedQueue): Promise<void>;
  /** How many messages of a queue become visible later. */
  booked(queue: WorkedQueue): number;
  /** Puts a copy of every message that can be seen beside it, as SQS may do. */
  doubleMessages(queue: QueueName): Promise<void>;
  close(): Promise<void>;
}

export async function startWebhookWorld(): Promise<WebhookWorld> {
  const cloud = await startBridgeCloud();
  let workspace = await createTestWorkspace();
  const receivers: Receiver[] = [];
  let start = now();
  let sweptAt = start.getTime();
  let hasLost = false;

  const work = async () => {
    for (let busy = true; busy; ) {
      const worked = await Promise.all(WORKED.map((queue) => workOn(cloud, queue)));
      busy = worked.some((count) => count > 0);
    }
  };
  const sweep = async () => {
    sweptAt = now().getTime();
    await resendOverdue({ rows: eventRows(), deliveries: deliveries(), events: events(), wakeUps: wakeUps(), now });
    await work();
  };
  /** Milliseconds until something can happen: a message becomes visible, or the sweeper comes. */
  const untilNext = () => {
    const swept = sweptAt + (hasLost ? 60_000 : 3_600_000) - now().getTime();
    return WORKED.some((queue) => isWaiting(cloud, queue)) ? Math.min(swept, STEP_MILLISECONDS) : swept;
  };
  const call = askingIn(() => workspace);
  const ask = async <Data>(route: RouteName, request?: Request) => {
    const { json, text } = await call(route, request);
    if (!json?.success) throw new Error(`${route} answered ${text}`);
    return json.data as Data;
  };

  return {
    cloud,
    slots: slowSlots(),
    workspace: () => workspace,
    begin: async () => {
      for (const receiver of receivers.splice(0)) await receiver.close();
      await cloud.clock.advance({ minutes: 2 });
      for (const queue of WORKED) cloud.sqs.actions.PurgeQueue({ QueueUrl: process.env[queueVariable(queue)] ?? "" });
      workspace = await createTestWorkspace();
      start = now();
      sweptAt = start.getTime();
      hasLost = false;
    },
    work,
    webhook: async ({ answers, events: wanted = EVENT_TYPES }) => {
      const receiver = await startReceiver(answers, now);
      receivers.push(receiver);
      const body = { url: receiver.url, events: wanted };
      const { id, secret } = await ask<{ id: string; secret: string }>("create-webhook", { body });
      const secondsOf = (at: Date) => (at.getTime() - start.getTime()) / 1000;
      return { id, secret, receiver, calledAfterSeconds: () => receiver.received.map(({ at }) => secondsOf(at)) };
    },
    publish: async (event, id = newId("evt")) => {
      const made = { id, event, workspaceId: workspace.id, occurredAt: now(), detail: { mapping_id: "map_1" } };
      await events().publish([made]);
      return made;
    },
    pass: async (by) => {
      await work();
      const until = now().getTime() + inMilliseconds(by);
      while (now().getTime() < until) {
        await cloud.clock.advance({ milliseconds: Math.min(until - now().getTime(), untilNext()) });
        await work();
        if (untilNext() <= 0) await sweep();
      }
    },
    call,
    ask,
    after: (seconds) => new Date(start.getTime() + seconds * 1000).toISOString(),
    lose: async (queue) => {
      hasLost = true;
      return (await cloud.take(queue)).length;
    },
    workAtOnce: async (queue) => {
      const batches: Promise<number>[] = [];
      for (let count = visible(cloud, queue); count > 0; count -= 10) batches.push(workOn(cloud, queue));
      await Promise.all(batches);
    },
    booked: (queue) => Number(counts(cloud, queue)["ApproximateNumberOfMessagesDelayed"]),
    doubleMessages: async (queue) => {
      const QueueUrl = process.env[queueVariable(queue)] ?? "";
      for (const body of await cloud.take(queue)) {
        for (const MessageBody of [JSON.stringify(body), JSON.stringify(body)]) {
          cloud.sqs.actions.SendMessage({ QueueUrl, MessageBody, DelaySeconds: 0 });
        }
      }
    },
    close: async () => {
      for (const receiver of receivers) await receiver.close();
      await cloud.close();
    },
  };
}

/** Every delay of the schedule is a multiple of it. */
const STEP_MILLISECONDS = 30_000;

function inMilliseconds({ days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 }: Duration): number {
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
}

function counts(cloud: BridgeCloud, queue: WorkedQueue): Readonly<Record<string, string>> {
  const QueueUrl = process.env[queueVariable(queue)] ?? "";
  return cloud.sqs.actions.GetQueueAttributes({ QueueUrl, AttributeNames: ["All"] }).Attributes ?? {};
}

/** Messages of a queue that can be seen now. */
const visible = (cloud: BridgeCloud, queue: WorkedQueue) => Number(counts(cloud, queue)["ApproximateNumberOfMessages"]);

/** Whether a queue holds messages that can't be seen yet. */
function isWaiting(cloud: BridgeCloud, queue: WorkedQueue): boolean {
  const { ApproximateNumberOfMessagesDelayed: delayed, ApproximateNumberOfMessagesNotVisible: taken } = counts(
    cloud,
    queue,
  );
  return Number(delayed) + Number(taken) > 0;
}

/** Hands one batch of a queue to its worker, as an event source mapping would; gives the number of messages. */
async function workOn(cloud: BridgeCloud, queue: WorkedQueue): Promise<number> {
  const QueueUrl = process.env[queueVariable(queue)] ?? "";
  const asked = { QueueUrl, MaxNumberOfMessages: 10 };
  const { Messages = [] } = await cloud.sqs.actions.ReceiveMessage(asked, new AbortController().signal);
  if (Messages.length === 0) return 0;
  const Records = Messages.map(({ MessageId = "", Body = "" }) => ({ messageId: MessageId, body: Body }) as SQSRecord);
  const { batchItemFailures } = await WORKERS[queue]({ Records } satisfies SQSEvent);
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  for (const { MessageId = "", ReceiptHandle = "" } of Messages) {
    if (!failed.has(MessageId)) cloud.sqs.actions.DeleteMessage({ QueueUrl, ReceiptHandle });
  }
  return Messages.length;
}
