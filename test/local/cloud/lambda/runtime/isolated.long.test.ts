import { join } from "node:path";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { type LambdaWorld, startLambdaWorld } from "../lambda-world.ts";

const API = `
let calls = 0;
export const handler = async (event, context) => {
  const { do: ask } = event.queryStringParameters ?? {};
  calls++;
  if (ask === "crash") process.exit(7);
  if (ask === "throw") throw new TypeError("no such luck");
  if (ask === "hang") await new Promise(() => setInterval(() => {}, 1000));
  const { PATH, HOME, STAGE, TABLE_MAPPINGS, AWS_LAMBDA_FUNCTION_NAME, AWS_ENDPOINT_URL_SQS } = process.env;
  const body = {
    pid: process.pid, calls, id: context.awsRequestId,
    env: { PATH, HOME, STAGE, TABLE_MAPPINGS, AWS_LAMBDA_FUNCTION_NAME, AWS_ENDPOINT_URL_SQS },
  };
  return { statusCode: 200, body: JSON.stringify(body) };
};
`;
const STREAM = `
export const handler = awslambda.streamifyResponse(async (event, stream) => {
  const answer = awslambda.HttpResponseStream.from(stream, { statusCode: 200, headers: { "content-type": "text/csv" } });
  answer.write("x".repeat(3_000_000));
  if (event.queryStringParameters?.do === "break") throw new Error("the table is gone");
  answer.end("end");
});
`;
const BROKEN_AT_START = `throw new Error("cannot start"); export const handler = 1;`;

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
  const behaving = {
    "list-mappings": API,
    "read-drift": API,
    "list-audit-log": STREAM,
    "read-health": BROKEN_AT_START,
  };
  const asking = { "list-webhooks": ASK, "poll-now": ASK, "provision-mapping": ASK };
  world = await startLambdaWorld({ isolate: true, sources: { ...behaving, ...asking } });
});
beforeEach(() => world.forget());
afterAll(() => world.close());

test("a function keeps its process and state from call to call, shares neither, and sees its own variables alone", async () => {
  const first = await bodyOf("mappings");
  const second = await bodyOf("mappings");
  const other = await bodyOf("config/drift");

  expect(second).toMatchObject({ pid: first.pid, calls: first.calls + 1 });
  expect(other).toMatchObject({ calls: 1 });
  expect(new Set([first.pid, other.pid, process.pid]).size).toBe(3);
  expect(second.id).not.toBe(first.id);
  expect(first.env).toEqual({
    STAGE: "dev",
    TABLE_MAPPINGS: "bridge-dev-mappings",
    AWS_LAMBDA_FUNCTION_NAME: "bridge-dev-list-mappings",
    AWS_ENDPOINT_URL_SQS: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  });
});

test("a function that throws, crashes or cannot start is logged, and answers the next request if it can", async () => {
  for (const path of ["mappings?do=throw", "mappings?do=crash", "health"])
    expect((await call(path)).status, path).toBe(500);

  expect((await bodyOf("mappings")).calls).toBeGreaterThan(0);
  expect(world.log).toMatchObject([
    { error_type: "TypeError", message: "no such luck", function: "bridge-dev-list-mappings" },
    { error_type: "Runtime.ExitError", message: expect.stringContaining("exit status 7") },
    { message: "cannot start", function: "bridge-dev-read-health" },
  ]);
});

test("a function that is out of time is ended, and a new one answers", async () => {
  const before = await bodyOf("config/drift");

  const hanging = world.host.invoke("read-drift", { queryStringParameters: { do: "hang" } });
  const refused = expect(hanging).rejects.toThrow("Task timed out after 25.00 seconds");
  await world.functionClock.advance({ seconds: 25 });
  await refused;

  expect(await bodyOf("config/drift")).toMatchObject({ calls: 1 });
  expect(world.log[0]).toMatchObject({ error_type: "Sandbox.Timedout" });
  expect(() => process.kill(before.pid, 0)).toThrow("ESRCH");
});

test("a stream crosses the processes whole, or breaks off visibly", async () => {
  const whole = await call("audit-log");
  const text = await whole.text();
  const broken = call("audit-log?do=break").then((answer) => answer.text());

  expect(text).toBe(`${"x".repeat(3_000_000)}end`);
  await expect(broken).rejects.toThrow();
  expect(world.log).toMatchObject([{ event: "stream broken", message: "the table is gone" }]);
});

const Item = { pk: { S: "w" }, sk: { S: "m" } };
const PUT = { TableName: "$TABLE_AUDIT", Item: { pk: { S: "whole" }, sk: { S: "1" } } };
const BY_DUE = {
  TableName: "bridge-dev-deliveries",
  IndexName: "by-due",
  KeyConditionExpression: "pk = :p",
  ExpressionAttributeValues: { ":p": { S: "w" } },
};
const dataKeyOf = (workspace_id: string) => ({
  KeyId: "$KEY_ID",
  KeySpec: "AES_256",
  EncryptionContext: { workspace_id },
});
const schedule = (RoleArn: string) => ({
  Name: "m",
  GroupName: "$SCHEDULE_GROUP",
  ScheduleExpression: "rate(1 minute)",
  FlexibleTimeWindow: { Mode: "OFF" },
  Target: { Arn: "$FAN_OUT_QUEUE_ARN", RoleArn, Input: "{}" },
});
const ADMIN = "arn:aws:iam::000000000000:role/admin";

test("a function may do what the policy of its role allows", async () => {
  const ask = (name: string, service: string, command: string, input: object) =>
    world.host.invoke(name, { service, command, input });

  expect(await ask("list-webhooks", "kms", "GenerateDataKey", dataKeyOf("service"))).toBe("done");
  expect(await ask("poll-now", "kms", "GenerateDataKey", dataKeyOf("ws_1"))).toBe("done");
  expect(await ask("poll-now", "sqs", "SendMessage", { QueueUrl: "$QUEUE_CYCLES", MessageBody: "{}" })).toBe("done");
  expect(await ask("provision-mapping", "scheduler", "CreateSchedule", schedule("$SCHEDULER_ROLE_ARN"))).toBe("done");
});

test.each([
  ["list-webhooks", "dynamodb:PutItem", { TableName: "bridge-dev-audit", Item }, "table/bridge-dev-audit"],
  ["list-webhooks", "dynamodb:Query", BY_DUE, "table/bridge-dev-deliveries/index/by-due"],
  ["list-webhooks", "kms:GenerateDataKey", dataKeyOf("ws_1"), "key/"],
  ["poll-now", "sqs:ReceiveMessage", { QueueUrl: "$QUEUE_CYCLES" }, "bridge-dev-cycles"],
  ["provision-mapping", "scheduler:GetSchedule", { Name: "m", GroupName: "other" }, "schedule/other/m"],
])("%s may not do %s, which is refused as AWS refuses it and logged", async (name, action, input, resource) => {
  const [service, command] = action.split(":");

  const answer = await world.host.invoke(name, { service, command, input });

  expect(answer).toContain("AccessDeniedException: User: arn:aws:sts:");
  expect(answer).toContain(`is not authorized to perform: ${action} on resource: `);
  expect(answer).toContain(resource);
  const message = expect.stringContaining(action);
  expect(world.log).toMatchObject([{ event: "access denied", function: `bridge-dev-${name}`, message }]);
});

test("a transaction of which one part is not allowed does nothing, and no schedule gets another role", async () => {
  const TransactItems = [{ Put: PUT }, { Delete: { TableName: "bridge-dev-mappings", Key: Item } }];
  const both = { service: "dynamodb", command: "TransactWriteItems", input: { TransactItems } };

  const refused = await world.host.invoke("poll-now", both);
  const passed = { service: "scheduler", command: "CreateSchedule", input: schedule(ADMIN) };

  expect(refused).toContain("dynamodb:DeleteItem on resource: arn:aws:dynamodb:eu-local-1:000000000000:table/");
  const { documents } = world.cloud.clients;
  const read = new GetCommand({ TableName: "bridge-dev-audit", Key: { pk: "whole", sk: "1" } });
  expect((await documents.send(read)).Item).toBeUndefined();
  expect(await world.host.invoke("provision-mapping", passed)).toContain(`iam:PassRole on resource: ${ADMIN}`);
});

test("in one process a function is known by its trace, and who sends without one is the operator", async () => {
  const shared = await startLambdaWorld({ guarded: true, sources: { "list-webhooks": ASK, "poll-now": ASK } });
  onTestFinished(shared.close);
  const put = (TableName: string) => ({ service: "dynamodb", command: "PutItem", input: { ...PUT, TableName } });

  expect(await shared.host.invoke("poll-now", put("$TABLE_AUDIT"))).toBe("done");
  expect(await shared.host.invoke("list-webhooks", put("bridge-dev-audit"))).toContain(
    "assumed-role/bridge-dev-list-webhooks is not authorized to perform: dynamodb:PutItem",
  );
  expect(process.env["AWS_ENDPOINT_URL_DYNAMODB"]).not.toBe(shared.cloud.endpoints.dynamodb);
  await new DynamoDBClient().send(new PutItemCommand({ TableName: "bridge-dev-audit", Item: PUT.Item }));
});

interface Body {
  readonly pid: number;
  readonly calls: number;
  readonly id: string;
  readonly env: Record<string, string>;
}

function call(path: string): Promise<Response> {
  return fetch(`${world.host.baseUrl}/api/v1/t/w/${path}`);
}

async function bodyOf(path: string): Promise<Body> {
  const answer = await call(path);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Body;
}
