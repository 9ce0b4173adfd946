import { expect, test } from "vitest";
import { type Message, splitBySize } from "../../../../../lib/local/cloud/lambda/events/batch.ts";

test("messages that are too much for one event come in several", () => {
  const message = (MessageId: string, bytes: number): Message => {
    return { MessageId, ReceiptHandle: "r", MD5OfBody: "m", Body: "x".repeat(bytes) };
  };

  const batches = splitBySize([message("a", 400), message("b", 400), message("c", 1200), message("d", 10)], 1500);

  expect(batches.map((batch) => batch.map(({ MessageId }) => MessageId))).toEqual([["a", "b"], ["c"], ["d"]]);
});
