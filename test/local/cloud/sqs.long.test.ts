import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
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

async function receive(QueueUrl: string, more: Partial<ReceiveMessageCommandInput> = {}): Promise<Message[]> {
  const MessageSystemAttributeNames = ["All" as const];
  const command = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: 10,
    MessageSystemAttributeNames,
    ...more,
  });
  return (await cloud.clients.sqs.send(command)).Messages ?? [];
}

const remove = (QueueUrl: string, message: Message | undefined) =>
  cloud.clients.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: String(message?.ReceiptHandle) }));

const bodies = (messages: Message[]) => messages.map(({ Body }) => Body);

async function attributes(QueueUrl: string): Promise<Record<string, string>> {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] });
  return (await cloud.clients.sqs.send(command)).Attributes ?? {};
}

/** Messages of a queue: visible, delayed, in flight. */
async function counts(QueueUrl: string): Promise<number[]> {
  const all = await attributes(QueueUrl);
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

test("a message is not seen before its own delay, or its queue's, is over, to the millisecond", async () => {
  const queue = await createQueue({ DelaySeconds: "30" });
  await send(queue, "by the queue");
  await send(queue, "at once", { DelaySeconds: 0 });
  await send(queue, "later", { DelaySeconds: 900 });

  expect(bodies(await receive(queue, { VisibilityTimeout: 3600 }))).toEqual(["at once"]);
  await cloud.clock.advance({ seconds: 30 });
  expect(bodies(await receive(queue, { VisibilityTimeout: 3600 }))).toEqual(["by the queue"]);
  await cloud.clock.advance({ seconds: 869, milliseconds: 999 });
  expect(await receive(queue)).toEqual([]);
  expect(await counts(queue)).toEqual([0, 1, 2]);
  await cloud.clock.advance({ milliseconds: 1 });
  expect(bodies(await receive(queue))).toEqual(["later"]);
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

test("a receiver that has closed its connection takes no message with it", async () => {
  const queue = await createQueue();
  const hangUp = new AbortController();
  const waiting = cloud.clients.sqs.send(new ReceiveMessageCommand({ QueueUrl: queue, WaitTimeSeconds: 20 }), {
    abortSignal: hangUp.signal,
  });
  const stays = receive(queue, { WaitTimeSeconds: 20 });
  hangUp.abort();
  await expect(waiting).rejects.toThrow();

  await send(queue, "for the one who stays");

  expect(bodies(await stays)).toEqual(["for the one who stays"]);
});
