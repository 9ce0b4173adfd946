import { expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { each, onQueue } from "../../functions/invocation/on-queue.ts";
import { openLambda, refusingLambda } from "../../lib/http/lambda.ts";
import { recorded } from "./recorded.ts";

/** An event of Lambda as AWS sent it. */
interface RecordedEvent {
  readonly name: string;
  readonly source: string;
  readonly kind: "queue" | "proxy" | "answer";
  readonly event: Parameters<ReturnType<typeof onQueue>>[0] & Parameters<ReturnType<typeof openLambda>>[0];
}

const eventsOf = (kind: RecordedEvent["kind"]) =>
  recorded<RecordedEvent>("events").flatMap((one) => (one.kind === kind ? [[one.name, one.event] as const] : []));
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
