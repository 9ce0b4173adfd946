import { beforeEach, expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { each, onQueue } from "../../functions/invocation/on-queue.ts";

const logged: string[] = [];
beforeEach(() => {
  logged.length = 0;
  vi.spyOn(console, "error").mockImplementation((line: string) => void logged.push(line));
  return () => vi.restoreAllMocks();
});

const schema = z.object({ number: z.int() });

/** A batch of messages by their bodies; its ids are `m0`, `m1`, … */
const batchOf = (...bodies: readonly string[]) =>
  ({ Records: bodies.map((body, at) => ({ messageId: `m${at}`, body })) }) as unknown as Parameters<
    ReturnType<typeof onQueue>
  >[0];
const body = (number: number) => JSON.stringify({ number });

test.each([
  ["none", [1, 2, 3], [], []],
  ["the first", [1, 2, 3], [1], ["m0"]],
  ["the last of three", [1, 2, 3], [3], ["m2"]],
  ["two", [1, 2, 3], [1, 3], ["m0", "m2"]],
  ["all", [1, 2, 3], [1, 2, 3], ["m0", "m1", "m2"]],
  ["one behind a message that cannot be read", ["{", 2, 3], [3], ["m0", "m2"]],
  ["one between messages that cannot be read", ['{"number":"x"}', 2, "", 4], [2], ["m0", "m2", "m1"]],
  ["only what cannot be read", ["{", "null"], [], ["m0", "m1"]],
] as const)(
  "of a batch whose work fails for %s those go back to the queue, and no other",
  async (_, sent, failing, back) => {
    const done: number[] = [];
    const work = each(async ({ number }: { number: number }) => {
      if ((failing as readonly number[]).includes(number)) throw new Error(`no ${number}`);
      done.push(number);
    });

    const { batchItemFailures } = await onQueue(
      schema,
      work,
    )(batchOf(...sent.map((one) => (typeof one === "number" ? body(one) : one))));

    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(back);
    expect(done).toEqual(
      sent.filter((one) => typeof one === "number" && !(failing as readonly number[]).includes(one)),
    );
    expect(logged.map((line) => (JSON.parse(line) as { message_id: string }).message_id)).toEqual(back);
  },
);

test("a worker that fails as a whole gives the whole batch back: SQS hands all of it out again", async () => {
  const handler = onQueue(schema, async () => {
    throw new Error("no database");
  });

  await expect(handler(batchOf(body(1), body(2)))).rejects.toThrow("no database");
});
