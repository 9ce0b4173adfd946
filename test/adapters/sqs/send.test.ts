import type { SendMessageBatchCommand, SendMessageBatchResult } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import type { Queues } from "../../../lib/adapters/sqs/client.ts";
import { queue } from "../../../lib/adapters/sqs/queue.ts";
import { send } from "../../../lib/adapters/sqs/send.ts";

/** An SQS that fails some messages of a call, by their numbers and how often each was sent. */
function failingSqs(fails: (number: number, times: number) => "busy" | "sender" | null) {
  const [calls, sent, arrived]: [number[][], Map<number, number>, number[]] = [[], new Map(), []];
  const client = {
    send: async ({ input }: SendMessageBatchCommand): Promise<SendMessageBatchResult> => {
      const entries = (input.Entries ?? []).map(({ Id, MessageBody }) => {
        const { number } = JSON.parse(String(MessageBody)) as { number: number };
        sent.set(number, (sent.get(number) ?? 0) + 1);
        return { Id, number, fault: fails(number, sent.get(number) ?? 0) };
      });
      calls.push(entries.map(({ number }) => number));
      arrived.push(...entries.filter(({ fault }) => fault === null).map(({ number }) => number));
      return {
        Successful: [],
        Failed: entries
          .filter(({ fault }) => fault !== null)
          .map(({ Id, fault }) => ({ Id, SenderFault: fault === "sender", Code: "Throttled", Message: "slow down" })),
      };
    },
  };
  return { queues: { client, url: (name: string) => name } as unknown as Queues, calls, arrived };
}

const messages = (count: number) => Array.from({ length: count }, (_, number) => ({ message: { number } }));
const numbers = (count: number) => messages(count).map(({ message }) => message.number);
const inOrder = (all: readonly number[]) => all.toSorted((one, other) => one - other);

test.each([
  ["one of ten, three times", 10, (number: number, times: number) => number === 3 && times <= 3, [10, 1, 1, 1]],
  ["the first and the last", 10, (number: number, times: number) => [0, 9].includes(number) && times === 1, [10, 2]],
  ["all of them, as it throttles", 10, (_: number, times: number) => times === 1, [10, 10]],
  ["none", 25, () => false, [10, 10, 5]],
  ["one of the second call", 15, (number: number, times: number) => number === 12 && times === 1, [10, 5, 1]],
] as const)(
  "what SQS refuses of a batch is sent again until all has arrived: %s",
  async (_, count, isRefused, sizes) => {
    const { queues, calls, arrived } = failingSqs((number, times) => (isRefused(number, times) ? "busy" : null));

    await send(queues, "cycles", messages(count));

    expect(inOrder(arrived)).toEqual(numbers(count));
    expect(calls.map((call) => call.length)).toEqual(sizes);
  },
);

test("what SQS refuses again and again is no silent loss: the sender gets an error with the queue and the reason", async () => {
  const { queues, calls, arrived } = failingSqs((number) => (number === 3 ? "busy" : null));

  await expect(send(queues, "cycles", messages(10))).rejects.toThrow(
    "SQS refused 1 messages to the queue cycles: Throttled slow down",
  );
  expect(arrived).toHaveLength(9);
  expect(calls).toHaveLength(4);
});

test.each([
  ["alone", (number: number) => (number === 3 ? "sender" : null)],
  ["beside one that may pass", (number: number) => (number === 3 ? "sender" : number === 4 ? "busy" : null)],
] as const)("a message that is wrong itself is refused at once, %s", async (_, fails) => {
  const { queues, calls } = failingSqs(fails);

  await expect(send(queues, "cycles", messages(10))).rejects.toThrow("SQS refused");
  expect(calls).toHaveLength(1);
});

test("the group of a message is its workspace, so that a busy one holds up no other", async () => {
  const groups: unknown[] = [];
  const send = async ({ input }: SendMessageBatchCommand) => {
    groups.push(...(input.Entries ?? []).map(({ MessageGroupId }) => MessageGroupId));
    return { Successful: [], Failed: [] };
  };
  const queues = { client: { send }, url: (name: string) => name } as unknown as Queues;

  await queue(queues, "cycles").send(["ws_1", "ws_2"].map((workspace_id) => ({ message: { workspace_id } })));

  expect(groups).toEqual(["ws_1", "ws_2"]);
});
