import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { type KeptDays, keptDaysIn, type TableName } from "../../../model/resources.ts";
import { ASKING } from "../../../network/sdk-timeouts.ts";

/** DynamoDB, the physical names of the tables in it, and how long some of them keep their items. */
export interface Database {
  readonly client: DynamoDBDocumentClient;
  readonly table: (name: TableName) => string;
  readonly keptDays: KeptDays;
}

/** The database that the environment names; region, endpoint and credentials are the SDK's to find. */
export function openDatabase(table: Database["table"], keptDays: KeptDays = keptDaysIn({})): Database {
  const marshallOptions = { removeUndefinedValues: true };
  return { client: DynamoDBDocumentClient.from(new DynamoDBClient(ASKING), { marshallOptions }), table, keptDays };
}
