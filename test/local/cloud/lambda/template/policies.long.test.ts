import { join } from "node:path";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LambdaWorld, startLambdaWorld } from "../lambda-world.ts";

const SDK = join(import.meta.dirname, "../../../../../node_modules/@aws-sdk");

/** A function that sends whatever command it is asked for, with the names its variables give. */
const ASK = `
import * as dynamodb from "${SDK}/client-dynamodb/dist-es/index.js";
import * as sqs from "${SDK}/client-sqs/dist-es/index.js";
import * as kms from "${SDK}/client-kms/dist-es/index.js";
import * as scheduler from "${SDK}/client-scheduler/dist-es/index.js";
const services = { dynamodb, sqs, kms, scheduler };
const clients = {
  dynamodb: new dynamodb.DynamoDBClient(), sqs: new sqs.SQSClient(),
  kms: new kms.KMSClient(), scheduler: new scheduler.SchedulerClient(),
};
const known = (value) => JSON.parse(JSON.stringify(value), (_, text) =>
  typeof text === "string" && text.startsWith("$") ? (process.env[text.slice(1)] ?? text) : text);
export const handler = async ({ service, command, input }) => {
  try {
    await clients[service].send(new services[service][command + "Command"](known(input)));
    return "done";
  } catch (error) {
    return error.name + ": " + error.message;
  }
};
`;

let world: LambdaWorld;

beforeAll(async () => {
  const sources = { "list-mappings": ASK, "poll-now": ASK, "provision-mapping": ASK, "dispatch-events": ASK };
  world = await startLambdaWorld({ isolate: true, sources });
});
afterAll(() => world.close());

const dataKeyOf = (workspace_id: string) => ({
  KeyId: "$KEY_ID",
  KeySpec: "AES_256",
  EncryptionContext: { workspace_id },
});

const item = { pk: { S: "w" }, sk: { S: "m" } };
const schedule = {
  Name: "m",
  GroupName: "$SCHEDULE_GROUP",
  ScheduleExpression: "rate(1 minute)",
  FlexibleTimeWindow: { Mode: "OFF" },
  Target: { Arn: "$FAN_OUT_QUEUE_ARN", RoleArn: "$SCHEDULER_ROLE_ARN", Input: "{}" },
};

test.each([
  ["list-mappings", "dynamodb", "GetItem", { TableName: "$TABLE_MAPPINGS", Key: item }],
  ["list-mappings", "kms", "GenerateDataKey", dataKeyOf("service")],
  ["poll-now", "kms", "GenerateDataKey", dataKeyOf("ws_1")],
  [
    "poll-now",
    "dynamodb",
    "TransactWriteItems",
    { TransactItems: [{ Put: { TableName: "$TABLE_AUDIT", Item: item } }] },
  ],
  ["poll-now", "sqs", "SendMessageBatch", { QueueUrl: "$QUEUE_CYCLES", Entries: [{ Id: "1", MessageBody: "{}" }] }],
  ["provision-mapping", "scheduler", "CreateSchedule", schedule],
  ["provision-mapping", "scheduler", "ListSchedules", { GroupName: "$SCHEDULE_GROUP" }],
  [
    "dispatch-events",
    "dynamodb",
    "BatchExecuteStatement",
    { Statements: [{ Statement: `INSERT INTO "bridge-dev-deliveries" VALUE {'pk': 'e'}` }] },
  ],
])("what the policy of a function's role allows is done: %s: %s %s", async (name, service, command, input) => {
  expect(await world.host.invoke(name, { service, command, input })).toBe("done");
});

const BY_DUE = {
  TableName: "bridge-dev-deliveries",
  IndexName: "by-due",
  KeyConditionExpression: "pk = :p",
  ExpressionAttributeValues: { ":p": { S: "w" } },
};

test.each([
  ["list-mappings", "dynamodb", "PutItem", { TableName: "$TABLE_MAPPINGS", Item: item }, "table/bridge-dev-mappings"],
  ["list-mappings", "dynamodb", "Query", BY_DUE, "table/bridge-dev-deliveries/index/by-due"],
  ["poll-now", "sqs", "ReceiveMessage", { QueueUrl: "$QUEUE_CYCLES" }, "bridge-dev-cycles"],
  ["provision-mapping", "scheduler", "GetSchedule", { Name: "m", GroupName: "other" }, "schedule/other/m"],
  ["list-mappings", "kms", "GenerateDataKey", dataKeyOf("ws_1"), "key/"],
])(
  "what it does not allow is refused as AWS refuses it: %s: %s %s",
  async (name, service, command, input, resource) => {
    world.forget();
    const action = `${service}:${command}`;

    const answer = await world.host.invoke(name, { service, command, input });

    expect(answer).toContain("AccessDeniedException: User: arn:aws:sts:");
    expect(answer).toContain(`is not authorized to perform: ${action} on resource: `);
    expect(answer).toContain(resource);
    expect(world.log).toMatchObject([
      { event: "access denied", function: `bridge-dev-${name}`, message: expect.stringContaining(action) },
    ]);
  },
);

test("in one process as well, where a function is known by its trace, and who sends without one is the operator", async () => {
  const shared = await startLambdaWorld({ guarded: true, sources: { "list-mappings": ASK, "poll-now": ASK } });
  const put = {
    service: "dynamodb",
    command: "PutItem",
    input: { TableName: "$TABLE_AUDIT", Item: { pk: { S: "shared" }, sk: { S: "1" } } },
  };
  try {
    expect(await shared.host.invoke("poll-now", put)).toBe("done");
    expect(await shared.host.invoke("list-mappings", put)).toContain(
      "assumed-role/bridge-dev-list-mappings is not authorized to perform: dynamodb:PutItem",
    );
    expect(process.env["AWS_ENDPOINT_URL_DYNAMODB"]).not.toBe(shared.cloud.endpoints.dynamodb);
    await new DynamoDBClient().send(new PutItemCommand({ TableName: "bridge-dev-audit", Item: put.input.Item }));
  } finally {
    await shared.close();
  }
});

test("a transaction of which one part is not allowed does nothing", async () => {
  const TransactItems = [
    { Put: { TableName: "$TABLE_AUDIT", Item: { pk: { S: "whole" }, sk: { S: "1" } } } },
    { Delete: { TableName: "$TABLE_MAPPINGS", Key: item } },
  ];

  const answer = await world.host.invoke("poll-now", {
    service: "dynamodb",
    command: "TransactWriteItems",
    input: { TransactItems },
  });

  expect(answer).toContain(
    "dynamodb:DeleteItem on resource: arn:aws:dynamodb:eu-local-1:000000000000:table/bridge-dev-mappings",
  );
  const { Item } = await world.cloud.clients.documents.send(
    new GetCommand({ TableName: "bridge-dev-audit", Key: { pk: "whole", sk: "1" } }),
  );
  expect(Item).toBeUndefined();
});

test("a schedule may be handed no role but the one of the stage", async () => {
  const input = {
    ...schedule,
    Name: "n",
    Target: { ...schedule.Target, RoleArn: "arn:aws:iam::000000000000:role/admin" },
  };

  const answer = await world.host.invoke("provision-mapping", {
    service: "scheduler",
    command: "CreateSchedule",
    input,
  });

  expect(answer).toContain("iam:PassRole on resource: arn:aws:iam::000000000000:role/admin");
});
