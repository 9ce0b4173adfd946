import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SendMessageCommandInput,
  SetQueueAttributesCommand,
  type SQSClient,
} from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestCloud, type TestCloud } from "../support/worlds/cloud.ts";

/** Every limit of SQS that this project relies on: what AWS refuses is refused here, under the same name. */

const MEBIBYTE = 1_048_576;
let cloud: TestCloud;
let sqs: SQSClient;
let QueueUrl: string;

beforeAll(async () => {
  cloud = await startTestCloud();
  sqs = cloud.clients.sqs;
  QueueUrl = String((await sqs.send(new CreateQueueCommand({ QueueName: "limits" }))).QueueUrl);
});

afterAll(() => cloud.close());

const message = (more: Partial<SendMessageCommandInput> = {}) =>
  new SendMessageCommand({ QueueUrl, MessageBody: "x", ...more });
const attribute = (name: string, DataType: string, StringValue = "v") =>
  message({ MessageAttributes: { [name]: { DataType, StringValue } } });
const batch = (Entries: SendMessageBatchRequestEntry[]) => new SendMessageBatchCommand({ QueueUrl, Entries });
const receive = (more: Partial<ReceiveMessageCommandInput>) => new ReceiveMessageCommand({ QueueUrl, ...more });
const queue = (QueueName: string, Attributes: Record<string, string> = {}) =>
  new CreateQueueCommand({ QueueName, Attributes });
const settings = (Attributes: Record<string, string>) => new SetQueueAttributesCommand({ QueueUrl, Attributes });
const entries = (count: number, MessageBody = "x") =>
  Array.from({ length: count }, (_, index) => ({ Id: `e${index}`, MessageBody }));

describe("a message is refused", () => {
  test.each([
    ["with a delay of 901 s", () => message({ DelaySeconds: 901 }), "InvalidParameterValue"],
    ["with a negative delay", () => message({ DelaySeconds: -1 }), "InvalidParameterValue"],
    ["with an empty body", () => message({ MessageBody: "" }), "MissingParameter"],
    ["of 1 MiB and one byte", () => message({ MessageBody: "x".repeat(MEBIBYTE + 1) }), "InvalidParameterValue"],
    [
      "of more bytes than characters",
      () => message({ MessageBody: "ü".repeat(MEBIBYTE / 2 + 1) }),
      "InvalidParameterValue",
    ],
    [
      "whose attributes take it over 1 MiB",
      () =>
        message({
          MessageBody: "x".repeat(MEBIBYTE - 5),
          MessageAttributes: { a: { DataType: "String", StringValue: "v" } },
        }),
      "InvalidParameterValue",
    ],
    ["with a control character", () => message({ MessageBody: "a\u0000b" }), "InvalidMessageContents"],
    ["with U+FFFE", () => message({ MessageBody: "a\uFFFEb" }), "InvalidMessageContents"],
    ["with half an emoji", () => message({ MessageBody: "\uD83D" }), "InvalidMessageContents"],
    [
      "with eleven attributes",
      () =>
        message({
          MessageAttributes: Object.fromEntries(
            Array.from({ length: 11 }, (_, i) => [`a${i}`, { DataType: "String", StringValue: "v" }]),
          ),
        }),
      "InvalidParameterValue",
    ],
    ["with an attribute named like AWS's own", () => attribute("AWS.trace", "String"), "InvalidParameterValue"],
    ["with an attribute name that ends in a dot", () => attribute("name.", "String"), "InvalidParameterValue"],
    ["with an attribute of an unknown type", () => attribute("a", "Boolean"), "InvalidParameterValue"],
    ["with a number that is none", () => attribute("a", "Number", "many"), "InvalidParameterValue"],
    ["with an empty attribute", () => attribute("a", "String", ""), "InvalidParameterValue"],
    ["with a deduplication id", () => message({ MessageDeduplicationId: "d" }), "InvalidParameterValue"],
    ["with a group id of 129 characters", () => message({ MessageGroupId: "g".repeat(129) }), "InvalidParameterValue"],
    ["with a group id with a space", () => message({ MessageGroupId: "a b" }), "InvalidParameterValue"],
    ["for a queue that does not exist", () => message({ QueueUrl: `${QueueUrl}-no` }), "QueueDoesNotExist"],
  ])("%s", async (_, command, name) => {
    const before = await counts();

    await expect(sqs.send(command())).rejects.toMatchObject({ name });

    expect(await counts()).toEqual(before);
  });

  test("with a parameter that SQS does not know", async () => {
    const refusal = await post("SendMessage", { QueueUrl, MessageBody: "x", Priority: 1 });

    expect(refusal).toMatchObject({ __type: "InvalidParameterValue", message: "Unknown parameter Priority." });
  });
});

describe("a message is accepted", () => {
  test.each([
    ["of exactly 1 MiB", () => message({ MessageBody: "x".repeat(MEBIBYTE) })],
    ["with a delay of 900 s", () => message({ DelaySeconds: 900 })],
    ["with an emoji", () => message({ MessageBody: "🎉 done" })],
    ["with tab, line feed and carriage return", () => message({ MessageBody: "\t\n\r" })],
    ["with a group id on a standard queue", () => message({ MessageGroupId: "workspace:1/a" })],
  ])("%s", async (_, command) => {
    expect((await sqs.send(command())).MessageId).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("a batch is refused", () => {
  test.each([
    ["with eleven entries", () => batch(entries(11)), "TooManyEntriesInBatchRequest"],
    ["without entries", () => batch([]), "EmptyBatchRequest"],
    ["with the same id twice", () => batch([...entries(1), ...entries(1)]), "BatchEntryIdsNotDistinct"],
    ["with an id that has a dot", () => batch([{ Id: "a.b", MessageBody: "x" }]), "InvalidBatchEntryId"],
    ["with an id of 81 characters", () => batch([{ Id: "a".repeat(81), MessageBody: "x" }]), "InvalidBatchEntryId"],
    ["of more than 1 MiB in all", () => batch(entries(10, "x".repeat(MEBIBYTE / 10 + 1))), "BatchRequestTooLong"],
    [
      "of eleven deletions",
      () =>
        new DeleteMessageBatchCommand({ QueueUrl, Entries: entries(11).map(({ Id }) => ({ Id, ReceiptHandle: "r" })) }),
      "TooManyEntriesInBatchRequest",
    ],
  ])("%s", async (_, command, name) => {
    const before = await counts();

    await expect(sqs.send(command() as SendMessageBatchCommand)).rejects.toMatchObject({ name });

    expect(await counts()).toEqual(before);
  });
});

describe("a receiver is refused", () => {
  test.each([
    ["that wants eleven messages", () => receive({ MaxNumberOfMessages: 11 }), "InvalidParameterValue"],
    ["that wants none", () => receive({ MaxNumberOfMessages: 0 }), "InvalidParameterValue"],
    ["that waits 21 s", () => receive({ WaitTimeSeconds: 21 }), "InvalidParameterValue"],
    [
      "that hides messages for more than 12 hours",
      () => receive({ VisibilityTimeout: 43_201 }),
      "InvalidParameterValue",
    ],
    [
      "that asks for an attribute that is none",
      () => receive({ MessageSystemAttributeNames: ["Sender" as "SenderId"] }),
      "InvalidAttributeName",
    ],
    [
      "that names an attempt, which FIFO queues alone have",
      () => receive({ ReceiveRequestAttemptId: "a" }),
      "InvalidParameterValue",
    ],
  ])("%s", async (_, command, name) => {
    await expect(sqs.send(command())).rejects.toMatchObject({ name });
  });
});

describe("a receipt handle", () => {
  const hide = (ReceiptHandle: string | undefined, VisibilityTimeout: number) =>
    sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout }));

  async function received(): Promise<string> {
    await sqs.send(new PurgeQueueCommand({ QueueUrl }));
    await cloud.clock.advance({ minutes: 2 });
    await sqs.send(message());
    return String((await sqs.send(receive({}))).Messages?.[0]?.ReceiptHandle);
  }

  test("that was never given out is refused", async () => {
    await received();
    const command = new DeleteMessageCommand({ QueueUrl, ReceiptHandle: "made-up" });

    await expect(sqs.send(command)).rejects.toMatchObject({ name: "ReceiptHandleIsInvalid" });
    expect(await counts()).toEqual({ visible: 0, delayed: 0, inFlight: 1 });
  });

  test("of another queue is refused", async () => {
    const handle = await received();
    const other = await sqs.send(queue("another"));

    const command = new DeleteMessageCommand({ QueueUrl: other.QueueUrl, ReceiptHandle: handle });

    await expect(sqs.send(command)).rejects.toMatchObject({ name: "ReceiptHandleIsInvalid" });
    expect(await counts()).toEqual({ visible: 0, delayed: 0, inFlight: 1 });
  });

  test("hides no message that is no longer in flight", async () => {
    const handle = await received();
    await hide(handle, 0);

    await expect(hide(handle, 30)).rejects.toMatchObject({ name: "MessageNotInflight" });
    expect(await counts()).toEqual({ visible: 1, delayed: 0, inFlight: 0 });
  });

  test("hides no message for more than 12 hours in all", async () => {
    const handle = await received();
    await hide(handle, 43_200);
    await cloud.clock.advance({ hours: 1 });

    await expect(hide(handle, 43_200)).rejects.toMatchObject({ name: "InvalidParameterValue" });
    await expect(hide(handle, 43_201)).rejects.toMatchObject({ name: "InvalidParameterValue" });
    expect(await counts()).toEqual({ visible: 0, delayed: 0, inFlight: 1 });
    await cloud.clock.advance({ hours: 11 });
    expect(await counts()).toEqual({ visible: 1, delayed: 0, inFlight: 0 });
  });
});

describe("a queue is refused", () => {
  const redrive = (deadLetterTargetArn: string, maxReceiveCount: number) => ({
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount }),
  });
  const deadLetters = "arn:aws:sqs:eu-local-1:000000000000:limits";

  test.each([
    ["that is FIFO", () => queue("orders.fifo", { FifoQueue: "true" }), "UnsupportedOperation"],
    ["with a dot in its name", () => queue("a.b"), "InvalidParameterValue"],
    ["with a name of 81 characters", () => queue("a".repeat(81)), "InvalidParameterValue"],
    ["that delays by 901 s", () => queue("q", { DelaySeconds: "901" }), "InvalidAttributeValue"],
    ["that hides for more than 12 hours", () => queue("q", { VisibilityTimeout: "43201" }), "InvalidAttributeValue"],
    ["that keeps for less than a minute", () => queue("q", { MessageRetentionPeriod: "59" }), "InvalidAttributeValue"],
    [
      "that keeps for more than 14 days",
      () => queue("q", { MessageRetentionPeriod: "1209601" }),
      "InvalidAttributeValue",
    ],
    ["that takes more than 1 MiB", () => queue("q", { MaximumMessageSize: "1048577" }), "InvalidAttributeValue"],
    ["that waits for 21 s", () => queue("q", { ReceiveMessageWaitTimeSeconds: "21" }), "InvalidAttributeValue"],
    ["with an attribute that is none", () => queue("q", { Colour: "red" }), "InvalidAttributeName"],
    ["whose dead letters go nowhere", () => queue("q", redrive(`${deadLetters}-no`, 3)), "InvalidParameterValue"],
    ["that allows no receipt", () => queue("q", redrive(deadLetters, 0)), "InvalidAttributeValue"],
    ["that allows 1,001 receipts", () => queue("q", redrive(deadLetters, 1_001)), "InvalidAttributeValue"],
    ["of the same name with another setting", () => queue("limits", { DelaySeconds: "5" }), "QueueNameExists"],
    [
      "that is changed to something unknown",
      () => settings({ ContentBasedDeduplication: "true" }),
      "UnsupportedOperation",
    ],
    [
      "whose unknown attribute is asked for",
      () => new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["Colour" as "All"] }),
      "InvalidAttributeName",
    ],
  ])("%s", async (_, command, name) => {
    const before = await queuesAndSettings();

    await expect(sqs.send(command() as CreateQueueCommand)).rejects.toMatchObject({ name });

    expect(await queuesAndSettings()).toEqual(before);
  });

  test("within 60 s of the deletion of one of the same name", async () => {
    const { QueueUrl: gone } = await sqs.send(queue("short-lived"));
    await sqs.send(new DeleteQueueCommand({ QueueUrl: gone }));

    await expect(sqs.send(queue("short-lived"))).rejects.toMatchObject({ name: "QueueDeletedRecently" });

    await cloud.clock.advance({ seconds: 60 });
    expect((await sqs.send(queue("short-lived"))).QueueUrl).toBe(gone);
  });

  test("a second purge within 60 s", async () => {
    const { QueueUrl: purged } = await sqs.send(queue("purged"));
    await sqs.send(new PurgeQueueCommand({ QueueUrl: purged }));

    await expect(sqs.send(new PurgeQueueCommand({ QueueUrl: purged }))).rejects.toMatchObject({
      name: "PurgeQueueInProgress",
    });
  });
});

test("an action that the cloud does not have is refused by name", async () => {
  const refusal = await post("AddPermission", { QueueUrl });

  expect(refusal).toMatchObject({
    __type: "UnknownOperationException",
    message: "AmazonSQS.AddPermission is not part of the embedded cloud.",
  });
});

/** Messages of the queue, by whether they can be seen. */
async function counts() {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
  return {
    visible: Number(Attributes["ApproximateNumberOfMessages"]),
    delayed: Number(Attributes["ApproximateNumberOfMessagesDelayed"]),
    inFlight: Number(Attributes["ApproximateNumberOfMessagesNotVisible"]),
  };
}

async function queuesAndSettings() {
  const { QueueUrls } = await sqs.send(new ListQueuesCommand({}));
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
  return { QueueUrls, Attributes };
}

/** Sends what the SDK would not. */
async function post(action: string, input: object): Promise<unknown> {
  const scope = `${cloud.environment["AWS_ACCESS_KEY_ID"]}/20260301/eu-local-1/sqs/aws4_request`;
  const answer = await fetch(cloud.endpoints.sqs, {
    method: "POST",
    headers: {
      "x-amz-target": `AmazonSQS.${action}`,
      "content-type": "application/x-amz-json-1.0",
      authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`,
    },
    body: JSON.stringify(input),
  });
  return answer.json();
}
