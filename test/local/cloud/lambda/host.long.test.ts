import { ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { GetQueueAttributesCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";
import { now } from "../../../../lib/adapters/time.ts";
import { QUEUES, TABLES } from "../../../../lib/model/resources.ts";
import { temporaryFolder } from "../../../support/run/temporary-folder.ts";
import { startTestCloud } from "../../../support/worlds/cloud.ts";
import { type LambdaWorld, startLambdaWorld } from "./lambda-world.ts";

test("the cloud holds the tables, queues and schedules of the templates, and a second start finds what the first left", async () => {
  const dataDir = temporaryFolder();
  const first = await startTestCloud({ dataDir });
  first.sqs.actions.CreateQueue({ QueueName: "bridge-dev-cycles", Attributes: { VisibilityTimeout: "7" } });
  const before = await start({ cloud: first });
  const ticks: unknown[] = [];
  before.does("sweep-minute", (event) => void ticks.push(event));

  const { TableNames = [] } = await first.clients.dynamodb.send(new ListTablesCommand());
  await first.clock.advance({ minutes: 3 });
  for (const name of Object.keys(QUEUES)) expect(await attributesOf(before, name)).toHaveProperty("RedrivePolicy");
  expect(await attributesOf(before, "cycles")).toMatchObject({ VisibilityTimeout: String(6 * 180) });
  const QueueUrl = before.urlOf("retriesLong");
  await first.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "wake up" }));
  await before.host.close();
  await first.close();
  const second = await startTestCloud({ dataDir });
  onTestFinished(() => second.close());
  const after = await start({ cloud: second });

  expect(TableNames).toHaveLength(Object.keys(TABLES).length);
  expect(ticks.length).toBeGreaterThanOrEqual(2);
  expect(await attributesOf(after, "retriesLong")).toMatchObject({ ApproximateNumberOfMessagesDelayed: "1" });
});

test("a call by name gives the answer, a streamed one whole, in the cloud's time, or says why there is none", async () => {
  const world = await start();
  world.does("run-cycle", (event) => ({ event, at: now().toISOString() }));
  world.does("load-mapping", () => Promise.reject(new RangeError("too far")));
  world.streams("list-audit-log", async (_, stream) => {
    stream.write("Ärger ");
    stream.write(Buffer.from("🚣").subarray(0, 2));
    stream.write(Buffer.from("🚣").subarray(2));
    stream.end("6869", "hex");
  });
  await world.cloud.clock.advance({ hours: 5 });

  const at = "2026-03-01T17:00:00.000Z";
  expect(await world.host.invoke("bridge-dev-run-cycle", { a: [1] })).toEqual({ event: { a: [1] }, at });
  expect(await world.host.invoke("list-audit-log", {})).toBe("Ärger 🚣hi");
  await expect(world.host.invoke("load-mapping", {})).rejects.toThrow("load-mapping failed: RangeError: too far");
  await expect(world.host.invoke("walk-dog", {})).rejects.toThrow("there is no function walk-dog");
});

async function start(settings: Parameters<typeof startLambdaWorld>[0] = {}): Promise<LambdaWorld> {
  const world = await startLambdaWorld(settings);
  onTestFinished(async () => {
    world.forget();
    await world.close();
  });
  return world;
}

async function attributesOf({ cloud, urlOf }: LambdaWorld, queue: string): Promise<Record<string, string>> {
  const asked = new GetQueueAttributesCommand({ QueueUrl: urlOf(queue), AttributeNames: ["All"] });
  return (await cloud.clients.sqs.send(asked)).Attributes ?? {};
}
