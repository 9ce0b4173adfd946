import { events, now, slowSlots } from "../../../functions/services/composition.ts";
import type { RouteName } from "../../../lib/http/routes.ts";
import type { TestClock } from "../../../lib/local/clock.ts";
import { EVENT_TYPES, type Event, type EventType } from "../../../lib/model/delivery/event.ts";
import { newId } from "../../../lib/model/id.ts";
import type { QueueName } from "../../../lib/model/resources.ts";
import { askingIn } from "../clients/ask.ts";
import type { Request } from "../clients/call.ts";
import { dataOf } from "../clients/data-of.ts";
import { type Behaviour, type Receiver, startReceiver } from "../doubles/receiver.ts";
import { type BridgeCloud, startBridgeCloud } from "./bridge-cloud.ts";
import { countsOf, handToWorker, queueUrlOf, sweepWebhooks, WORKED, type WorkedQueue } from "./webhook-workers.ts";
import { createTestWorkspace } from "./workspace.ts";

type Duration = Parameters<TestClock["advance"]>[0];

/** Webhooks on an embedded cloud, whose clock is moved by hand. One per process: functions open their adapters once. */
export type WebhookWorld = Awaited<ReturnType<typeof startWebhookWorld>>;

/** A registered webhook and the receiver behind it. */
export type WorldWebhook = Awaited<ReturnType<WebhookWorld["webhook"]>>;

export async function startWebhookWorld() {
  const cloud = await startBridgeCloud();
  let workspace = await createTestWorkspace();
  const receivers: Receiver[] = [];
  let start = now();
  let sweptAt = start.getTime();
  let hasLost = false;

  /** Lets the workers do what waits. */
  const work = async () => {
    for (let busy = true; busy; ) {
      const worked = await Promise.all(WORKED.map((queue) => workOn(cloud, queue)));
      busy = worked.some((count) => count > 0);
    }
  };
  const sweep = async () => {
    sweptAt = now().getTime();
    await sweepWebhooks();
    await work();
  };
  /** Milliseconds until something can happen: a message becomes visible, or the sweeper comes. */
  const untilNext = () => {
    const swept = sweptAt + (hasLost ? 60_000 : 3_600_000) - now().getTime();
    return WORKED.some((queue) => isWaiting(cloud, queue)) ? Math.min(swept, STEP_MILLISECONDS) : swept;
  };
  /** Calls an endpoint of the workspace with its token. */
  const call = askingIn(() => workspace);
  /** The same for its `data`. */
  const ask = async <Data>(route: RouteName, request?: Request) => dataOf<Data>(await call(route, request));

  return {
    cloud,
    slots: slowSlots(),
    /** The workspace of this test. */
    workspace: () => workspace,
    /** Forgets what other tests left, makes a new workspace, and lets times count from here. */
    begin: async () => {
      for (const receiver of receivers.splice(0)) await receiver.close();
      await cloud.clock.advance({ minutes: 2 });
      for (const queue of WORKED) cloud.sqs.actions.PurgeQueue({ QueueUrl: queueUrlOf(queue) });
      workspace = await createTestWorkspace();
      start = now();
      sweptAt = start.getTime();
      hasLost = false;
    },
    work,
    /** Registers a webhook for these events, all of them unless said, with a receiver of its own. */
    webhook: async (wish: { readonly answers: Behaviour; readonly events?: readonly EventType[] }) => {
      const receiver = await startReceiver(wish.answers, now);
      receivers.push(receiver);
      const body = { url: receiver.url, events: wish.events ?? EVENT_TYPES };
      const { id, secret } = await ask<{ id: string; secret: string }>("create-webhook", { body });
      /** Seconds after the test began at which it was called. */
      const calledAfterSeconds = () => receiver.received.map(({ at }) => (at.getTime() - start.getTime()) / 1000);
      return { id, secret, receiver, calledAfterSeconds };
    },
    /** Something happened; the same id is the same thing again. */
    publish: async (event: EventType, id = newId("evt")): Promise<Event> => {
      const made = { id, event, workspaceId: workspace.id, occurredAt: now(), detail: { mapping_id: "map_1" } };
      await events().publish([made]);
      return made;
    },
    /** Moves time on, the workers and once a minute the sweeper with it. */
    pass: async (by: Duration) => {
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
    /** So many seconds after the test began, as ISO 8601. */
    after: (seconds: number) => new Date(start.getTime() + seconds * 1000).toISOString(),
    /** Forgets the messages of a queue instead of handing them out; gives how many. */
    lose: async (queue: QueueName) => {
      hasLost = true;
      return (await cloud.take(queue)).length;
    },
    /** Hands everything that can be seen in a queue to its worker, in batches at the same time. */
    workAtOnce: async (queue: WorkedQueue) => {
      const batches: Promise<number>[] = [];
      for (let count = countsOf(cloud, queue).visible; count > 0; count -= 10) batches.push(workOn(cloud, queue));
      await Promise.all(batches);
    },
    /** Puts a copy of every message that can be seen beside it, as SQS may do. */
    doubleMessages: async (queue: QueueName) => {
      const QueueUrl = queueUrlOf(queue);
      for (const body of await cloud.take(queue))
        for (const MessageBody of Array<string>(2).fill(JSON.stringify(body)))
          cloud.sqs.actions.SendMessage({ QueueUrl, MessageBody, DelaySeconds: 0 });
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

/** Whether a queue holds messages that can't be seen yet. */
function isWaiting(cloud: BridgeCloud, queue: WorkedQueue): boolean {
  const { delayed, inFlight } = countsOf(cloud, queue);
  return delayed + inFlight > 0;
}

/** Hands one batch of a queue to its worker; gives the number of messages. */
async function workOn(cloud: BridgeCloud, queue: WorkedQueue): Promise<number> {
  const QueueUrl = queueUrlOf(queue);
  const asked = { QueueUrl, MaxNumberOfMessages: 10 };
  const { Messages = [] } = await cloud.sqs.actions.ReceiveMessage(asked, new AbortController().signal);
  for (const ReceiptHandle of await handToWorker(queue, Messages))
    cloud.sqs.actions.DeleteMessage({ QueueUrl, ReceiptHandle });
  return Messages.length;
}
