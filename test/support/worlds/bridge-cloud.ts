import type { TestClock } from "../../../lib/local/clock.ts";
import {
  QUEUES,
  type QueueName,
  queueVariable,
  TABLES,
  type TableName,
  tableVariable,
} from "../../../lib/model/resources.ts";
import { startTestCloud, type TestCloud } from "./cloud.ts";

/** An embedded cloud that holds the service's tables, queues and key, and this process as one of its functions. */
export interface BridgeCloud extends TestCloud {
  /** Takes the bodies of the messages that wait in a queue. */
  take(queue: QueueName): Promise<unknown[]>;
}

/** Starts it and sets the environment that a function would have. End it with `close()`. */
export async function startBridgeCloud(settings: { readonly clock?: TestClock } = {}): Promise<BridgeCloud> {
  const cloud = await startTestCloud(settings);
  for (const name of Object.keys(TABLES) as TableName[]) await cloud.dynamodb.ensureTable(tableProperties(name));
  const urls = Object.fromEntries(
    (Object.keys(QUEUES) as QueueName[]).map((name) => [queueVariable(name), createQueue(cloud, name)]),
  );
  Object.assign(process.env, cloud.environment, urls, tableEnvironment(), {
    KEY_ID: cloud.kms.ensureKey("alias/bridge-test"),
    STAGE: "dev",
  });
  Reflect.set(globalThis, Symbol.for("bridge.now"), () => cloud.clock.now());
  return {
    ...cloud,
    take: (queue) => takeAll(cloud, urls[queueVariable(queue)] ?? ""),
    close: async () => {
      Reflect.deleteProperty(globalThis, Symbol.for("bridge.now"));
      await cloud.close();
    },
  };
}

const physicalName = (name: TableName): string => `bridge-test-${name}`;

function tableEnvironment(): Record<string, string> {
  return Object.fromEntries(
    (Object.keys(TABLES) as TableName[]).map((name) => [tableVariable(name), physicalName(name)]),
  );
}

function tableProperties(name: TableName) {
  const { sorted, indexes } = TABLES[name];
  const keys = (pk: string, sk: string | null) => [
    { AttributeName: pk, KeyType: "HASH" },
    ...(sk === null ? [] : [{ AttributeName: sk, KeyType: "RANGE" }]),
  ];
  const attributes = new Set(["pk", ...(sorted ? ["sk"] : []), ...indexes.flatMap(({ pk, sk }) => [pk, sk])]);
  return {
    TableName: physicalName(name),
    BillingMode: "PAY_PER_REQUEST",
    TimeToLiveSpecification: { AttributeName: "expires_at", Enabled: true },
    KeySchema: keys("pk", sorted ? "sk" : null),
    AttributeDefinitions: [...attributes].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    ...(indexes.length === 0
      ? {}
      : {
          GlobalSecondaryIndexes: indexes.map(({ name: IndexName, pk, sk, projection }) => ({
            IndexName,
            KeySchema: keys(pk, sk),
            Projection: projected(projection),
          })),
        }),
  };
}

function projected(projection: "all" | "keys" | readonly string[]) {
  if (projection === "all") return { ProjectionType: "ALL" };
  return projection === "keys"
    ? { ProjectionType: "KEYS_ONLY" }
    : { ProjectionType: "INCLUDE", NonKeyAttributes: projection };
}

function createQueue(cloud: TestCloud, name: QueueName): string {
  const { QueueUrl } = cloud.sqs.actions.CreateQueue({
    QueueName: `bridge-test-${name}`,
    Attributes: { DelaySeconds: String(QUEUES[name].delaySeconds) },
  });
  return QueueUrl;
}

async function takeAll(cloud: TestCloud, QueueUrl: string): Promise<unknown[]> {
  const bodies: unknown[] = [];
  for (;;) {
    const received = await cloud.sqs.actions.ReceiveMessage(
      { QueueUrl, MaxNumberOfMessages: 10 },
      new AbortController().signal,
    );
    const messages = received.Messages ?? [];
    if (messages.length === 0) return bodies;
    for (const { Body, ReceiptHandle } of messages) {
      bodies.push(JSON.parse(Body ?? "null"));
      cloud.sqs.actions.DeleteMessage({ QueueUrl, ReceiptHandle: ReceiptHandle ?? "" });
    }
  }
}
