import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { QUEUES, WORKERS } from "../../../../../lib/model/resources.ts";
import { type Json, type LambdaWorld, startLambdaWorld } from "../lambda-world.ts";

let world: LambdaWorld;

beforeEach(async () => {
  world = await startLambdaWorld();
});
afterEach(async () => {
  world.forget();
  await world.close();
});

test("messages reach their function as records, in batches no larger than its row allows, and are gone after it", async () => {
  const seen: Json[] = [];
  world.does("run-cycle", (event) => void seen.push(event));

  for (const bodies of ["0123456789", "abc"]) await send("cycles", [...bodies], { MessageGroupId: "w1" });
  await world.host.settle();

  const sizes = seen.map((event) => recordsOf(event).length);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(13);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(WORKERS["run-cycle"].batchSize);
  expect(seen.flatMap(recordsOf)[0]).toMatchObject({
    body: "0",
    attributes: { ApproximateReceiveCount: "1", MessageGroupId: "w1", SentTimestamp: String(world.cloud.clock.now()) },
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:${world.cloud.region}:${world.cloud.accountId}:bridge-dev-cycles`,
  });
  expect(await world.kept("cycles")).toBe(0);
});

test("of a batch only the messages that failed come back, when their visibility ends", async () => {
  const seen: string[] = [];
  world.does("run-cycle", (event) => {
    const records = recordsOf(event);
    seen.push(...records.map(bodyOf));
    const failed = records.filter((record) => bodyOf(record) === "bad").map((record) => record["messageId"]);
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  });
  const visibilitySeconds = 6 * WORKERS["run-cycle"].timeoutSeconds;

  await send("cycles", ["good", "bad", "fine"]);
  await world.host.settle();
  await world.cloud.clock.advance({ seconds: visibilitySeconds - 1 });
  const before = [...seen];
  await world.cloud.clock.advance({ seconds: 1 });

  expect(before.toSorted()).toEqual(["bad", "fine", "good"]);
  expect(seen.slice(3)).toEqual(["bad"]);
  expect(world.log[0]).toMatchObject({ event: "messages failed", function: "bridge-dev-run-cycle" });
});

test("a function that throws fails its whole batch, which ends in the dead letters", async () => {
  let calls = 0;
  world.does("run-cycle", () => {
    calls++;
    throw new Error("out of luck");
  });

  await send("cycles", ["one"]);
  await world.cloud.clock.advance({ seconds: 6 * WORKERS["run-cycle"].timeoutSeconds * QUEUES.cycles.maxReceives });

  expect(calls).toBe(QUEUES.cycles.maxReceives);
  expect(await world.kept("cycles")).toBe(0);
  expect(await world.kept("cycles-dead")).toBe(1);
  expect(world.log).toHaveLength(calls);
});

test("no more batches are at work than the row allows, and closing waits for them and takes nothing more", async () => {
  const begun: Array<() => void> = [];
  let ended = 0;
  world.does("sweep-minute", async () => {
    await new Promise<void>((release) => begun.push(release));
    ended++;
  });
  const most = WORKERS["sweep-minute"].maxConcurrency;

  await send("sweeps", ["1", "2", "3", "4", "5"]);
  while (begun.length < most) await new Promise((resolve) => setImmediate(resolve));
  const closing = world.host.close();
  await send("sweeps", ["6"]);
  for (const release of begun) release();
  await closing;

  expect([begun.length, ended]).toEqual([most, most]);
  expect(await world.kept("sweeps")).toBe(6 - most);
});

async function send(queue: string, bodies: readonly string[], more: object = {}): Promise<void> {
  const Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody, ...more }));
  await world.cloud.clients.sqs.send(new SendMessageBatchCommand({ QueueUrl: world.urlOf(queue), Entries }));
}

const recordsOf = (event: Json): Json[] => Object.values(event["Records"] ?? {});
const bodyOf = (record: Json): string => String(record["body"]);
