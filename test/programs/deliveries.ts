import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { events } from "../../functions/services/composition.ts";
import { newId } from "../../lib/model/id.ts";
import type { Arrival } from "../support/processes/timing-receiver.ts";
import { startHostedBridge } from "../support/worlds/hosted-bridge.ts";

/** Bridge on real queues and bundles, and a receiver in a process of its own that knows when what came. */
export async function startDeliveries(log: (line: object) => void = () => undefined) {
  const bridge = await startHostedBridge({ log });
  const receiver = fork(join(import.meta.dirname, "../support/processes/timing-receiver.ts"));
  const [{ port }] = (await once(receiver, "message")) as [{ port: number }];
  const ask = async <Answer>(question: string): Promise<Answer> => {
    receiver.send(question);
    return ((await once(receiver, "message")) as [Answer])[0];
  };
  return {
    at: (path: string) => `http://127.0.0.1:${port}${path}`,
    count: async () => (await ask<{ count: number }>("count")).count,
    /** What came since the last time. */
    take: async () => (await ask<{ arrivals: readonly Arrival[] }>("take")).arrivals,
    close: async () => {
      receiver.disconnect();
      await bridge.close();
    },
  };
}

/** An event of a workspace. */
export const eventFor = (workspaceId: string, detail = {}) =>
  ({ id: newId("evt"), workspaceId, event: "record.failed", occurredAt: new Date(), detail }) as const;

/** Publishes so many events, a hundred at a time. */
export async function publishMany(workspaceId: string, count: number, detail = {}): Promise<void> {
  for (let published = 0; published < count; published += 100)
    await events().publish(
      Array.from({ length: Math.min(100, count - published) }, () => eventFor(workspaceId, detail)),
    );
}

/** Epoch milliseconds, to their parts, as a receiver writes them down. */
export const epoch = (): number => performance.timeOrigin + performance.now();
