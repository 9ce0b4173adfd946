import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestCloud, type TestCloud } from "../../support/worlds/cloud.ts";

let cloud: TestCloud;
let queues = 0;

beforeAll(async () => {
  cloud = await startTestCloud();
});

afterAll(() => cloud.close());

async function createQueue(Attributes: Record<string, string> = {}): Promise<string> {
  const { QueueUrl } = await cloud.clients.sqs.send(
    new CreateQueueCommand({ QueueName: `queue-${queues++}`, Attributes }),
  );
  return String(QueueUrl);
}

function send(QueueUrl: string, MessageBody: string, more: Partial<SendMessageCommandInput> = {}) {
  return cloud.clients.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, ...more }));
}

async function receive(QueueUrl: string): Promise<Message[]> {
  const MessageSystemAttributeNames = ["All" as const];
  const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames });
  return (await cloud.clients.sqs.send(command)).Messages ?? [];
}

const remove = (QueueUrl: string, message: Message | undefined) =>
  cloud.clients.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: String(message?.ReceiptHandle) }));

/** Messages of a queue: visible, delayed, in flight. */
async function counts(QueueUrl: string): Promise<number[]> {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
  const all: Record<string, string> = (await cloud.clients.sqs.send(command)).Attributes ?? {};
  return ["", "Delayed", "NotVisible"].map((kind) => Number(all[`ApproximateNumberOfMessages${kind}`]));
}

test("a message arrives as it was sent and is gone once deleted, but not by a receiver that has lost it to another", async () => {
  const queue = await createQueue({ VisibilityTimeout: "5" });
  const body = 'Grüße 🎉 "quoted"\n\ttab';
  await send(queue, body, { MessageGroupId: "workspace-1" });
  const sentAt = String(cloud.clock.now());

  const [lost] = await receive(queue);
  await cloud.clock.advance({ seconds: 5 });
  const [message] = await receive(queue);
  await remove(queue, lost);
  expect(await counts(queue)).toEqual([0, 0, 1]);
  await remove(queue, message);

  expect(lost).toMatchObject({ Body: body, Attributes: { ApproximateReceiveCount: "1", SentTimestamp: sentAt } });
  expect(message?.Attributes).toMatchObject({ ApproximateReceiveCount: "2", MessageGroupId: "workspace-1" });
  expect(await counts(queue)).toEqual([0, 0, 0]);
});

test("a receiver that waits gets a message the moment it is sent or due, or nothing when its time is over", async () => {
  const queue = await createQueue();
  const wait = async () => {
    const { Messages = [] } = await cloud.sqs.actions.ReceiveMessage(
      { QueueUrl: queue, WaitTimeSeconds: 20, MaxNumberOfMessages: 10 },
      new AbortController().signal,
    );
    return Messages.map(({ Body }) => Body);
  };

  const together = wait();
  cloud.sqs.actions.SendMessage({ QueueUrl: queue, MessageBody: "one" });
  await new Promise(process.nextTick); // whatever waits only for the first message has continued
  cloud.sqs.actions.SendMessage({ QueueUrl: queue, MessageBody: "another" });
  expect(await together).toEqual(["one", "another"]);

  await send(queue, "due", { DelaySeconds: 7 });
  const due = wait();
  await cloud.clock.advance({ seconds: 7 });
  expect(await due).toEqual(["due"]);

  const nothing = wait();
  await cloud.clock.advance({ seconds: 20 });
  expect(await nothing).toEqual([]);
});
