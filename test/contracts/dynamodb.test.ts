import {
  type AttributeValue,
  BatchGetItemCommand,
  BatchWriteItemCommand,
  CreateTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactGetItemsCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestCloud, type TestCloud } from "../support/worlds/cloud.ts";

/** Every limit and rule of DynamoDB that this project relies on, on the program that replaces it here. */

const TableName = "limits";
const KIBIBYTE = 1_024;
let cloud: TestCloud;
let dynamodb: DynamoDBClient;

beforeAll(async () => {
  cloud = await startTestCloud();
  dynamodb = cloud.clients.dynamodb;
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
  await dynamodb.send(put({ v: text("there"), count: number(1) }));
});

afterAll(() => cloud.close());

const text = (S: string): AttributeValue => ({ S });
const number = (N: number | string): AttributeValue => ({ N: String(N) });
const key = (sk: string | number = "there") => ({ pk: text("p"), sk: text(String(sk)) });
const put = (more: Record<string, AttributeValue>, sk?: string) =>
  new PutItemCommand({ TableName, Item: { ...key(sk), ...more } });
const update = (UpdateExpression: string, more: Partial<UpdateItemCommandInput> = {}) =>
  new UpdateItemCommand({ TableName, Key: key(), UpdateExpression, ...more });
const query = (more: Partial<QueryCommandInput>) =>
  new QueryCommand({
    TableName,
    KeyConditionExpression: "pk = :p",
    ExpressionAttributeValues: { ":p": text("p") },
    ...more,
  });
const transaction = (TransactItems: TransactWriteItem[], ClientRequestToken?: string) =>
  new TransactWriteItemsCommand({ TransactItems, ClientRequestToken });
const putIn = (sk: string | number, more = {}): TransactWriteItem => ({
  Put: { TableName, Item: { ...key(sk), ...more } },
});
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
const table = (IndexName: string, indexes = 1) =>
  new CreateTableCommand({
    TableName: "refused",
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    GlobalSecondaryIndexes: times(indexes, (index) => ({
      IndexName: `${IndexName}${index || ""}`,
      KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      Projection: { ProjectionType: "ALL" },
    })),
  });

describe("an item is refused", () => {
  test.each([
    ["of 410 KB", () => put({ v: text("x".repeat(410 * KIBIBYTE)) })],
    ["with an empty key", () => new PutItemCommand({ TableName, Item: { pk: text(""), sk: text("s") } })],
    ["without its sort key", () => new PutItemCommand({ TableName, Item: { pk: text("p") } })],
    [
      "with a partition key of 2,049 bytes",
      () => new PutItemCommand({ TableName, Item: { pk: text("x".repeat(2_049)), sk: text("s") } }),
    ],
    ["with a sort key of 1,025 bytes", () => put({}, "x".repeat(1_025))],
    ["with an empty index key", () => put({ owner: text("") })],
    ["with NULL as an index key", () => put({ owner: { NULL: true } })],
    ["with a number as an index key of text", () => put({ owner: number(1) })],
    ["with a number of 39 digits", () => put({ v: number("1".repeat(39)) })],
    ["with an empty set", () => put({ v: { SS: [] } })],
    [
      "nested 33 deep",
      () => put({ v: times(33, () => null).reduce<AttributeValue>((inner) => ({ L: [inner] }), text("x")) }),
    ],
  ])("%s", async (_, command) => {
    await expectRefused(command());
  });

  test("never of 399 KB", async () => {
    await dynamodb.send(put({ v: text("x".repeat(399 * KIBIBYTE)) }, "large"));

    const { Item } = await dynamodb.send(new GetItemCommand({ TableName, Key: key("large") }));
    expect(Item?.["v"]?.S).toHaveLength(399 * KIBIBYTE);
  });
});

describe("an expression is refused", () => {
  const value = { ExpressionAttributeValues: { ":v": text("x") } };

  test.each([
    ["that uses a reserved word", () => update("SET status = :v", value)],
    [
      "that leaves a value unused",
      () => update("SET v = :v", { ExpressionAttributeValues: { ":v": text("x"), ":w": text("y") } }),
    ],
    ["that leaves a name unused", () => update("SET v = :v", { ...value, ExpressionAttributeNames: { "#n": "n" } })],
    ["that uses a value it was not given", () => update("SET v = :missing")],
    ["that changes a key", () => update("SET sk = :v", value)],
    ["that sets a path and its parent", () => update("SET m.a = :v, m = :v", value)],
    ["that sets a path below nothing", () => update("SET nothing.a = :v", value)],
    ["that adds to a text", () => update("ADD v :n", { ExpressionAttributeValues: { ":n": number(1) } })],
    [
      "that counts from nothing",
      () => update("SET missing = missing + :n", { ExpressionAttributeValues: { ":n": number(1) } }),
    ],
    ["of more than 4 KB", () => query({ FilterExpression: times(500, () => "v <> :p").join(" AND ") })],
  ])("%s", async (_, command) => {
    await expectRefused(command());
  });
});

describe("a query is refused", () => {
  test.each([
    ["without its partition key", () => query({ KeyConditionExpression: "sk = :p" })],
    ["over a range of partition keys", () => query({ KeyConditionExpression: "begins_with(pk, :p)" })],
    ["with a filter on a key", () => query({ FilterExpression: "sk = :p" })],
    ["of an index that does not exist", () => query({ IndexName: "by-nothing" })],
    [
      "that wants an index to be consistent",
      () =>
        query({
          IndexName: "by-owner",
          KeyConditionExpression: "#o = :p",
          ExpressionAttributeNames: { "#o": "owner" },
          ConsistentRead: true,
        }),
    ],
    [
      "for attributes that an index does not hold",
      () =>
        query({
          IndexName: "by-owner",
          KeyConditionExpression: "#o = :p",
          ExpressionAttributeNames: { "#o": "owner" },
          Select: "ALL_ATTRIBUTES",
        }),
    ],
    ["for no item at all", () => query({ Limit: 0 })],
    ["that begins where no item can be", () => query({ ExclusiveStartKey: { other: text("x") } })],
  ])("%s", async (_, command) => {
    await expect(dynamodb.send(command())).rejects.toMatchObject({ name: "ValidationException" });
  });

  test("never, but cut, when it finds more than 1 MB", async () => {
    for (const n of times(4, (index) => index)) {
      await dynamodb.send(
        new PutItemCommand({
          TableName,
          Item: { pk: text("wide"), sk: text(String(n)), v: text("x".repeat(390 * KIBIBYTE)) },
        }),
      );
    }

    const page = await dynamodb.send(query({ ExpressionAttributeValues: { ":p": text("wide") } }));

    expect(page.Items?.length).toBeLessThan(4);
    expect(page.LastEvaluatedKey).toBeDefined();
  });
});

describe("a transaction is refused", () => {
  test.each([
    ["of 101 items", () => transaction(times(101, (index) => putIn(index)))],
    ["of none", () => transaction([])],
    ["with the same item twice", () => transaction([putIn(1), putIn(1)])],
    [
      "that writes and checks the same item",
      () =>
        transaction([
          putIn(1),
          { ConditionCheck: { TableName, Key: key(1), ConditionExpression: "attribute_exists(pk)" } },
        ]),
    ],
    [
      "of more than 4 MB",
      () => transaction(times(11, (index) => putIn(index, { v: text("x".repeat(390 * KIBIBYTE)) }))),
    ],
    ["with a token of 37 characters", () => transaction([putIn(1)], "t".repeat(37))],
    [
      "that reads 101 items",
      () =>
        new TransactGetItemsCommand({
          TransactItems: times(101, (index) => ({ Get: { TableName, Key: key(index) } })),
        }),
    ],
  ])("%s", async (_, command) => {
    await expectRefused(command());
  });

  test("as a whole, with a reason per item, when one condition fails", async () => {
    const first = { Put: { TableName, Item: key(), ConditionExpression: "attribute_not_exists(pk)" } };

    const refusal = dynamodb.send(transaction([first, putIn("not-written")]));

    await expect(refusal).rejects.toMatchObject({
      name: "TransactionCanceledException",
      CancellationReasons: [{ Code: "ConditionalCheckFailed" }, { Code: "None" }],
    });
    const { Item } = await dynamodb.send(new GetItemCommand({ TableName, Key: key("not-written") }));
    expect(Item).toBeUndefined();
  });

  test("under a token that was used for another one, while the same one again changes nothing", async () => {
    const add = {
      Update: {
        TableName,
        Key: key(),
        UpdateExpression: "ADD tokens :n",
        ExpressionAttributeValues: { ":n": number(1) },
      },
    };
    await dynamodb.send(transaction([add], "token"));
    await dynamodb.send(transaction([add], "token"));

    await expect(dynamodb.send(transaction([putIn("other")], "token"))).rejects.toMatchObject({
      name: "IdempotentParameterMismatchException",
    });
    const { Item } = await dynamodb.send(new GetItemCommand({ TableName, Key: key() }));
    expect(Item?.["tokens"]).toEqual(number(1));
    const { Item: other } = await dynamodb.send(new GetItemCommand({ TableName, Key: key("other") }));
    expect(other).toBeUndefined();
  });
});

describe("a batch is refused", () => {
  const writes = (count: number, sk = (index: number) => index) =>
    new BatchWriteItemCommand({
      RequestItems: { [TableName]: times(count, (index) => ({ PutRequest: { Item: key(sk(index)) } })) },
    });

  test.each([
    ["of 26 writes", () => writes(26)],
    ["that writes an item twice", () => writes(2, () => 1)],
    [
      "of 101 reads",
      () => new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: times(101, (index) => key(index)) } } }),
    ],
  ])("%s", async (_, command) => {
    await expectRefused(command());
  });
});

describe("a table is refused", () => {
  test.each([
    ["with an index name of two characters", () => table("ab")],
    ["with 21 indexes", () => table("index", 21)],
  ])("%s", async (_, command) => {
    await expect(dynamodb.send(command())).rejects.toMatchObject({ name: "ValidationException" });
  });
});

describe("a lease", () => {
  const take = (owner: string, now: number) =>
    new UpdateItemCommand({
      TableName,
      Key: key("lease"),
      UpdateExpression: "SET holder = :owner, expires = :until ADD fence :one",
      ConditionExpression: "attribute_not_exists(expires) OR expires < :now",
      ExpressionAttributeValues: {
        ":owner": text(owner),
        ":until": number(now + 30),
        ":now": number(now),
        ":one": number(1),
      },
      ReturnValues: "ALL_NEW",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    });

  test("has one holder until it expires, and each holder its own fence", async () => {
    const first = await dynamodb.send(take("a", 100));
    const second = dynamodb.send(take("b", 110));

    await expect(second).rejects.toMatchObject({
      name: "ConditionalCheckFailedException",
      Item: { holder: text("a"), fence: number(1) },
    });
    const third = await dynamodb.send(take("b", 131));
    expect([first, third].map(({ Attributes }) => Attributes?.["fence"])).toEqual([number(1), number(2)]);
  });
});

type Command = Parameters<DynamoDBClient["send"]>[0];

/** Refused as not valid, and the items are what they were. */
async function expectRefused(command: unknown): Promise<void> {
  const items = async () => (await dynamodb.send(query({ ConsistentRead: true }))).Items;
  const before = await items();

  await expect(dynamodb.send(command as Command)).rejects.toMatchObject({ name: "ValidationException" });

  expect(before).not.toEqual([]);
  expect(await items()).toEqual(before);
}
