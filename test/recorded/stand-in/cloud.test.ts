import { expect, test } from "vitest";
import { batchEvent, failedMessages } from "../../../lib/local/cloud/lambda/events/batch.ts";
import { createMatcher } from "../../../lib/local/cloud/lambda/gateway/match-route.ts";
import { proxyEvent } from "../../../lib/local/cloud/lambda/gateway/proxy-event.ts";
import type { RestMethod } from "../../../lib/local/cloud/lambda/gateway/rest-routes.ts";
import { recorded } from "../recorded.ts";
import { shapeDifferences, statedIn } from "./compare.ts";

const expectStated = statedIn("lib/local/README.md");

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
