import { expect, test } from "vitest";
import { createTestClock } from "../../../../../lib/local/clock.ts";
import { type Message, splitBySize } from "../../../../../lib/local/cloud/lambda/events/batch.ts";
import { startPolling } from "../../../../../lib/local/cloud/lambda/events/event-source.ts";
import type { LambdaFunction } from "../../../../../lib/local/cloud/lambda/template/functions.ts";
import { openSqs } from "../../../../../lib/local/cloud/sqs/sqs.ts";
import { temporaryFolder } from "../../../../support/run/temporary-folder.ts";
import { TEST_START } from "../../../../support/worlds/cloud.ts";

test("messages that are too much for one event come in several", () => {
  const message = (MessageId: string, bytes: number): Message => ({
    MessageId,
    ReceiptHandle: "r",
    MD5OfBody: "m",
    Body: "x".repeat(bytes),
  });

  const batches = splitBySize([message("a", 400), message("b", 400), message("c", 1200), message("d", 10)], 1500);

  expect(batches.map((batch) => batch.map(({ MessageId }) => MessageId))).toEqual([["a", "b"], ["c"], ["d"]]);
});

test("a batch waits for its window, and no longer once it is full", async () => {
  const clock = createTestClock(TEST_START);
  const shared = { clock, region: "eu-local-1", accountId: "42" };
  const sqs = openSqs({ ...shared, endpoint: () => "http://sqs", file: `${temporaryFolder()}/sqs.sqlite` });
  const { QueueUrl } = sqs.actions.CreateQueue({ QueueName: "ticks" });
  const sizes: number[] = [];
  const poller = startPolling(
    {
      queueArn: "arn:aws:sqs:eu-local-1:42:ticks",
      target: { name: "count", arn: "arn:aws:lambda:eu-local-1:42:function:count" } as LambdaFunction,
      batchSize: 12,
      windowSeconds: 5,
      maximumConcurrency: 2,
      reportsFailures: true,
    },
    {
      sqs,
      clock,
      log: () => {},
      invoker: {
        running: 0,
        idle: async () => {},
        async invoke(_, event) {
          sizes.push((event as { Records: unknown[] }).Records.length);
          return { kind: "answered", payload: "null" };
        },
      },
    },
  );
  const send = (count: number) => {
    for (let sent = 0; sent < count; sent++) sqs.actions.SendMessage({ QueueUrl, MessageBody: "tick" });
  };

  send(3);
  await clock.advance({ seconds: 4 });
  const early = [...sizes];
  await clock.advance({ seconds: 1 });
  const afterWindow = [...sizes];
  send(12);
  await clock.settle();
  await clock.settle();

  expect(early).toEqual([]);
  expect(afterWindow).toEqual([3]);
  expect(sizes).toEqual([3, 12]);
  await poller.stop();
  sqs.close();
});
