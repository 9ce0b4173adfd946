import * as aws from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { batchEvent, failedMessages } from "../../../lib/local/cloud/lambda/events/batch.ts";
import { createMatcher } from "../../../lib/local/cloud/lambda/gateway/match-route.ts";
import { proxyEvent } from "../../../lib/local/cloud/lambda/gateway/proxy-event.ts";
import type { RestMethod } from "../../../lib/local/cloud/lambda/gateway/rest-routes.ts";
import { startTestCloud, type TestCloud } from "../../support/worlds/cloud.ts";
import { recorded } from "../recorded.ts";
import { type Found, statedIn } from "./compare.ts";
import { shapeDifferences } from "./shapes.ts";

const expectStated = statedIn("lib/local/README.md");

/** An answer of SQS by the AWS SDK. */
interface QueueAnswer {
  readonly name: string;
  readonly source: string;
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
  readonly answer?: object;
}

let cloud: TestCloud;
let QueueUrl: string;
beforeAll(async () => {
  cloud = await startTestCloud();
  QueueUrl = String((await cloud.clients.sqs.send(new aws.CreateQueueCommand({ QueueName: "recorded" }))).QueueUrl);
});
afterAll(() => cloud.close());

const MEBIBYTE = 1_048_576;
const entries = (count: number) => Array.from({ length: count }, (_, at) => ({ Id: `e${at}`, MessageBody: "x" }));
const receive = (more: object) => new aws.ReceiveMessageCommand({ QueueUrl, ...more });
const sendBatch = (Entries: aws.SendMessageBatchRequestEntry[]) =>
  new aws.SendMessageBatchCommand({ QueueUrl, Entries });
const deleteBatch = (ids: readonly string[]) =>
  new aws.DeleteMessageBatchCommand({ QueueUrl, Entries: ids.map((Id) => ({ Id, ReceiptHandle: "r" })) });
const purge = () => new aws.PurgeQueueCommand({ QueueUrl });

/** Commands by the answers that are recorded; the last one's answer is compared. */
const ASKED: Readonly<Record<string, () => readonly object[]>> = {
  "ReceiveMessage of 11 messages": () => [receive({ MaxNumberOfMessages: 11 })],
  "ReceiveMessage that waits 21 s": () => [receive({ WaitTimeSeconds: 21 })],
  "ReceiveMessage that waits -1 s": () => [receive({ WaitTimeSeconds: -1 })],
  "ReceiveMessage of an empty queue": () => [receive({ WaitTimeSeconds: 0 })],
  "SendMessage of 1 MiB and a byte": () => [
    new aws.SendMessageCommand({ QueueUrl, MessageBody: "x".repeat(MEBIBYTE + 1) }),
  ],
  "SendMessageBatch of 1 MiB and a byte": () => [
    sendBatch([0, 1].map((at) => ({ Id: `e${at}`, MessageBody: "x".repeat(MEBIBYTE / 2 + at) }))),
  ],
  "SendMessageBatch of 20 messages": () => [sendBatch(entries(20))],
  "SendMessageBatch with a bad id": () => [sendBatch([{ Id: "a:b", MessageBody: "x" }])],
  "SendMessage without a body": () => [new aws.SendMessageCommand({ QueueUrl, MessageBody: "" })],
  "DeleteMessageBatch of 20 messages": () => [deleteBatch(entries(20).map(({ Id }) => Id))],
  "DeleteMessageBatch with an empty id": () => [deleteBatch([""])],
  "PurgeQueue twice in a minute": () => [purge(), purge()],
  "GetQueueUrl of a queue that is not there": () => [new aws.GetQueueUrlCommand({ QueueName: "no-queue" })],
};

/** An answer as the recordings have it. */
async function answerTo(commands: readonly object[]): Promise<Omit<QueueAnswer, "name" | "source">> {
  const client = cloud.clients.sqs as { send(command: object): Promise<object> };
  let last: Omit<QueueAnswer, "name" | "source"> = { status: 0 };
  try {
    for (const command of commands) {
      const { $metadata, ...answer } = (await client.send(command)) as aws.SendMessageBatchCommandOutput;
      last = { status: $metadata.httpStatusCode ?? 0, answer };
    }
    return last;
  } catch (error) {
    if (!(error instanceof aws.SQSServiceException)) throw error;
    const code = "Code" in error && typeof error.Code === "string" ? error.Code : error.name;
    return { status: error.$metadata.httpStatusCode ?? 0, code, message: error.message };
  }
}

test("SQS is answered as AWS answers it, but for what is stated", async () => {
  const found: Found[] = [];
  for (const { name, status, code, message, answer } of recorded<QueueAnswer>("queues")) {
    const commands = ASKED[name];
    if (!commands) continue;
    const ours = await answerTo(commands());
    const said = message?.replace("<queue-name>", "recorded");
    const differences = [
      ...(ours.status === status ? [] : [`status ${ours.status}, not ${status}`]),
      ...(ours.code === code ? [] : [`code ${ours.code}, not ${code}`]),
      ...(ours.message === said ? [] : [`says "${ours.message}", not "${said}"`]),
      ...(answer ? shapeDifferences(answer, ours.answer) : []),
    ];
    found.push([name, differences]);
  }

  expect(found).toHaveLength(Object.keys(ASKED).length);
  expectStated(found);
});

interface RecordedEvent {
  readonly name: string;
  readonly source: string;
  readonly kind: string;
  readonly event: { readonly resource: string; readonly path: string; readonly pathParameters: object | null };
  readonly answer: unknown;
  readonly failed: string;
}

const EVENTS = recorded<RecordedEvent>("events");
const eventOf = (name: string) => EVENTS.find((one) => one.name === name)?.event;

test("the event of a batch has the members of Lambda's, and its answer leaves as many messages as on AWS", () => {
  const names = ["ApproximateReceiveCount", "SentTimestamp", "SenderId", "ApproximateFirstReceiveTimestamp"];
  const Attributes = Object.fromEntries(names.map((name) => [name, "1"]));
  const message = { MessageId: "a", ReceiptHandle: "r", MD5OfBody: "d", Body: "{}", Attributes };
  const messages = [message, { ...message, MessageId: "b" }];

  const ours = batchEvent([message], "arn:aws:sqs:eu-west-1:42:ticks");

  expectStated([["event of a queue", shapeDifferences(eventOf("SQS: a batch of one message"), ours)]]);
  for (const { answer, failed } of EVENTS.filter(({ kind }) => kind === "answer"))
    expect(failedMessages(JSON.stringify(answer), messages).failed.size).toBe(failed === "all" ? messages.length : 0);
});

test("the event of a request has the members of API Gateway's, but for what is stated, and the same parameters", () => {
  const headers = ["Host", "Accept", "Accept-Encoding", "Authorization", "User-Agent", "tEsT-HEADeR"];
  const request = {
    ...{ method: "GET", path: "/proxy-value", rawQuery: "", headers: headers.map((name) => [name, "v"] as const) },
    ...{ body: Buffer.alloc(0), sourceIp: "127.0.0.1", port: 80 },
  };
  const methods = ["/{proxy+}", "/hardcoded"].map((resourcePath): RestMethod => {
    const method = { resourceId: "r", resourcePath, httpMethod: "ANY", functionArn: "f", streams: false };
    return { ...method, timeoutMilliseconds: 1 };
  });
  const [method] = methods as [RestMethod];
  const api = { id: "a", stageName: "stage", binaryMediaTypes: [], methods: [], gatewayResponses: new Map() };
  const around = { api, accountId: "1", requestId: "r", at: 0 };

  const ours = proxyEvent(request, { method, pathParameters: { proxy: "proxy-value" } }, around);

  const theirs = eventOf("REST proxy: without-trailing-slash");
  expectStated([["event of a request", shapeDifferences(theirs, JSON.parse(JSON.stringify(ours)))]]);
  for (const { event } of EVENTS.filter(({ kind, source }) => kind === "proxy" && /localstack/.test(source))) {
    const match = createMatcher(methods)("GET", event.path);
    expect([match?.method.resourcePath, match?.pathParameters]).toEqual([event.resource, event.pathParameters]);
  }
});
