import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { TableName } from "../../model/resources.ts";
import { askTogether } from "../ask-together.ts";
import { ASKING } from "../asking.ts";
import { type PagesInLine, pagesInLine } from "../pages-in-line.ts";
import { Sha256 } from "./sha256.ts";

/** DynamoDB and the physical names of the tables in it. */
export interface Database {
  readonly client: DynamoDBDocumentClient;
  readonly table: (name: TableName) => string;
  readonly inLine: PagesInLine;
}

/** What the SDK does for each request that nobody here reads: its own log, its name, Lambda's trace of recursions. */
const UNUSED = ["loggerMiddleware", "getUserAgentMiddleware", "recursionDetectionMiddleware"];

/** The database that the environment names; region, endpoint and credentials are the SDK's to find. */
export function openDatabase(table: (name: TableName) => string): Database {
  const client = new DynamoDBClient({ ...ASKING, sha256: Sha256 });
  for (const name of UNUSED) client.middlewareStack.remove(name);
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  readTogether(documents);
  return { client: documents, table, inLine: pagesInLine() };
}

const READS = ["GetItemCommand", "QueryCommand", "BatchGetItemCommand"];

/** Requests that meet in one process with the same question get one answer; on Lambda they never meet. */
function readTogether({ middlewareStack }: DynamoDBDocumentClient): void {
  const together = askTogether();
  middlewareStack.add(
    (next, { commandName = "" }) =>
      (asked) =>
        READS.includes(commandName)
          ? together(`${commandName} ${JSON.stringify(asked.input)}`, () => next(asked))
          : next(asked),
    { step: "initialize", priority: "high", name: "readTogether" },
  );
}
