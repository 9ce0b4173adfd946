import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { deliveries, events, now } from "../../../functions/services/composition.ts";
import { type Delivery, type ListedDelivery, RETRY_DELAYS_SECONDS } from "../../../lib/model/delivery/delivery.ts";
import type { Webhook } from "../../../lib/model/delivery/webhook.ts";
import { newId } from "../../../lib/model/id.ts";
import { type Receiver, startReceiver } from "../doubles/receiver.ts";
import type { Death, WorkDone, WorkOrder } from "../processes/webhook-worker.ts";
import { type BridgeCloud, startBridgeCloud } from "./bridge-cloud.ts";
import { makeWebhook } from "./make-webhook.ts";
import { countsOf, queueUrlOf, WORKED, type WorkedQueue } from "./webhook-workers.ts";

/** Webhooks whose workers are processes of their own and die at a given point, on a clock that is moved by hand. */
export type CrashWorld = Awaited<ReturnType<typeof startCrashWorld>>;

export interface Story {
  readonly events: number;
  readonly failures: number;
  readonly die?: Death;
  readonly disturb?: () => Promise<void>;
}

export type Ending = Awaited<ReturnType<CrashWorld["run"]>>;

/** Time moves in small steps while retries are close together, in larger ones afterwards. */
const STEP_SECONDS = [...Array<number>(24).fill(30), ...Array<number>(120).fill(300)];

export async function startCrashWorld() {
  const cloud = await startBridgeCloud();
  let worker = startWorker();

  /**
   * Publishes `events` to a receiver that fails `failures` times each, lets the workers run until nothing is left to do,
   * and dies once at `die`. `disturb` is called between two steps of time. Gives the durable effects of the workers, in
   * order (of the one that died only when it lived on), and in words what is wrong with the end.
   */
  const run = async ({ events: count, failures, die, disturb }: Story) => {
    const seen = new Map<string, number>();
    const receiver = await startReceiver((body) => {
      const { id } = JSON.parse(body) as { id: string };
      seen.set(id, (seen.get(id) ?? 0) + 1);
      return (seen.get(id) ?? 0) <= failures ? 500 : 200;
    }, now);
    const webhook = await makeWebhook(receiver.url);
    const ids = Array.from({ length: count }, () => newId("evt"));
    const { workspaceId } = webhook;
    const made = { workspaceId, event: "record.failed", occurredAt: now(), detail: { trigger_log_id: 1 } } as const;
    await events().publish(ids.map((id) => ({ ...made, id })));

    let toDie = die ?? null;
    let begins = true;
    let done: WorkDone = { effects: [] };
    const order = async (task: WorkOrder["task"]) => {
      const answer = await ask(worker, { task, begins, at: now().getTime(), die: toDie });
      begins = false;
      if (answer) {
        done = answer;
        return;
      }
      toDie = null;
      worker = startWorker();
    };
    const began = now().getTime();
    await order("work");
    for (const seconds of STEP_SECONDS) {
      if (await isOver(cloud, webhook, count)) break;
      await disturb?.();
      await cloud.clock.advance({ seconds });
      await order("sweep");
      await order("work");
    }
    const wrong = await judge(cloud, webhook, ids, receiver, failures, began);
    await receiver.close();
    return { effects: done.effects, hasDied: die !== undefined && toDie === null, wrong };
  };

  return {
    run,
    /** Takes what can be seen in a queue out of it, and gives it to the test. */
    take: (queue: WorkedQueue) => cloud.take(queue),
    /** Puts a message into a queue, to be seen after a while. */
    put: (queue: WorkedQueue, message: unknown, DelaySeconds: number) => {
      const MessageBody = JSON.stringify(message);
      cloud.sqs.actions.SendMessage({ QueueUrl: queueUrlOf(queue), MessageBody, DelaySeconds });
    },
    close: async () => {
      worker.disconnect();
      await cloud.close();
    },
  };
}

function startWorker(): ChildProcess {
  return fork(join(import.meta.dirname, "../processes/webhook-worker.ts"));
}

/** Null when the process died over it. */
async function ask(worker: ChildProcess, order: WorkOrder): Promise<WorkDone | null> {
  const answered = new AbortController();
  const { signal } = answered;
  worker.send(order);
  try {
    return await Promise.race([
      once(worker, "exit", { signal }).then(() => null),
      once(worker, "message", { signal }).then(([answer]) => answer as WorkDone),
    ]);
  } finally {
    answered.abort();
  }
}

/** Every event has its delivery, nothing of it is pending any more, and no queue holds a message. */
async function isOver(cloud: BridgeCloud, webhook: Webhook, count: number): Promise<boolean> {
  const { rows } = await deliveries().since(webhook.id, new Date(0), { limit: 1000 });
  const isDone = ({ status, nextAttemptAt }: ListedDelivery) => status === "successful" && nextAttemptAt === null;
  return rows.length === count && rows.every(isDone) && WORKED.every((queue) => messagesIn(cloud, queue) === 0);
}

/** What is wrong with the deliveries of these events, in words; nothing, when every promise was kept. */
async function judge(
  cloud: BridgeCloud,
  webhook: Webhook,
  eventIds: readonly string[],
  { received }: Receiver,
  failures: number,
  began: number,
): Promise<readonly string[]> {
  const { rows } = await deliveries().since(webhook.id, new Date(0), { limit: 1000 });
  const listed = await deliveries().read(rows.map(({ id }) => id));
  const wrong: string[] = [];
  if (rows.length !== eventIds.length) wrong.push(`${rows.length} deliveries for ${eventIds.length} events`);
  for (const queue of WORKED) {
    if (messagesIn(cloud, queue) > 0) wrong.push(`${messagesIn(cloud, queue)} messages go round in ${queue}`);
  }
  for (const id of eventIds) {
    const came = received.filter(({ headers }) => headers["webhook-id"] === id);
    const delivery = listed.find(({ eventId }) => eventId === id);
    if (came.length <= failures) wrong.push(`${id} came ${came.length} times, so it never succeeded`);
    if (new Set(came.map(({ body }) => body)).size > 1) wrong.push(`${id} came with different bytes`);
    if (new Set(came.map(({ headers }) => headers["x-bridge-delivery"])).size > 1)
      wrong.push(`${id} has two deliveries`);
    if (!delivery) continue;
    if (delivery.status !== "successful") wrong.push(`${delivery.id} is ${delivery.status}`);
    wrong.push(...(await historyProblems(delivery, came, began)));
  }
  return wrong;
}

async function historyProblems(delivery: Delivery, came: Receiver["received"], began: number): Promise<string[]> {
  const wrong: string[] = [];
  const history = await deliveries().history(delivery);
  const numbers = history.map(({ number }) => number);
  if (new Set(numbers).size !== numbers.length) wrong.push(`${delivery.id} has an attempt twice: ${numbers.join()}`);
  for (const { headers } of came) {
    const number = Number(headers["x-bridge-attempt"]);
    const times = came.filter((one) => Number(one.headers["x-bridge-attempt"]) === number).length;
    if (!numbers.includes(number)) wrong.push(`${delivery.id} hides attempt ${number}`);
    if (times > 1) wrong.push(`${delivery.id} made attempt ${number} ${times} times`);
  }
  const ended = history.filter(({ outcome }) => outcome !== null);
  let due = began;
  for (const [at, { startedAt, outcome }] of ended.entries()) {
    if (startedAt.getTime() < due) wrong.push(`${delivery.id} began attempt ${at + 1} too early`);
    due = (outcome?.endedAt.getTime() ?? 0) + (RETRY_DELAYS_SECONDS[at] ?? 0) * 1000;
  }
  return wrong;
}

function messagesIn(cloud: BridgeCloud, queue: WorkedQueue): number {
  const { visible, inFlight, delayed } = countsOf(cloud, queue);
  return visible + inFlight + delayed;
}
