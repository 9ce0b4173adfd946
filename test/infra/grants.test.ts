import { join, resolve } from "node:path";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { ROUTES } from "../../lib/http/routes.ts";
import { type Access, WORKERS } from "../../lib/model/resources.ts";
import { synthesizeFixtures } from "./assembly.ts";

const FUNCTIONS = resolve(import.meta.dirname, "../../functions");

/** The code of each function as its bundle holds it: what the function cannot reach is shaken out. */
const code = new Map<string, string>();

beforeAll(async () => {
  const entryPoints = [
    ...Object.keys(ROUTES).map((name) => join(FUNCTIONS, "api", `${name}.ts`)),
    ...Object.keys(WORKERS).map((name) => join(FUNCTIONS, "workers", `${name}.ts`)),
  ];
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    write: false,
    outdir: "out",
    entryNames: "[name]",
    platform: "node",
    format: "esm",
    packages: "external",
    loader: { ".html": "text" },
  });
  for (const { path, text } of outputFiles) code.set(/([\w-]+)\.js$/.exec(path)?.[1] ?? "", text);
});

const RETRIES = ["queue retriesShort", "queue retriesMedium", "queue retriesLong"];
const DELIVERERS = ["deliver-webhook", "deliver-slow-webhook"].concat(
  ["short", "medium", "long"].map((wait) => `retry-webhook-${wait}`),
);

/**
 * Named in code that a function holds and never runs, because it is in one object or file with what it does run:
 * `commit` knows of audit entries and events, deliveries of their history.
 */
const NEVER_TOUCHED: Readonly<Record<string, readonly string[]>> = {
  "run-cycle": ["table audit"],
  "load-mapping": ["table audit"],
  // Overdue deliveries go by the queue of slow webhooks, the first attempts too.
  "sweep-minute": ["table attempts", "queue deliveries", ...RETRIES],
  "dispatch-events": ["table audit", "table attempts", ...RETRIES],
  ...Object.fromEntries(DELIVERERS.map((name) => [name, ["table audit", "table events"]])),
  // What a user asked for is attempted at once.
  "retry-delivery": RETRIES,
  "replay-webhook": RETRIES,
  "test-webhook": RETRIES,
};

/** The same in every function of the API: some write with an entry and an event, some list deliveries without history. */
const IN_THE_API = ["table audit", "table events", "table attempts"];

test("a function may touch every table and queue that its code names", () => {
  for (const [name, row] of Object.entries<Access>({ ...ROUTES, ...WORKERS })) {
    const untouched = [...(name in ROUTES ? IN_THE_API : []), ...(NEVER_TOUCHED[name] ?? [])];
    const wanting = namedBy(name).filter((thing) => !untouched.includes(thing) && !allowedBy(row).includes(thing));
    expect.soft(wanting, name).toEqual([]);
    if (name in WORKERS) expect.soft(namedBy(name), name).not.toEqual([]);
  }
});

test("no function may touch a table, queue, key or schedule that its code does not name", () => {
  for (const [name, row] of Object.entries<Access>({ ...ROUTES, ...WORKERS })) {
    const idle = allowedBy(row).filter((thing) => !namedBy(name).includes(thing));
    expect.soft(idle, name).toEqual([]);
    const text = code.get(name) ?? "";
    const uses = { scans: /paginateScan/, secrets: /GenerateDataKeyCommand/, watchesKey: /DescribeKeyCommand/ };
    for (const [kind, command] of Object.entries({ ...uses, schedules: /CreateScheduleCommand/ }))
      if (row[kind as keyof Access]) expect.soft(text, `${name}: ${kind}`).toMatch(command);
  }
});

/** By what code sends what an action allows; Lambda itself reads queues, makes interfaces and writes logs. */
const SENT_BY: Readonly<Record<string, RegExp>> = {
  "dynamodb:BatchGetItem": /new BatchGetCommand\d*\(/,
  "dynamodb:BatchWriteItem": /new BatchWriteCommand\d*\(/,
  "dynamodb:DeleteItem": /new DeleteCommand\d*\(/,
  "dynamodb:GetItem": /new GetCommand\d*\(/,
  "dynamodb:PartiQLInsert": /new BatchExecuteStatementCommand\d*\(/,
  "dynamodb:PutItem": /new PutCommand\d*\(/,
  "dynamodb:Query": /(paginateQuery|new QueryCommand)\d*\(/,
  "dynamodb:Scan": /paginateScan\(/,
  "dynamodb:UpdateItem": /new UpdateCommand\d*\(/,
  "iam:PassRole": /new CreateScheduleCommand\d*\(/,
  "kms:Decrypt": /new DecryptCommand\d*\(/,
  "kms:DescribeKey": /new DescribeKeyCommand\d*\(/,
  "kms:GenerateDataKey": /new GenerateDataKeyCommand\d*\(/,
  "scheduler:CreateSchedule": /new CreateScheduleCommand\d*\(/,
  "scheduler:DeleteSchedule": /new DeleteScheduleCommand\d*\(/,
  "scheduler:ListSchedules": /paginateListSchedules\(/,
  "secretsmanager:DescribeSecret": /new DescribeSecretCommand\(/,
  "secretsmanager:GetSecretValue": /new GetSecretValueCommand\(/,
  "sqs:SendMessage": /new SendMessageBatchCommand\d*\(/,
};

test("each action that is granted is sent by some code, and each call to AWS has its action", async () => {
  const { all } = await synthesizeFixtures();
  const granted = all("AWS::IAM::Role")
    .filter(({ Properties }) => JSON.stringify(Properties["AssumeRolePolicyDocument"]).includes("lambda."))
    .flatMap(
      ({ Properties }) =>
        JSON.stringify(Properties).match(/\b(dynamodb|iam|kms|scheduler|secretsmanager|sqs):\w+/g) ?? [],
    )
    .filter(
      (action) =>
        !/^(sqs:(Receive|Delete|Get)|iam:PassedToService|kms:EncryptionContext|secretsmanager:ResourceTag)/.test(
          action,
        ),
    );

  expect([...new Set(granted)].sort()).toEqual(Object.keys(SENT_BY));
  const everything = [...code.values()].join("\n");
  for (const [action, sent] of Object.entries(SENT_BY)) expect.soft(sent.test(everything), action).toBe(true);
  const calls = everything.match(/new \w+Command\d*\(|paginate\w+\(/g) ?? [];
  const known = Object.values(SENT_BY);
  expect([...new Set(calls)].filter((call) => !known.some((sent) => sent.test(call)))).toEqual([
    "new TransactWriteCommand(", // by the actions of its members
  ]);
});

test("each function that asks a customer's org or database says so in its row, so it is in the private network", () => {
  const asks = (name: string) => /function (guardedFetch|guardedLookup)\b|guardedLookup = /.test(code.get(name) ?? "");
  for (const [name, { postgres = false, org = false }] of Object.entries<Access>({ ...ROUTES, ...WORKERS }))
    expect.soft(postgres || org, name).toBe(asks(name));
});

test("what is listed as never touched is named all the same, and allowed to no function", () => {
  const rows: Readonly<Record<string, Access>> = { ...ROUTES, ...WORKERS };
  for (const [name, things] of Object.entries(NEVER_TOUCHED)) {
    expect.soft(namedBy(name), name).toEqual(expect.arrayContaining([...things]));
    const allowed = things.filter((thing) => allowedBy(rows[name] ?? {}).includes(thing));
    expect.soft(allowed, name).toEqual([]);
  }
});

const DELIVERY_QUEUES = ["deliveries", "slowDeliveries", "retriesShort", "retriesMedium", "retriesLong"];

/** Tables and queues by the words with which adapters and compositions ask for them. */
function namedBy(name: string): string[] {
  const text = code.get(name);
  if (text === undefined) throw new Error(`no bundle of ${name}`);
  const tables = [...text.matchAll(/(?:\.table\(|\(\s*database\d*,\s*)"(\w+)"/g)].map(([, table]) => `table ${table}`);
  const queues = [...text.matchAll(/\bqueue\d*\("(\w+)"\)/g)].map(([, queue]) => `queue ${queue}`);
  // The queue of a delivery's wake-up is chosen by its number and lane (`sqs/delivery-queues.ts`).
  const retries = text.includes("RETRY_QUEUES") ? DELIVERY_QUEUES : [];
  return [...new Set([...tables, ...queues, ...retries.map((queue) => `queue ${queue}`)])].sort();
}

const allowedBy = ({ reads = [], writes = [], sends = [] }: Access): string[] => [
  ...[...reads, ...writes].map((table) => `table ${table}`),
  ...sends.map((queue) => `queue ${queue}`),
];
