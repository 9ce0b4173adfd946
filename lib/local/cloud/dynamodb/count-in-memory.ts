import { type CreateTableCommandInput, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Clock } from "../../clock.ts";
import { repeatHourly } from "../repeat-hourly.ts";
import { ensureTable } from "./ensure-table.ts";
import { keepDynamoDb } from "./keep-dynamodb.ts";
import { sweepExpired } from "./sweep-expired.ts";

/** How to count requests. */
interface Counting {
  readonly folder: string;
  /** The physical name of the table of rate limits. */
  readonly tableName: string;
  /** The SDK's own variables. */
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly onFault: (fault: unknown) => void;
}

/** A running DynamoDB for counts. */
export interface CountsInMemory {
  readonly endpoint: string;
  readonly lost: Promise<void>;
  close(): Promise<void>;
}

/**
 * A DynamoDB in memory that counts the requests of each minute. Every request is counted, and dynoxide makes its file
 * safe with every write, which takes a disk some milliseconds, now and then a quarter of a second, and all that is asked
 * of it meanwhile waits. A count is of no use once its minute is over: nothing is lost with it that a start does not cost.
 */
export async function countInMemory(counting: Counting): Promise<CountsInMemory> {
  const { folder, tableName, environment, clock, onFault } = counting;
  const clientOf = (endpoint: string) =>
    new DynamoDBClient({
      endpoint,
      region: environment["AWS_REGION"] ?? "",
      credentials: {
        accessKeyId: environment["AWS_ACCESS_KEY_ID"] ?? "",
        secretAccessKey: environment["AWS_SECRET_ACCESS_KEY"] ?? "",
      },
    });
  const server = await keepDynamoDb({
    place: { folder, name: "rate-limits", inMemory: [tableOf(tableName)] },
    onFault,
    prepare: async (endpoint) => {
      const client = clientOf(endpoint);
      const properties = { ...tableOf(tableName), TimeToLiveSpecification: EXPIRES };
      await ensureTable(client, properties).finally(() => client.destroy());
    },
  });
  const client = clientOf(server.endpoint);
  const endSweeps = repeatHourly(clock, () => sweepExpired(client, new Date(clock.now())), onFault);
  return {
    endpoint: server.endpoint,
    lost: server.lost,
    async close() {
      await endSweeps();
      client.destroy();
      await server.close();
    },
  };
}

/** As `TABLES.rateLimits` is deployed. */
const tableOf = (TableName: string) =>
  ({
    TableName,
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
  }) satisfies CreateTableCommandInput;

const EXPIRES = { AttributeName: "expires_at", Enabled: true };
