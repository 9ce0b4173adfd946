import { expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { each, onQueue } from "../../functions/invocation/on-queue.ts";
import { openLambda, refusingLambda } from "../../lib/http/lambda.ts";
import { batchEvent, failedMessages } from "../../lib/local/cloud/lambda/events/batch.ts";
import { createMatcher } from "../../lib/local/cloud/lambda/gateway/match-route.ts";
import { proxyEvent } from "../../lib/local/cloud/lambda/gateway/proxy-event.ts";
import type { RestMethod } from "../../lib/local/cloud/lambda/gateway/rest-routes.ts";
import { recorded } from "./recorded.ts";
import { shapeDifferences, statedIn } from "./stand-in/compare.ts";

/** An event of Lambda as AWS sent it. */
interface RecordedEvent {
  readonly name: string;
  readonly source: string;
  readonly kind: "queue" | "proxy" | "answer";
  readonly event: Parameters<ReturnType<typeof onQueue>>[0] &
    Parameters<ReturnType<typeof openLambda>>[0] & { readonly resource: string };
  /** What a function answered, and how much of the batch came back for it. */
  readonly answer: unknown;
  readonly failed: string;
}

const expectStated = statedIn("lib/local/README.md");
const EVENTS = recorded<RecordedEvent>("events");
const eventOf = (name: string) => EVENTS.find((one) => one.name === name)?.event;
const eventsOf = (kind: RecordedEvent["kind"]) =>
  EVENTS.flatMap((one) => (one.kind === kind ? [[one.name, one.event] as const] : []));
const NOW = new Date("2026-11-20T12:00:00Z");
const context = {} as Parameters<ReturnType<typeof openLambda>>[1];

test.each(eventsOf("queue"))("%s reaches the work of a queue's function", async (_, event) => {
  // A body that is none of ours goes back to the queue, and is logged.
  vi.spyOn(console, "error").mockImplementation(() => {});
  const worked: unknown[] = [];
  const work = each(async (message: unknown) => void worked.push(message));

  const { batchItemFailures } = await onQueue(z.unknown(), work)(event);

  const [ours, others] = [true, false].map((is) => event.Records.filter(({ body }) => body.startsWith("{") === is));
  expect(worked).toEqual(ours?.map(({ body }) => JSON.parse(body) as unknown));
  expect(batchItemFailures).toEqual(others?.map(({ messageId }) => ({ itemIdentifier: messageId })));
});

test.each(eventsOf("proxy"))(
  "%s reaches an endpoint, its path as it was sent, and one that is not there is refused in our words",
  async (_, event) => {
    type Input = { path: (name: string) => string; address: string };
    const run = async ({ path, address }: Input) => ({ proxy: path("proxy"), address });
    const needs = { rateLimits: { count: async () => 1 }, requestsPerMinute: 100, now: () => NOW };

    const answer = await openLambda({ run }, () => NOW)(structuredClone(event), context);
    const refused = await refusingLambda(() => needs as never)(structuredClone(event), context);

    expect(answer).toMatchObject({ statusCode: 200, headers: { "X-Request-Id": expect.stringMatching(/^req_/) } });
    const data = {
      proxy: event.pathParameters?.["proxy"] ?? "none",
      address: event.requestContext?.identity?.sourceIp,
    };
    expect(JSON.parse(String(answer.body))).toMatchObject({ data });
    expect(refused.statusCode).toBe(404);
    expect(JSON.parse(String(refused.body))).toMatchObject({ error: { code: "NOT_FOUND" } });
  },
);

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
    const match = createMatcher(methods)("GET", String(event.path));
    expect([match?.method.resourcePath, match?.pathParameters]).toEqual([event.resource, event.pathParameters]);
  }
});
