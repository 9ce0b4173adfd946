import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueUrlCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
  SQSServiceException,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { batchEvent, failedMessages } from "../../../lib/local/cloud/lambda/events/batch.ts";
import { proxyEvent } from "../../../lib/local/cloud/lambda/gateway/proxy-event.ts";
import type { RestMethod } from "../../../lib/local/cloud/lambda/gateway/rest-routes.ts";
import { startTestCloud, type TestCloud } from "../../support/worlds/cloud.ts";
import { recorded } from "../recorded.ts";
import { expectStated, type Found } from "./compare.ts";
import { shapeDifferences } from "./shapes.ts";

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
let sqs: SQSClient;
let QueueUrl: string;
beforeAll(async () => {
  cloud = await startTestCloud();
  sqs = cloud.clients.sqs;
  QueueUrl = String((await sqs.send(new CreateQueueCommand({ QueueName: "recorded" }))).QueueUrl);
});
afterAll(() => cloud.close());

const MEBIBYTE = 1_048_576;
const entries = (count: number) => Array.from({ length: count }, (_, at) => ({ Id: `e${at}`, MessageBody: "x" }));
const receipts = (ids: readonly string[]) => ids.map((Id) => ({ Id, ReceiptHandle: "r" }));

const ASKED: Readonly<Record<string, () => Promise<object>>> = {
  "ReceiveMessage of 11 messages": () => sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 11 })),
  "ReceiveMessage that waits 21 s": () => sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 21 })),
  "ReceiveMessage that waits -1 s": () => sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: -1 })),
  "ReceiveMessage of an empty queue": () => sqs.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 0 })),
  "SendMessage of 1 MiB and a byte": () =>
    sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "x".repeat(MEBIBYTE + 1) })),
  "SendMessageBatch of 1 MiB and a byte": () => {
    const bodies = ["x".repeat(MEBIBYTE / 2), "x".repeat(MEBIBYTE / 2 + 1)];
    const Entries = bodies.map((MessageBody, at) => ({ Id: `e${at}`, MessageBody }));
    return sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
  },
  "SendMessageBatch of 20 messages": () => sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: entries(20) })),
  "SendMessageBatch with a bad id": () =>
    sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: [{ Id: "a:b", MessageBody: "x" }] })),
  "SendMessage without a body": () => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "" })),
  "DeleteMessageBatch of 20 messages": () =>
    sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries: receipts(entries(20).map(({ Id }) => Id)) })),
  "DeleteMessageBatch with an empty id": () =>
    sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries: receipts([""]) })),
  "PurgeQueue twice in a minute": async () => {
    await sqs.send(new PurgeQueueCommand({ QueueUrl }));
    return await sqs.send(new PurgeQueueCommand({ QueueUrl }));
  },
  "GetQueueUrl of a queue that is not there": () => sqs.send(new GetQueueUrlCommand({ QueueName: "no-queue" })),
};

/** An answer as the recordings have it. */
async function answerTo(ask: () => Promise<object>): Promise<Omit<QueueAnswer, "name" | "source">> {
  try {
    const { $metadata, ...answer } = (await ask()) as { readonly $metadata: { readonly httpStatusCode?: number } };
    return { status: $metadata.httpStatusCode ?? 0, answer };
  } catch (error) {
    if (!(error instanceof SQSServiceException)) throw error;
    const code = "Code" in error && typeof error.Code === "string" ? error.Code : error.name;
    return { status: error.$metadata.httpStatusCode ?? 0, code, message: error.message };
  }
}

test("SQS is answered as AWS answers it, but for what is stated", async () => {
  const found: Found[] = [];
  for (const { name, status, code, message, answer } of recorded<QueueAnswer>("queues")) {
    const ask = ASKED[name];
    if (!ask) continue;
    const ours = await answerTo(ask);
    const said = message?.replace("<queue-name>", "recorded");
    found.push([
      name,
      [
        ...(ours.status === status ? [] : [`status ${ours.status}, not ${status}`]),
        ...(ours.code === code ? [] : [`code ${ours.code}, not ${code}`]),
        ...(ours.message === said ? [] : [`says "${ours.message}", not "${said}"`]),
        ...(answer ? shapeDifferences(answer, ours.answer) : []),
      ],
    ]);
  }

  expect(found).toHaveLength(Object.keys(ASKED).length);
  expectStated(found);
});

interface RecordedEvent {
  readonly name: string;
  readonly source: string;
  readonly kind: string;
  readonly event: { readonly Records: readonly object[] } & object;
  readonly answer: unknown;
  readonly failed: string;
}

const EVENTS = recorded<RecordedEvent>("events");
const eventOf = (name: string) => EVENTS.find((one) => one.name === name)?.event;

test("the event of a batch has the members of Lambda's, but for what is stated", () => {
  const message = {
    MessageId: "m",
    ReceiptHandle: "r",
    MD5OfBody: "d",
    Body: "{}",
    Attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: "1",
      SenderId: "s",
      ApproximateFirstReceiveTimestamp: "1",
    },
  };

  const ours = batchEvent([message], "arn:aws:sqs:eu-west-1:42:ticks");

  expectStated([["event of a queue", shapeDifferences(eventOf("SQS: a batch of one message"), ours)]]);
});

test.each(EVENTS.filter(({ kind }) => kind === "answer").map((one) => [one.name, one] as const))(
  "%s leaves as many messages as on AWS",
  (_, { answer, failed }) => {
    const messages = ["a", "b"].map((MessageId) => ({ MessageId, ReceiptHandle: "r", MD5OfBody: "d", Body: "{}" }));

    const left = failedMessages(JSON.stringify(answer), messages).failed;

    expect(left.size).toBe(failed === "all" ? messages.length : 0);
  },
);

test("the event of a request has the members of API Gateway's, but for what is stated", () => {
  const theirs = eventOf("REST proxy: without-trailing-slash");
  const request = {
    method: "GET",
    path: "/proxy-value",
    rawQuery: "",
    headers: [
      ["Host", "h"],
      ["Accept", "*/*"],
      ["Accept-Encoding", "gzip"],
      ["Authorization", "v"],
      ["User-Agent", "u"],
      ["tEsT-HEADeR", "aValUE"],
    ] as const,
    body: Buffer.alloc(0),
    sourceIp: "127.0.0.1",
    port: 80,
  };
  const method: RestMethod = {
    resourceId: "r",
    resourcePath: "/{proxy+}",
    httpMethod: "ANY",
    functionArn: "f",
    streams: false,
    timeoutMilliseconds: 1,
  };
  const api = { id: "a", stageName: "stage", binaryMediaTypes: [], methods: [], gatewayResponses: new Map() };
  const around = { api, accountId: "1", requestId: "r", at: 0 };

  const ours = proxyEvent(request, { method, pathParameters: { proxy: "proxy-value" } }, around);

  expectStated([["event of a request", shapeDifferences(theirs, JSON.parse(JSON.stringify(ours)))]]);
});
