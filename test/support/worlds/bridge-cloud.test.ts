import { type AttributeValue, CreateTableCommand, ListTablesCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { PEPPER_KEY } from "../../../lib/adapters/dynamodb/access/pepper.ts";
import { TABLES } from "../../../lib/model/resources.ts";
import { type BridgeCloud, startBridgeCloud } from "./bridge-cloud.ts";

test("a cloud begins empty, whatever the file before has left in it", async () => {
  const before = await startBridgeCloud();
  await fill(before, "bridge-test-tokens", 3, {});
  await fill(before, "bridge-test-audit", 30, { sk: "1" });
  await fill(before, "bridge-test-engine", 130, { sk: "1" });
  await fill(before, "bridge-test-events", 3, { sk: "1", body: "x".repeat(390_000) });
  await before.clients.dynamodb.send(
    new CreateTableCommand({
      TableName: "another",
      KeySchema: [{ AttributeName: "name", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "name", AttributeType: "S" }],
      BillingMode: "PAY_PER_REQUEST",
    }),
  );
  await before.close();

  const cloud = await startBridgeCloud();
  const { TableNames = [] } = await cloud.clients.dynamodb.send(new ListTablesCommand());
  const scans = TableNames.map((TableName) => cloud.clients.dynamodb.send(new ScanCommand({ TableName })));
  const isLeft = ({ pk }: Readonly<Record<string, AttributeValue>>) => pk?.S !== PEPPER_KEY.pk; // processes keep it
  const counts = (await Promise.all(scans)).map(({ Items = [] }) => Items.filter(isLeft).length);
  await cloud.close();

  expect(TableNames).not.toContain("another");
  expect(counts).toEqual(Object.keys(TABLES).map(() => 0));
});

async function fill({ clients }: BridgeCloud, TableName: string, many: number, more: object): Promise<void> {
  const puts = Array.from(
    { length: many },
    (_, at) => new PutCommand({ TableName, Item: { pk: `left ${at}`, ...more } }),
  );
  await Promise.all(puts.map((put) => clients.documents.send(put)));
}
