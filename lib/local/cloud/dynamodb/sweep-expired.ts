import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  paginateListTables,
  paginateScan,
} from "@aws-sdk/client-dynamodb";

/**
 * Items that one request reads. The embedded DynamoDB answers one request at a time, and without a limit it reads the
 * whole rest of the table for each page of a megabyte: half a second in which nothing else is answered.
 */
const PAGE_ITEMS = 100;

/** Deletes every item whose time to live (epoch seconds) has passed, as AWS does in its own time. Gives their number. */
export async function sweepExpired(client: DynamoDBClient, now: Date): Promise<number> {
  let deleted = 0;
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) {
    for (const table of TableNames) deleted += await sweepTable(client, table, Math.floor(now.getTime() / 1000));
  }
  return deleted;
}

async function sweepTable(client: DynamoDBClient, TableName: string, nowSeconds: number): Promise<number> {
  const { TimeToLiveDescription: ttl } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  if (ttl?.TimeToLiveStatus !== "ENABLED" || !ttl.AttributeName) return 0;
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const keys = (Table?.KeySchema ?? []).map(({ AttributeName }) => AttributeName ?? "");
  const isExpired = {
    ExpressionAttributeNames: { "#ttl": ttl.AttributeName },
    ExpressionAttributeValues: { ":now": { N: String(nowSeconds) }, ":number": { S: "N" } },
  };
  const condition = "#ttl < :now AND attribute_type(#ttl, :number)";
  const scan = { TableName, Limit: PAGE_ITEMS, FilterExpression: condition, ...isExpired };
  let deleted = 0;
  for await (const { Items = [] } of paginateScan({ client }, scan)) {
    for (const item of Items) {
      const Key = Object.fromEntries(Object.entries(item).filter(([name]) => keys.includes(name)));
      try {
        await client.send(new DeleteItemCommand({ TableName, Key, ConditionExpression: condition, ...isExpired }));
        deleted += 1;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error; // renewed meanwhile: it stays
      }
    }
  }
  return deleted;
}
