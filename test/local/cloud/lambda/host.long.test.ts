import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { now } from "../../../../lib/adapters/time.ts";
import { createTestClock } from "../../../../lib/local/clock.ts";
import { createGateway } from "../../../../lib/local/cloud/lambda/gateway/gateway.ts";
import type { LambdaFunction } from "../../../../lib/local/cloud/lambda/template/functions.ts";
import { QUEUES, TABLES } from "../../../../lib/model/resources.ts";
import { temporaryFolder } from "../../../support/run/temporary-folder.ts";
import { startTestCloud, TEST_START, type TestCloud } from "../../../support/worlds/cloud.ts";
import { type LambdaWorld, startLambdaWorld } from "./lambda-world.ts";

const worlds: LambdaWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) {
    world.forget();
    await world.close();
  }
});

test("the cloud holds every table, queue and schedule of the templates", async () => {
  const world = await start();
  const ticks: unknown[] = [];
  world.does("sweep-minute", (event) => void ticks.push(event));

  const { TableNames = [] } = await world.cloud.clients.dynamodb.send(new ListTablesCommand());
  await world.cloud.clock.advance({ minutes: 3 });

  expect(TableNames).toHaveLength(Object.keys(TABLES).length);
  for (const name of Object.keys(QUEUES)) expect(await attributesOf(world.cloud, name)).toHaveProperty("RedrivePolicy");
  expect(ticks.length).toBeGreaterThanOrEqual(2);
});

test("a second start finds what the first has left", async () => {
  const dataDir = temporaryFolder();
  const first = await startTestCloud({ dataDir });
  const before = await start({ cloud: first });
  await send(first, "retriesLong", "wake up");
  await before.host.close();
  await first.close();
  worlds.length = 0;

  const second = await startTestCloud({ dataDir });
  onTestFinished(() => second.close());
  await start({ cloud: second });

  expect(await attributesOf(second, "retriesLong")).toMatchObject({ ApproximateNumberOfMessagesDelayed: "1" });
});

test("settings of a queue follow the templates", async () => {
  const dataDir = temporaryFolder();
  const cloud = await startTestCloud({ dataDir });
  onTestFinished(() => cloud.close());
  cloud.sqs.actions.CreateQueue({ QueueName: "bridge-dev-cycles", Attributes: { VisibilityTimeout: "7" } });

  await start({ cloud });

  expect(await attributesOf(cloud, "cycles")).toMatchObject({ VisibilityTimeout: String(6 * 180) });
});

test("functions live in the cloud's time", async () => {
  const world = await start();
  world.does("run-cycle", () => ({ at: now().toISOString() }));
  await world.cloud.clock.advance({ hours: 5 });

  expect(await world.host.invoke("run-cycle", {})).toEqual({ at: "2026-03-01T17:00:00.000Z" });
});

test("a call by name gives the answer, or says why there is none", async () => {
  const world = await start();
  world.does("run-cycle", (event) => event);
  world.does("load-mapping", () => Promise.reject(new RangeError("too far")));

  expect(await world.host.invoke("bridge-dev-run-cycle", { a: [1] })).toEqual({ a: [1] });
  await expect(world.host.invoke("load-mapping", {})).rejects.toThrow("load-mapping failed: RangeError: too far");
  await expect(world.host.invoke("walk-dog", {})).rejects.toThrow("there is no function walk-dog");
});

test("a call by name gives a streamed answer whole, texts and bytes", async () => {
  const world = await start();
  world.streams("list-audit-log", async (_, stream) => {
    stream.write("Ärger ");
    stream.write(Buffer.from("🚣").subarray(0, 2));
    stream.write(Buffer.from("🚣").subarray(2));
    stream.end("6869", "hex");
  });

  expect(await world.host.invoke("list-audit-log", {})).toBe("Ärger 🚣hi");
});

test("two hosts in one process would share their variables, so the second is refused", async () => {
  await start();
  const cloud = await startTestCloud();
  onTestFinished(() => cloud.close());

  await expect(startLambdaWorld({ cloud })).rejects.toThrow("isolate");
});

test("a host that could not start can be started again", async () => {
  const taken = createServer();
  await new Promise<void>((listening) => taken.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void taken.close());
  const cloud = await startTestCloud();
  onTestFinished(() => cloud.close());

  await expect(startLambdaWorld({ cloud, port: (taken.address() as AddressInfo).port })).rejects.toThrow("EADDRINUSE");
  const world = await start({ cloud });

  expect((await fetch(`${world.host.baseUrl}/api/v1/t/w/mappings`)).status).toBe(200);
});

test("variables of this process are as before once the host is closed", async () => {
  const before = { ...process.env };
  const world = await start({ environment: { RATE_LIMIT_PER_MINUTE: "7" } });
  const during = process.env["RATE_LIMIT_PER_MINUTE"];
  await world.host.close();

  expect(during).toBe("7");
  expect({ ...process.env }).toEqual(before);
});

test("variables of templates that are for Lambda alone are set neither in this process nor in its children", async () => {
  const before = process.env["NODE_EXTRA_CA_CERTS"];
  const world = await start();
  const { NODE_EXTRA_CA_CERTS, METRICS_NAMESPACE, QUEUE_CYCLES } = process.env;
  await world.host.close();

  expect({ NODE_EXTRA_CA_CERTS, METRICS_NAMESPACE }).toEqual({ NODE_EXTRA_CA_CERTS: before });
  expect(QUEUE_CYCLES).toContain("bridge-dev-cycles");
});

test("a call that the gateway waits for no longer is answered as a time-out", async () => {
  const clock = createTestClock(TEST_START);
  const method = {
    resourceId: "r",
    resourcePath: "/slow",
    httpMethod: "GET",
    functionArn: "arn:slow",
    streams: false,
    timeoutMilliseconds: 29_000,
  };
  const invoked = Promise.withResolvers<void>();
  const gateway = createGateway({
    api: { id: "api", stageName: "dev", binaryMediaTypes: [], methods: [method], gatewayResponses: new Map() },
    accountId: "42",
    functions: [{ name: "slow", arn: "arn:slow" } as LambdaFunction],
    invoker: {
      running: 0,
      idle: async () => {},
      invoke: () => {
        invoked.resolve();
        return new Promise(() => {});
      },
    },
    clock,
    log: () => {},
  });
  await new Promise<void>((listening) => gateway.listen(0, "127.0.0.1", listening));
  onTestFinished(() => gateway.closeAllConnections());
  onTestFinished(() => void gateway.close());

  const answering = fetch(`http://127.0.0.1:${(gateway.address() as AddressInfo).port}/slow`);
  await invoked.promise;
  await clock.advance({ seconds: 29 });
  const answer = await answering;

  expect(answer.status).toBe(504);
  expect(await answer.json()).toEqual({ message: "Endpoint request timed out" });
});

async function start(settings: Parameters<typeof startLambdaWorld>[0] = {}): Promise<LambdaWorld> {
  const world = await startLambdaWorld(settings);
  worlds.push(world);
  return world;
}

async function send(cloud: TestCloud, queue: string, MessageBody: string): Promise<void> {
  await cloud.clients.sqs.send(new SendMessageCommand({ QueueUrl: urlOf(cloud, queue), MessageBody }));
}

async function attributesOf(cloud: TestCloud, queue: string): Promise<Record<string, string>> {
  const { Attributes = {} } = await cloud.clients.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: urlOf(cloud, queue), AttributeNames: ["All"] }),
  );
  return Attributes;
}

function urlOf(cloud: TestCloud, queue: string): string {
  const name = queue.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `${cloud.endpoints.sqs}/${cloud.accountId}/bridge-dev-${name}`;
}
