import { GetItemCommand, PutItemCommand, QueryCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestCloud, type TestCloud } from "../../support/worlds/cloud.ts";

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await startTestCloud();
});

afterAll(() => cloud.close());

function table(TableName: string, indexes: string[] = []) {
  return {
    TableName,
    BillingMode: "PAY_PER_REQUEST",
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    AttributeDefinitions: ["id", ...indexes].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    ...(indexes.length > 0 && {
      GlobalSecondaryIndexes: indexes.map((name) => ({
        IndexName: `by-${name}`,
        KeySchema: [{ AttributeName: name, KeyType: "HASH" }],
        Projection: { ProjectionType: "ALL" },
      })),
    }),
    TimeToLiveSpecification: { AttributeName: "expires", Enabled: true },
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  };
}

test("a table keeps its items and gets the index that a later version asks for", async () => {
  const { dynamodb } = cloud.clients;
  await cloud.dynamodb.ensureTable(table("grows", ["owner"]));
  const Item = { id: { S: "a" }, owner: { S: "o" }, due: { S: "d" } };
  await dynamodb.send(new PutItemCommand({ TableName: "grows", Item }));

  await cloud.dynamodb.ensureTable(table("grows", ["owner", "due"]));

  const { Items } = await dynamodb.send(
    new QueryCommand({
      TableName: "grows",
      IndexName: "by-due",
      KeyConditionExpression: "due = :due",
      ExpressionAttributeValues: { ":due": { S: "d" } },
    }),
  );
  expect(Items).toEqual([Item]);
});

test("a table whose key has changed is refused instead of losing its data, and an unknown property by name", async () => {
  await cloud.dynamodb.ensureTable(table("keyed"));
  const other = {
    ...table("keyed"),
    KeySchema: [{ AttributeName: "other", KeyType: "HASH" }],
    AttributeDefinitions: [{ AttributeName: "other", AttributeType: "S" }],
  };
  const odd = { ...table("odd"), KinesisStreamSpecification: {} };

  await expect(cloud.dynamodb.ensureTable(other)).rejects.toThrow("exists with another key");
  await expect(cloud.dynamodb.ensureTable(odd)).rejects.toThrow("KinesisStreamSpecification");
});

test("items are deleted once their time to live has passed, the others stay", async () => {
  const { dynamodb } = cloud.clients;
  await cloud.dynamodb.ensureTable(table("mortal"));
  const nowSeconds = Math.floor(cloud.clock.now() / 1000);
  const items = { old: { N: String(nowSeconds - 1) }, young: { N: String(nowSeconds + 60) }, odd: { S: "not a time" } };
  for (const [id, expires] of Object.entries(items)) {
    await dynamodb.send(new PutItemCommand({ TableName: "mortal", Item: { id: { S: id }, expires } }));
  }

  const deleted = await cloud.dynamodb.sweepExpired();

  expect(deleted).toBe(1);
  const { Item } = await dynamodb.send(new GetItemCommand({ TableName: "mortal", Key: { id: { S: "old" } } }));
  expect(Item).toBeUndefined();
  await cloud.clock.advance({ seconds: 61 });
  expect(await cloud.dynamodb.sweepExpired()).toBe(1);
});
