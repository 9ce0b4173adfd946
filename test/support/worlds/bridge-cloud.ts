import { BatchWriteItemCommand, DeleteTableCommand, ListTablesCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { DeleteScheduleCommand, ListSchedulesCommand } from "@aws-sdk/client-scheduler";
import { guardByPolicy, pepper } from "../../../functions/services/composition.ts";
import { createTestClock, type TestClock } from "../../../lib/local/clock.ts";
import {
  QUEUES,
  type QueueName,
  queueVariable,
  TABLES,
  type TableName,
  tableVariable,
} from "../../../lib/model/resources.ts";
import { refuseLeftovers, startTestCloud, TEST_START, type TestCloud } from "./cloud.ts";

/** An embedded cloud that holds the service's tables, queues and key, and this process as one of its functions. */
export type BridgeCloud = Awaited<ReturnType<typeof startBridgeCloud>>;

/** The cloud of this process, with the clock of the test file that uses it; files that share the process follow each other. */
let shared: ReturnType<typeof startShared> | undefined;

/**
 * Gives this process's cloud, empty and at the time where tests begin, and sets the environment that a function would
 * have. It is started once in a process, since the service keeps to the first that it meets. End its use with `close()`.
 */
export async function startBridgeCloud({ clock = createTestClock(TEST_START) } = {}) {
  shared ??= startShared();
  const one = await shared;
  if (one.inUse) throw new Error("this process's cloud is in use: close it first");
  one.inUse = true;
  const { cloud } = one;
  const emptied = await empty(one);
  one.useClock(clock);
  const missing = TABLE_NAMES.filter((name) => !emptied.has(physicalName(name)));
  await Promise.all(missing.map((name) => cloud.dynamodb.ensureTable(tableProperties(name))));
  const urls = Object.fromEntries(
    (Object.keys(QUEUES) as QueueName[]).map((name) => [queueVariable(name), createQueue(cloud, name)]),
  );
  const tables = Object.fromEntries(TABLE_NAMES.map((name) => [tableVariable(name), physicalName(name)]));
  cloud.kms.ensureKey(KEY_ALIAS);
  Object.assign(process.env, cloud.environment, urls, tables, { KEY_ID: KEY_ALIAS, STAGE: "dev" });
  guardByPolicy();
  // Before every test's time, so that what this process has cached of an earlier use is read again: there is none yet.
  Reflect.set(globalThis, Symbol.for("bridge.now"), () => 0);
  await pepper().read();
  Reflect.set(globalThis, Symbol.for("bridge.now"), () => clock.now());
  return {
    ...cloud,
    clock,
    /** Takes the bodies of the messages that wait in a queue. */
    take: (queue: QueueName) => takeAll(cloud, urls[queueVariable(queue)] ?? ""),
    close: async () => {
      Reflect.deleteProperty(globalThis, Symbol.for("bridge.now"));
      try {
        refuseLeftovers(cloud.dataDir, cloud.faults);
        one.inUse = false;
        if (process.env["VITEST"] === undefined) await cloud.close(); // a program's last: it would never end
      } catch (error) {
        shared = undefined; // what was found would be found again
        throw error;
      }
    },
  };
}

async function startShared() {
  let current = createTestClock(TEST_START);
  const clock: TestClock = {
    now: () => current.now(),
    at: (time, run) => current.at(time, run),
    during: (work) => current.during(work),
    advance: (by) => current.advance(by),
    settle: () => current.settle(),
  };
  const cloud = await startTestCloud({ clock });
  return {
    cloud,
    useClock: (next: TestClock) => {
      current = next;
    },
    inUse: false,
  };
}

/** Takes away what an earlier use has left: items, queues and schedules. Gives the tables that are there, empty. */
async function empty({
  cloud: { clients, sqs },
  useClock,
}: Awaited<ReturnType<typeof startShared>>): Promise<ReadonlySet<string>> {
  // Before every test's time: a queue can be created again a minute after it was deleted.
  useClock(createTestClock(new Date(0)));
  const { TableNames = [] } = await clients.dynamodb.send(new ListTablesCommand());
  const areEmpty = await Promise.all(TableNames.map((name) => emptyTable(clients.dynamodb, name)));
  const { QueueUrls = [] } = sqs.actions.ListQueues({});
  for (const QueueUrl of QueueUrls) sqs.actions.DeleteQueue({ QueueUrl });
  const { Schedules = [] } = await clients.scheduler.send(new ListSchedulesCommand({ MaxResults: 100 }));
  await Promise.all(
    Schedules.map(({ Name, GroupName }) => clients.scheduler.send(new DeleteScheduleCommand({ Name, GroupName }))),
  );
  return new Set(TableNames.filter((_, at) => areEmpty[at]));
}

/** Making a table takes five calls, so few items are deleted one by one; else the table goes. Gives whether it stays. */
async function emptyTable(dynamodb: TestCloud["clients"]["dynamodb"], TableName: string): Promise<boolean> {
  const ours = TABLE_NAMES.find((name) => physicalName(name) === TableName);
  const ProjectionExpression = ours && TABLES[ours].sorted ? "pk, sk" : "pk";
  const scan = new ScanCommand({ TableName, ProjectionExpression, Limit: FEW });
  const { Items = [], LastEvaluatedKey } = await dynamodb.send(scan);
  if (ours === undefined || LastEvaluatedKey) {
    await dynamodb.send(new DeleteTableCommand({ TableName }));
    return false;
  }
  const deletes = Items.map((Key) => ({ DeleteRequest: { Key } }));
  for (let from = 0; from < deletes.length; from += BATCH) {
    const RequestItems = { [TableName]: deletes.slice(from, from + BATCH) };
    await dynamodb.send(new BatchWriteItemCommand({ RequestItems }));
  }
  return true;
}

const FEW = 100;

/** Of items that one call deletes. */
const BATCH = 25;

/** By its alias, as operators name it, so that a test can put another key behind it. */
const KEY_ALIAS = "alias/bridge-test";

const TABLE_NAMES = Object.keys(TABLES) as TableName[];

const physicalName = (name: TableName): string => `bridge-test-${name}`;

export function tableProperties(name: TableName) {
  const { sorted, indexes } = TABLES[name];
  const keys = (pk: string, sk: string | null) => [
    { AttributeName: pk, KeyType: "HASH" },
    ...(sk === null ? [] : [{ AttributeName: sk, KeyType: "RANGE" }]),
  ];
  const GlobalSecondaryIndexes = indexes.map(({ name: IndexName, pk, sk, projection }) => {
    return { IndexName, KeySchema: keys(pk, sk), Projection: projected(projection) };
  });
  const attributes = new Set(["pk", ...(sorted ? ["sk"] : []), ...indexes.flatMap(({ pk, sk }) => [pk, sk])]);
  return {
    TableName: physicalName(name),
    BillingMode: "PAY_PER_REQUEST",
    TimeToLiveSpecification: { AttributeName: "expires_at", Enabled: true },
    KeySchema: keys("pk", sorted ? "sk" : null),
    AttributeDefinitions: [...attributes].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    ...(indexes.length > 0 && { GlobalSecondaryIndexes }),
  };
}

function projected(projection: "all" | "keys" | readonly string[]) {
  if (projection === "all") return { ProjectionType: "ALL" };
  return projection === "keys"
    ? { ProjectionType: "KEYS_ONLY" }
    : { ProjectionType: "INCLUDE", NonKeyAttributes: projection };
}

function createQueue(cloud: TestCloud, name: QueueName): string {
  const Attributes = { DelaySeconds: String(QUEUES[name].delaySeconds) };
  return cloud.sqs.actions.CreateQueue({ QueueName: `bridge-test-${name}`, Attributes }).QueueUrl;
}

async function takeAll(cloud: TestCloud, QueueUrl: string): Promise<unknown[]> {
  const bodies: unknown[] = [];
  for (;;) {
    const asked = { QueueUrl, MaxNumberOfMessages: 10 };
    const { Messages = [] } = await cloud.sqs.actions.ReceiveMessage(asked, new AbortController().signal);
    if (Messages.length === 0) return bodies;
    for (const { Body, ReceiptHandle } of Messages) {
      bodies.push(JSON.parse(Body ?? "null"));
      cloud.sqs.actions.DeleteMessage({ QueueUrl, ReceiptHandle: ReceiptHandle ?? "" });
    }
  }
}
