import { expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { each, onQueue } from "../../functions/invocation/on-queue.ts";
import { openLambda, refusingLambda } from "../../lib/http/lambda.ts";
import { named, recorded } from "./recorded.ts";

/** An event of Lambda as AWS sent it. */
interface RecordedEvent {
  readonly name: string;
  readonly source: string;
  readonly kind: "queue" | "proxy" | "answer";
  readonly event: QueueEvent & ProxyEvent;
}

type QueueEvent = Parameters<ReturnType<typeof onQueue>>[0];
type OpenHandler = ReturnType<typeof openLambda>;
type ProxyEvent = Parameters<OpenHandler>[0];

const EVENTS = recorded<RecordedEvent>("events");
const NOW = new Date("2026-11-20T12:00:00Z");
const context = () => ({}) as Parameters<OpenHandler>[1];

test.each(named(EVENTS.filter(({ kind }) => kind === "queue")))(
  "%s reaches the work of a queue's function",
  async (_, { event }) => {
    const worked: unknown[] = [];
    const work = each(async (message: unknown) => void worked.push(message));

    const { batchItemFailures } = await onQueue(z.unknown(), work)(event);

    expect(worked).toEqual(
      event.Records.map(({ body }) => (isJson(body) ? JSON.parse(body) : undefined)).filter((body) => body),
    );
    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(
      event.Records.filter(({ body }) => !isJson(body)).map(({ messageId }) => messageId),
    );
  },
);

/** A body that is none of ours goes back to the queue, and is logged. */
vi.spyOn(console, "error").mockImplementation(() => {});
const isJson = (body: string) => body.startsWith("{");

const PROXIES = named(EVENTS.filter(({ kind }) => kind === "proxy"));

test.each(PROXIES)("%s reaches an endpoint, with the part of its path as it was sent", async (_, { event }) => {
  const run = async ({ path, address }: { path: (name: string) => string; address: string }) => ({
    proxy: path("proxy"),
    address,
  });

  const answer = await openLambda({ run }, () => NOW)(structuredClone(event), context());

  const { sourceIp } = event.requestContext?.identity ?? {};
  expect(answer).toMatchObject({ statusCode: 200, headers: { "X-Request-Id": expect.stringMatching(/^req_/) } });
  expect(JSON.parse(String(answer.body))).toMatchObject({
    data: { proxy: event.pathParameters?.["proxy"] ?? "none", address: sourceIp },
  });
});

test.each(PROXIES)("%s to a path that is not there is refused in our words", async (_, { event }) => {
  const rateLimits = { count: async () => 1 };
  const refuse = refusingLambda(() => ({ rateLimits, requestsPerMinute: 100, now: () => NOW }) as never);

  const answer = await refuse(structuredClone(event), context());

  expect(answer.statusCode).toBe(404);
  expect(JSON.parse(String(answer.body))).toMatchObject({ error: { code: "NOT_FOUND" } });
});
