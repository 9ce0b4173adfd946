import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { TableName } from "../../model/resources.ts";

/** DynamoDB and the physical names of the tables in it. */
export interface Database {
  readonly client: DynamoDBDocumentClient;
  readonly table: (name: TableName) => string;
}

/** What the SDK does for each request that nobody here reads: its own log, its name, Lambda's trace of recursions. */
const UNUSED = ["loggerMiddleware", "getUserAgentMiddleware", "recursionDetectionMiddleware"];

/** The database that the environment names; region, endpoint and credentials are the SDK's to find. */
export function openDatabase(table: (name: TableName) => string): Database {
  const client = new DynamoDBClient({ maxAttempts: 5 });
  for (const name of UNUSED) client.middlewareStack.remove(name);
  return { client: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }), table };
}
