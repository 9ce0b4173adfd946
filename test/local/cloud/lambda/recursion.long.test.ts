import { createRequire } from "node:module";
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, expect, type MockInstance, onTestFinished, test, vi } from "vitest";
import { QUEUES, type QueueName, queueVariable, WORKERS } from "../../../../lib/model/resources.ts";
import { type LambdaWorld, startLambdaWorld } from "./lambda-world.ts";

let world: LambdaWorld;
let said: MockInstance;

beforeEach(() => {
  said = vi.spyOn(console, "log").mockImplementation(() => {});
});
afterEach(() => said.mockRestore());

/** A host whose functions count down; it ends with the test. */
async function host(settings: { readonly isolate?: boolean } = {}): Promise<LambdaWorld> {
  const started = await startLambdaWorld({ ...settings, sources });
  onTestFinished(started.close);
  return started;
}

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

test("a function that answers each message with another, or on its way through another, is stopped after sixteen, and the message goes to the dead letters", async () => {
  world = await host();

  await countDown("events", 99, ["deliveries", "events"]);
  await world.host.settle();
  expect(got()).toEqual(countdown(99, 32));
  expect(world.log).toMatchObject([{ event: "recursion stopped", function: "bridge-dev-dispatch-events" }]);
  said.mockClear();
  await countDown("events", 99);
  await world.host.settle();
  expect(got()).toEqual(countdown(99, 16));
  for (let time = 1; time <= QUEUES.events.maxReceives; time++) {
    await world.cloud.clock.advance({ seconds: 6 * WORKERS["dispatch-events"].timeoutSeconds });
    await world.host.settle();
  }

  expect(await world.kept("events-dead")).toBe(2);
  expect(await world.kept("events")).toBe(0);
});

test("a function that says why it resends continues, in a process of its own", async () => {
  world = await host({ isolate: true });

  await countDown("cycles", 20);
  await world.host.settle();

  expect(got()).toEqual(countdown(20, 21));
  expect(world.log).toEqual([]);
});

const got = (): string[] => said.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith("got "));

const countdown = (from: number, length: number): string[] =>
  Array.from({ length }, (_, position) => `got ${from - position}`);

/** Sends a number to a queue, to be counted down there or over these queues one after the other. */
async function countDown(queue: QueueName, from: number, over: readonly QueueName[] = [queue]): Promise<void> {
  const MessageBody = [from, ...over.map(queueVariable)].join(" ");
  await world.cloud.clients.sqs.send(new SendMessageCommand({ QueueUrl: world.urlOf(queue), MessageBody }));
}
