import {
  DynamoDBClient,
  GetItemCommand,
  type GetItemCommandInput,
  type GetItemCommandOutput,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
} from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { TableName } from "../../../model/resources.ts";
import { ASKING } from "../../../network/sdk-timeouts.ts";
import { type AskTogether, askTogether } from "../../ask-together.ts";
import { pagesInLine } from "../../pages-in-line.ts";
import { plainRequests } from "../plain-requests.ts";
import { Sha256 } from "../sha256.ts";

/** DynamoDB and the physical names of the tables in it. */
export interface Database {
  readonly client: DynamoDBDocumentClient;
  readonly table: (name: TableName) => string;
  /** Reads a page of texts and numbers in its turn, or shares the answer of one that asks the same. */
  readonly readPage: (asked: QueryCommandInput) => Promise<Omit<QueryCommandOutput, "$metadata">>;
  /** Reads an item of texts and numbers, or shares the answer of one that asks the same. */
  readonly readItem: (asked: GetItemCommandInput) => Promise<Omit<GetItemCommandOutput, "$metadata">>;
}

/** What the SDK does for each request that nobody here reads: its own log, its name, Lambda's trace of recursions. */
const UNUSED = ["loggerMiddleware", "getUserAgentMiddleware", "recursionDetectionMiddleware"];

/** The database that the environment names; region, endpoint and credentials are the SDK's to find. */
export function openDatabase(table: (name: TableName) => string): Database {
  const client = new DynamoDBClient({ ...ASKING, sha256: Sha256 });
  for (const name of UNUSED) client.middlewareStack.remove(name);
  const plainly = plainRequests(client);
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const together = askTogether();
  readTogether(documents, together);
  const inLine = pagesInLine();
  return {
    client: documents,
    table,
    readPage: (asked) => {
      const bySdk = () => client.send(new QueryCommand(asked));
      const read = () => plainly<Omit<QueryCommandOutput, "$metadata">>("Query", asked, bySdk);
      return together(`page ${JSON.stringify(asked)}`, () => inLine(read));
    },
    readItem: (asked) => {
      const bySdk = () => client.send(new GetItemCommand(asked));
      const read = () => plainly<Omit<GetItemCommandOutput, "$metadata">>("GetItem", asked, bySdk);
      return together(`item ${JSON.stringify(asked)}`, read);
    },
  };
}

const READS = ["GetItemCommand", "QueryCommand", "BatchGetItemCommand"];

/** Requests that meet in one process with the same question get one answer; on Lambda they never meet. */
function readTogether({ middlewareStack }: DynamoDBDocumentClient, together: AskTogether): void {
  middlewareStack.add(
    (next, { commandName = "" }) =>
      (asked) => {
        if (!READS.includes(commandName)) return next(asked);
        return together(`${commandName} ${JSON.stringify(asked.input)}`, () => next(asked));
      },
    { step: "initialize", priority: "high", name: "readTogether" },
  );
}
