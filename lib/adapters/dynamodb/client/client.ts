import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { TableName } from "../../../model/resources.ts";
import { ASKING } from "../../../network/sdk-timeouts.ts";

/** DynamoDB and the physical names of the tables in it. */
export interface Database {
  readonly client: DynamoDBDocumentClient;
  readonly table: (name: TableName) => string;
}

/** The database that the environment names; region, endpoint and credentials are the SDK's to find. */
export function openDatabase(table: (name: TableName) => string): Database {
  const marshallOptions = { removeUndefinedValues: true };
  return { client: DynamoDBDocumentClient.from(new DynamoDBClient(ASKING), { marshallOptions }), table };
}
