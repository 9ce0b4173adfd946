import { createRequire } from "node:module";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test, vi } from "vitest";
import { QUEUES, type QueueName, queueVariable, WORKERS } from "../../../../lib/model/resources.ts";
import { startLambdaWorld } from "./lambda-world.ts";

const SDK = createRequire(import.meta.url).resolve("@aws-sdk/client-sqs");

/**
 * Functions that say the number that they got and, until it is 0, send the next lower one to the queue that the message
 * names, or to the queues that it names one after the other.
 */
const COUNTING_DOWN = `
  import { SendMessageCommand, SQSClient } from ${JSON.stringify(SDK)};
  const sqs = new SQSClient({});
  export const handler = async ({ Records }) => {
    for (const { body } of Records) {
      const [number, queue, ...others] = body.split(" ");
      console.log("got " + number);
      const message = { QueueUrl: process.env[queue], MessageBody: [number - 1, ...others, queue].join(" ") };
      if (number !== "0") await sqs.send(new SendMessageCommand(message));
    }
  };
`;
const sources = { "dispatch-events": COUNTING_DOWN, "deliver-webhook": COUNTING_DOWN, "run-cycle": COUNTING_DOWN };

test("a function that answers each message with another, or on its way through another, is stopped after sixteen, unless it says why it resends", async () => {
  const said = vi.spyOn(console, "log").mockReturnValue();
  onTestFinished(() => said.mockRestore());
  const world = await startLambdaWorld({ sources });
  onTestFinished(world.close);
  /** What functions got of a number that is sent to the first of these queues, to be counted down over all of them. */
  const got = async (from: number, ...over: QueueName[]) => {
    said.mockClear();
    const [queue = "events", ...others] = over;
    const MessageBody = [from, ...[...others, queue].map(queueVariable)].join(" ");
    await world.cloud.clients.sqs.send(new SendMessageCommand({ QueueUrl: world.urlOf(queue), MessageBody }));
    await world.host.settle();
    return said.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith("got "));
  };

  expect(await got(20, "cycles")).toEqual(countdown(20, 21));
  expect(world.log).toEqual([]);
  expect(await got(99, "events", "deliveries")).toEqual(countdown(99, 32));
  expect(world.log).toMatchObject([{ event: "recursion stopped", function: "bridge-dev-dispatch-events" }]);
  expect(await got(99, "events")).toEqual(countdown(99, 16));
  for (let time = 1; time <= QUEUES.events.maxReceives; time++) {
    await world.cloud.clock.advance({ seconds: 6 * WORKERS["dispatch-events"].timeoutSeconds });
    await world.host.settle();
  }

  expect(await world.kept("events-dead")).toBe(2);
  expect(await world.kept("events")).toBe(0);
});

const countdown = (from: number, length: number): string[] =>
  Array.from({ length }, (_, position) => `got ${from - position}`);
