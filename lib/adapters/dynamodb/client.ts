import { DynamoDBClient, type QueryCommand, type QueryCommandOutput } from "@aws-sdk/client-dynamodb";
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
  /** Sends a Query in its turn, or shares the answer of one that asks the same. */
  readonly readPage: (query: QueryCommand) => Promise<QueryCommandOutput>;
}

/** What the SDK does for each request that nobody here reads: its own log, its name, Lambda's trace of recursions. */
const UNUSED = ["loggerMiddleware", "getUserAgentMiddleware", "recursionDetectionMiddleware"];

/** The database that the environment names; region, endpoint and credentials are the SDK's to find. */
export function openDatabase(table: (name: TableName) => string): Database {
  const client = new DynamoDBClient({ ...ASKING, sha256: Sha256 });
  for (const name of UNUSED) client.middlewareStack.remove(name);
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const pages = new WeakSet<object>();
  readTogether(documents, pages, pagesInLine());
  const readPage = (query: QueryCommand) => {
    pages.add(query.input);
    return documents.send(query);
  };
  return { client: documents, table, readPage };
}

const READS = ["GetItemCommand", "QueryCommand", "BatchGetItemCommand"];

/**
 * Requests that meet in one process with the same question get one answer; on Lambda they never meet. Whoever asks for a
 * page stands in line only when nobody else does so for him.
 */
function readTogether({ middlewareStack }: DynamoDBDocumentClient, pages: WeakSet<object>, inLine: PagesInLine): void {
  const together = askTogether();
  middlewareStack.add(
    (next, { commandName = "" }) =>
      (asked) => {
        const send = () => next(asked);
        if (!READS.includes(commandName)) return send();
        const isPage = pages.has(asked.input);
        return together(`${commandName} ${JSON.stringify(asked.input)}`, isPage ? () => inLine(send) : send);
      },
    { step: "initialize", priority: "high", name: "readTogether" },
  );
}
