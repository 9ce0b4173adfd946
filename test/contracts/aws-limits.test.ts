import * as dynamodb from "@aws-sdk/client-dynamodb";
import * as kms from "@aws-sdk/client-kms";
import * as scheduler from "@aws-sdk/client-scheduler";
import * as sqs from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestCloud, type TestCloud } from "../support/worlds/cloud.ts";

/** The limits of AWS that Bridge relies on: what AWS refuses is refused here, under the same name. */

const [TableName, KeyId, KIBIBYTE] = ["limits", "alias/bridge", 1_024];
const QUEUE = "arn:aws:sqs:eu-local-1:000000000000:limits";

let cloud: TestCloud;
let QueueUrl: string;
beforeAll(async () => {
  cloud = await startTestCloud();
  cloud.kms.ensureKey(KeyId);
  await cloud.dynamodb.ensureTable({
    TableName,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: [
      { AttributeName: "pk", KeyType: "HASH" },
      { AttributeName: "sk", KeyType: "RANGE" },
    ],
    AttributeDefinitions: ["pk", "sk", "owner"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    GlobalSecondaryIndexes: [
      {
        IndexName: "by-owner",
        KeySchema: [{ AttributeName: "owner", KeyType: "HASH" }],
        Projection: { ProjectionType: "KEYS_ONLY" },
      },
    ],
  });
  await cloud.clients.dynamodb.send(put("there"));
  QueueUrl = String((await cloud.clients.sqs.send(new sqs.CreateQueueCommand({ QueueName: "limits" }))).QueueUrl);
  await cloud.clients.scheduler.send(schedule({ Name: "taken" }));
});
afterAll(() => cloud.close());

const text = (S: string) => ({ S });
const long = (kibibytes: number) => ({ v: text("x".repeat(kibibytes * KIBIBYTE)) });
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, at) => make(at));
const key = (sk: string | number, pk = "p") => ({ pk: text(pk), sk: text(String(sk)) });
const put = (sk: string | number, more = {}) =>
  new dynamodb.PutItemCommand({ TableName, Item: { ...key(sk), ...more } });
const putIn = (sk: string | number, more = {}) => ({ Put: { TableName, Item: { ...key(sk), ...more } } });
const transaction = (TransactItems: dynamodb.TransactWriteItem[]) =>
  new dynamodb.TransactWriteItemsCommand({ TransactItems });
const writes = (...keys: number[]) => {
  const requests = keys.map((one) => ({ PutRequest: { Item: key(one) } }));
  return new dynamodb.BatchWriteItemCommand({ RequestItems: { [TableName]: requests } });
};
const message = (more: Partial<sqs.SendMessageCommandInput>) =>
  new sqs.SendMessageCommand({ QueueUrl, MessageBody: "x", ...more });
const batch = (...Entries: sqs.SendMessageBatchRequestEntry[]) =>
  new sqs.SendMessageBatchCommand({ QueueUrl, Entries });
const entries = (count: number, MessageBody = "x") => times(count, (at) => ({ Id: `e${at}`, MessageBody }));
const TARGET = { Arn: QUEUE, RoleArn: "arn:aws:iam::000000000000:role/scheduler", Input: "tick" };
const schedule = (more: Partial<scheduler.CreateScheduleCommandInput>) =>
  new scheduler.CreateScheduleCommand({
    ...{ Name: "beat", ScheduleExpression: "rate(1 minute)", FlexibleTimeWindow: { Mode: "OFF" }, Target: TARGET },
    ...more,
  });
const dataKey = (more: Partial<kms.GenerateDataKeyCommandInput>) => new kms.GenerateDataKeyCommand({ KeyId, ...more });

type Service = "dynamodb" | "kms" | "scheduler" | "sqs";
const send = (service: Service, command: object) =>
  (cloud.clients[service] as { send(command: object): Promise<object> }).send(command);

const INVALID: Readonly<Record<Exclude<Service, "sqs">, Readonly<Record<string, () => object>>>> = {
  dynamodb: {
    "an item of 410 KB": () => put(1, long(410)),
    "an empty key": () => put(""),
    "an empty index key": () => put(1, { owner: text("") }),
    "a reserved word": () =>
      new dynamodb.UpdateItemCommand({
        ...{ TableName, Key: key("there"), UpdateExpression: "SET status = :v" },
        ExpressionAttributeValues: { ":v": text("x") },
      }),
    "a transaction of 101 items": () => transaction(times(101, (at) => putIn(at))),
    "a transaction with an item twice": () => transaction([putIn(1), putIn(1)]),
    "a transaction of more than 4 MB": () => transaction(times(11, (at) => putIn(at, long(390)))),
    "a batch of 26 writes": () => writes(...times(26, (at) => at)),
    "a batch that writes an item twice": () => writes(1, 1),
    "a batch of 101 reads": () =>
      new dynamodb.BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: times(101, (at) => key(at)) } } }),
  },
  kms: {
    "a context of more than 8 KiB": () =>
      dataKey({ KeySpec: "AES_256", EncryptionContext: { a: "x".repeat(8 * KIBIBYTE) } }),
  },
  scheduler: {
    "every 10 seconds": () => schedule({ ScheduleExpression: "rate(10 seconds)" }),
    "a name of 65 characters": () => schedule({ Name: "n".repeat(65) }),
  },
};

const REFUSED: readonly (readonly [Service, what: string, () => object, name: string])[] = [
  ...Object.entries(INVALID).flatMap(([service, cases]) =>
    Object.entries(cases).map(([what, command]) => [service as Service, what, command, "ValidationException"] as const),
  ),
  ["kms", "a key that is not there", () => dataKey({ KeyId: "alias/none", KeySpec: "AES_256" }), "NotFoundException"],
  ["scheduler", "a second schedule of a name", () => schedule({ Name: "taken" }), "ConflictException"],
  ["scheduler", "a group that is not there", () => schedule({ GroupName: "none" }), "ResourceNotFoundException"],
  [
    "scheduler",
    "the deletion of a schedule that is not there",
    () => new scheduler.DeleteScheduleCommand({ Name: "none" }),
    "ResourceNotFoundException",
  ],
  ["sqs", "a delay of 901 s", () => message({ DelaySeconds: 901 }), "InvalidParameterValue"],
  ["sqs", "an empty body", () => message({ MessageBody: "" }), "MissingParameter"],
  [
    "sqs",
    "more than 1 MiB in bytes, not in characters",
    () => message({ MessageBody: "ü".repeat(512 * KIBIBYTE + 1) }),
    "InvalidParameterValue",
  ],
  ["sqs", "a control character", () => message({ MessageBody: "a\u0000b" }), "InvalidMessageContents"],
  ["sqs", "a group id of 129 characters", () => message({ MessageGroupId: "g".repeat(129) }), "InvalidParameterValue"],
  ["sqs", "a queue that is not there", () => message({ QueueUrl: `${QueueUrl}-no` }), "QueueDoesNotExist"],
  ["sqs", "a batch of eleven", () => batch(...entries(11)), "TooManyEntriesInBatchRequest"],
  ["sqs", "a batch with an id twice", () => batch(...entries(1), ...entries(1)), "BatchEntryIdsNotDistinct"],
  ["sqs", "a batch of over 1 MiB", () => batch(...entries(10, "x".repeat(104_858))), "BatchRequestTooLong"],
];

test.each(REFUSED)("%s refuses %s", async (service, _, command, name) => {
  await expect(send(service, command())).rejects.toMatchObject({ name });
});

test("a transaction is refused as a whole, with a reason per item, when one condition fails", async () => {
  const first = { Put: { TableName, Item: key("there"), ConditionExpression: "attribute_not_exists(pk)" } };

  await expect(send("dynamodb", transaction([first, putIn("not-written")]))).rejects.toMatchObject({
    name: "TransactionCanceledException",
    CancellationReasons: [{ Code: "ConditionalCheckFailed" }, { Code: "None" }],
  });
  expect((await cloud.clients.dynamodb.send(items())).Items).toEqual([key("there")]);
});

test("a query that finds more than 1 MB is cut, and says so", async () => {
  for (const at of times(4, (index) => index))
    await cloud.clients.dynamodb.send(
      new dynamodb.PutItemCommand({ TableName, Item: { ...key(at, "wide"), ...long(390) } }),
    );

  const page = await cloud.clients.dynamodb.send(items("wide"));

  expect(page.Items?.length).toBeLessThan(4);
  expect(page.LastEvaluatedKey).toBeDefined();
});

const items = (pk = "p") =>
  new dynamodb.QueryCommand({
    ...{ TableName, KeyConditionExpression: "pk = :p", ExpressionAttributeValues: { ":p": text(pk) } },
    ConsistentRead: true,
  });
