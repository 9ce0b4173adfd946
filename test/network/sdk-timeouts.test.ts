import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openDatabase } from "../../lib/adapters/dynamodb/client/client.ts";
import { schedulesIn } from "../../lib/adapters/scheduler/schedules.ts";
import { kmsDataKeys } from "../../lib/adapters/secrets/data-keys.ts";
import { openQueues } from "../../lib/adapters/sqs/client.ts";
import { send } from "../../lib/adapters/sqs/send.ts";

let server: Server;
let sockets: Socket[];
beforeEach(async () => {
  sockets = [];
  server = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  vi.stubEnv("AWS_ENDPOINT_URL", `http://127.0.0.1:${port}`);
  vi.stubEnv("AWS_REGION", "us-east-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "a");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "b");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** Time continues until the work has ended, at most half a minute, in which a function of the API would be ended, too. */
async function within30Seconds(work: Promise<unknown>): Promise<unknown> {
  let end: unknown = "it waits still";
  work.then(
    () => (end = "done"),
    (error: unknown) => (end = error),
  );
  for (let passed = 0; passed < 30_000 && end === "it waits still"; passed += 100) {
    for (let turns = 0; turns < 20; turns++) await turn();
    await vi.advanceTimersByTimeAsync(100);
  }
  return end;
}

const settings = { group: "g", roleArn: "arn:aws:iam::1:role/r", fanOutQueueArn: "arn:aws:sqs:us-east-1:1:q" };

test.each<[string, () => Promise<unknown>]>([
  ["DynamoDB", () => openDatabase(() => "t").client.send(new GetCommand({ TableName: "t", Key: { pk: "1" } }))],
  [
    "SQS",
    () =>
      send(
        openQueues(() => `${process.env["AWS_ENDPOINT_URL"]}/1/q`),
        "events",
        [{ message: {} }],
      ),
  ],
  ["Scheduler", () => schedulesIn(settings).remove("map_1")],
  ["KMS", () => kmsDataKeys("key", () => new Date()).current("ws_1")],
])("%s that takes a request and says nothing is given up", async (_, ask) => {
  expect(await within30Seconds(ask())).toMatchObject({ name: "TimeoutError" });
});
