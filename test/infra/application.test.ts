import { ResponseType } from "aws-cdk-lib/aws-apigateway";
import { beforeAll, describe, expect, test } from "vitest";
import { ROUTES, type Route } from "../../lib/http/routes.ts";
import {
  type Access,
  type QueueName,
  queueVariable,
  TABLES,
  type TableName,
  tableVariable,
  WORKERS,
} from "../../lib/model/resources.ts";
import { type Assembly, type Json, MANY_OPTIONS, PROD, type Resource, STACKS, synthesizeFixtures } from "./assembly.ts";

let dev: Assembly;
/** With the options that a deployment may choose. */
let chosen: Assembly;

beforeAll(async () => {
  dev = await synthesizeFixtures();
  chosen = await synthesizeFixtures(MANY_OPTIONS);
});

const ROWS: Record<string, Access> = { ...ROUTES, ...WORKERS };

describe("the API", () => {
  test("each row is answered by its own function on its method and path, which streams a large answer and ends in time", () => {
    for (const [name, route] of Object.entries<Route>(ROUTES)) {
      const method = methods().find(({ path, verb }) => path === route.path && verb === route.method);
      expect.soft(method?.calls, name).toBe(`bridge-dev-${name}`);
      expect.soft(method?.integration["ResponseTransferMode"], name).toBe(route.streams ? "STREAM" : undefined);
      const uri = JSON.stringify(method?.integration["Uri"]);
      expect.soft(uri.includes("response-streaming-invocations"), name).toBe(route.streams ?? false);
    }
    for (const { integration, calls } of methods()) {
      const { Properties } = dev.functionOf(calls.slice("bridge-dev-".length));
      expect(Properties["Timeout"]).toBeLessThanOrEqual(Number(integration["TimeoutInMillis"] ?? 29_000) / 1000);
    }
  });

  test("whatever no row answers reaches the function that says so in the envelope", () => {
    const otherwise = methods().filter(({ verb }) => verb === "ANY");

    expect(new Set(otherwise.map(({ path }) => path))).toEqual(new Set(["/", "/{proxy+}", ...resourcePaths()]));
    expect(new Set(otherwise.map(({ calls }) => calls))).toEqual(new Set(["bridge-dev-no-such-endpoint"]));
  });

  test("whatever the gateway answers on its own is in the envelope, with the right status", () => {
    const responses = dev.all("AWS::ApiGateway::GatewayResponse");

    const byType = Object.fromEntries(
      responses.map(({ Properties }) => {
        const body = JSON.parse(String(Properties["ResponseTemplates"]?.["application/json"])) as Envelope;
        expect(body).toEqual({
          success: false,
          error: { code: expect.any(String), message: expect.stringMatching(/\w+\./) },
        });
        const retryAfter = Properties["ResponseParameters"]?.["gatewayresponse.header.Retry-After"] ?? "never";
        return [String(Properties["ResponseType"]), `${Properties["StatusCode"]} ${body.error.code} ${retryAfter}`];
      }),
    );

    expect(Object.keys(byType).sort()).toEqual(typesOfThePlatform());
    expect(byType).toMatchObject({
      MISSING_AUTHENTICATION_TOKEN: "404 NOT_FOUND never",
      THROTTLED: "429 RATE_LIMITED '60'",
      REQUEST_TOO_LARGE: "413 PAYLOAD_TOO_LARGE never",
      INTEGRATION_TIMEOUT: "503 UNAVAILABLE '5'",
      INTEGRATION_FAILURE: "503 UNAVAILABLE '5'",
      API_CONFIGURATION_ERROR: "503 UNAVAILABLE '5'",
      UNAUTHORIZED: "401 UNAUTHORIZED never",
      DEFAULT_5XX: "500 INTERNAL_ERROR never",
    });
  });
});

/** Who reads tables from end to end. */
const SCANS: Readonly<Record<string, readonly TableName[]>> = {
  "sweep-minute": ["workspaces", "mappings", "events", "engine"],
  "read-metrics": ["counters", "engine"],
  "read-fleet": ["workspaces", "engine", "counters"],
};

const OWN_SECRET_ALONE = [
  ..."change-budget change-webhook delete-webhook export-config list-audit-log list-deliveries list-mappings".split(
    " ",
  ),
  ..."list-tokens list-webhooks read-budget read-delivery read-doorbell read-drift read-fleet read-own-token".split(
    " ",
  ),
  ..."read-webhook read-workspace remove-doorbell rename-workspace revoke-token ring".split(" "),
];

describe("what a function may do", () => {
  test("each function knows the place of a thing exactly if it may touch it", () => {
    for (const [name, row] of Object.entries(ROWS)) {
      const { reads = [], writes = [], sends = [], secrets = false, schedules = false } = row;
      const tables = new Set([...reads, ...writes]);
      const isTwice = (table: TableName) => TABLES[table].indexes.length > 0;
      const named = Object.keys(dev.environmentOf(name)).filter((one) =>
        /^(TABLE|QUEUE)_|^KEY|SCHEDULE|_ARN$/.test(one),
      );
      const expected = [
        ...[...tables].map(tableVariable),
        ...sends.map(queueVariable),
        ...(secrets ? ["KEY_ID"] : []),
        ...(schedules ? ["SCHEDULE_GROUP", "SCHEDULER_ROLE_ARN", "FAN_OUT_QUEUE_ARN"] : []),
      ];
      expect.soft(new Set(named), name).toEqual(new Set(expected));
      for (const [action, things] of Object.entries({
        "dynamodb:GetItem": arnsOf("Table", tables, isTwice),
        "dynamodb:PutItem": arnsOf("Table", new Set(writes), isTwice),
        "dynamodb:Scan": arnsOf("Table", new Set(SCANS[name] ?? [])),
        "sqs:SendMessage": arnsOf("Queue", new Set(sends)),
        "kms:Decrypt": secrets ? ["Key"] : [],
        "iam:PassRole": schedules ? ["BeatFanOutRole"] : [],
      }))
        expect.soft(granted(name, action), `${name}: ${action}`).toEqual(things);
    }
  });

  test("what neither reaches a database or an org nor seals an answer opens the service's own secret alone", () => {
    const opening = (name: string) =>
      statementsOf(dev.roleOf(name)).find(({ Action }) => String(Action).includes("kms:Decrypt"));
    const ownAlone = Object.keys(ROWS).filter((name) => opening(name)?.["Condition"] !== undefined);

    expect(ownAlone.sort()).toEqual(OWN_SECRET_ALONE);
    for (const name of ownAlone) {
      expect(opening(name)?.["Condition"]).toEqual({
        StringEquals: { "kms:EncryptionContext:workspace_id": "service" },
      });
    }
  });

  test("exactly those that reach customers' databases trust Amazon's own certificates, which RDS answers with", () => {
    for (const [name, { postgres = false }] of Object.entries(ROWS)) {
      const trusted = dev.environmentOf(name)["NODE_EXTRA_CA_CERTS"];
      expect.soft(trusted, name).toBe(postgres ? "/var/runtime/ca-cert.pem" : undefined);
    }
  });

  test("schedules are changed in this stage's group alone, and passed one role, which may send to the fan-out queue alone", () => {
    const changing = dev
      .all("AWS::IAM::Role")
      .flatMap(statementsOf)
      .filter(({ Action }) => JSON.stringify(Action).includes("scheduler:CreateSchedule"));
    const [role] = dev.all("AWS::IAM::Role").filter(({ id }) => id.startsWith("BeatFanOutRole"));
    const [statement, ...others] = statementsOf(role);

    expect(changing).toHaveLength(Object.values(ROWS).filter(({ schedules }) => schedules).length);
    for (const { Resource } of changing) expect(JSON.stringify(Resource)).toMatch(/:schedule\/bridge-dev\/\*"\]\]\}$/);
    expect(others).toEqual([]);
    expect(statement).toMatchObject({ Action: "sqs:SendMessage", Effect: "Allow" });
    expect(namesIn(statement?.["Resource"])).toEqual(["FanOutQueue"]);
  });

  test("Scheduler takes each of its roles for the schedules of one group alone, of this account", () => {
    const sources = dev
      .all("AWS::IAM::Role")
      .filter(({ Properties }) => JSON.stringify(Properties).includes('"Service":"scheduler.amazonaws.com"'))
      .map(({ id, Properties }) => {
        const { Condition, ...statement } = Properties["AssumeRolePolicyDocument"]?.["Statement"]?.[0] ?? {};
        expect(statement).toMatchObject({ Action: "sts:AssumeRole", Effect: "Allow" });
        return [id.replace(/Role.*/, ""), Condition];
      });

    const [group] = dev.all("AWS::Scheduler::ScheduleGroup");
    expect(Object.fromEntries(sources)).toEqual({
      BeatFanOut: onlyFrom(String(group?.Properties["Name"])),
      BeatSweeps: onlyFrom("default"),
    });
  });

  test("no statement allows every action, and none every resource but the one that has no narrower", () => {
    const statements = dev.all("AWS::IAM::Role").flatMap(statementsOf);

    expect(statements.filter(({ Action }) => JSON.stringify(Action).includes("*"))).toEqual([]);
    const wide = statements.filter(({ Resource }) => JSON.stringify(Resource) === `"*"`);
    expect(new Set(wide.map(({ Action }) => String(Action)))).toEqual(new Set(["scheduler:ListSchedules"]));
  });

  test("public are the API and the metrics URL, nothing else", () => {
    const anyone = dev
      .all("AWS::Lambda::Permission")
      .filter(({ Properties }) => String(Properties["Principal"]) === "*");

    expect(dev.all("AWS::Lambda::Permission")).toEqual(anyone);
    expect(dev.all("AWS::Lambda::Url")).toHaveLength(1);
    expect(anyone.map(({ Properties }) => String(Properties["Action"])).sort()).toEqual([
      "lambda:InvokeFunction",
      "lambda:InvokeFunctionUrl",
    ]);
    expect(
      anyone.every(({ Properties }) => JSON.stringify(Properties).includes(dev.functionOf("read-metrics").id)),
    ).toBe(true);
  });

  test("the gateway may call the functions of the API and no other", () => {
    const callers = dev.all("AWS::IAM::Role").filter(({ id }) => id.startsWith("CallerRole"));
    const namedBy = new Map<string, string[]>();
    for (const role of callers) {
      const [statement, ...others] = statementsOf(role);
      expect(others).toEqual([]);
      expect(statement).toMatchObject({ Action: "lambda:InvokeFunction", Effect: "Allow" });
      expect(JSON.stringify(role.Properties["AssumeRolePolicyDocument"])).toContain("apigateway.amazonaws.com");
      const called = JSON.stringify(statement?.["Resource"]).matchAll(/:function:([\w-]+)"/g);
      namedBy.set(
        role.id,
        Array.from(called, ([, name = ""]) => name),
      );
    }
    const names = ["console", "no-such-endpoint", ...Object.keys(ROUTES)].map((name) => `bridge-dev-${name}`);

    expect([...namedBy.values()].flat().sort()).toEqual(names.sort());
    for (const { integration, calls } of methods())
      expect(namedBy.get(String(integration["Credentials"]?.["Fn::GetAtt"]?.[0]))).toContain(calls);
  });

  test("no role's policies pass the 10,240 characters that IAM takes, however long the stage's name", async () => {
    for (const assembly of [dev, await synthesizeFixtures({ ...PROD, stage: "abcdefghijklmnopqrst" })]) {
      for (const role of assembly.all("AWS::IAM::Role")) {
        const text = JSON.stringify(rendered(role.Properties["Policies"]));

        expect.soft(text.length, role.id).toBeLessThan(10_240);
      }
    }
  });

  test("every stack keeps well below the 500 resources that CloudFormation takes, the API's with room for 60 endpoints", () => {
    for (const [stack, count] of Object.entries(dev.counts))
      expect.soft(count, stack).toBeLessThan(stack === "Bridge-dev-Api" ? 500 - 3 * 60 : 400);
  });
});

describe("the workers", () => {
  test("each reads its queue in the batches of its row and answers for each message", () => {
    for (const [name, row] of Object.entries(WORKERS)) {
      const source = dev
        .all("AWS::Lambda::EventSourceMapping")
        .find(({ Properties }) => JSON.stringify(Properties["FunctionName"]).includes(dev.functionOf(name).id));
      expect(source?.Properties, name).toMatchObject({
        BatchSize: row.batchSize,
        FunctionResponseTypes: ["ReportBatchItemFailures"],
        ScalingConfig: { MaximumConcurrency: row.maxConcurrency },
      });
      expect(source?.Properties["MaximumBatchingWindowInSeconds"], name).toBe(row.batchWindowSeconds || undefined);
      expect(namesIn(source?.Properties["EventSourceArn"]), name).toEqual([`${upperFirst(row.queue)}Queue`]);
      expect(dev.functionOf(name).Properties, name).toMatchObject({
        Timeout: row.timeoutSeconds,
        MemorySize: row.memoryMegabytes,
      });
    }
  });

  test("a function may be called by its own messages only where its row says why, and the console shows the reason", () => {
    for (const [name, row] of Object.entries(WORKERS)) {
      const { RecursiveLoop, Description } = dev.functionOf(name).Properties;
      const reason = "resends" in row ? row.resends : undefined;
      expect.soft(RecursiveLoop, name).toBe(reason && "Allow");
      expect.soft(Description, name).toBe(reason && `RecursiveLoop: ${reason}`);
      expect.soft(String(Description ?? "").length, name).toBeLessThanOrEqual(256);
    }
    for (const name of Object.keys(ROUTES)) expect(dev.functionOf(name).Properties).not.toHaveProperty("RecursiveLoop");
  });

  test("exactly the workers that can cause their own messages say why they may", () => {
    const rows = Object.entries(WORKERS).map(([name, { queue, ...row }]) => ({
      name,
      queue,
      sends: "sends" in row ? (row.sends as readonly QueueName[]) : [],
      resends: "resends" in row,
    }));
    const reachable = (from: readonly QueueName[], seen = new Set<QueueName>()): Set<QueueName> => {
      for (const queue of from.filter((one) => !seen.has(one))) {
        seen.add(queue);
        reachable(
          rows.filter((row) => row.queue === queue).flatMap(({ sends }) => sends),
          seen,
        );
      }
      return seen;
    };

    const onLoops = rows.filter(({ queue, sends }) => reachable(sends).has(queue)).map(({ name }) => name);

    expect(rows.filter(({ resends }) => resends).map(({ name }) => name)).toEqual(onLoops);
    expect(onLoops).toContain("load-mapping");
  });

  test("the sweeper wakes once a minute, and a wake-up that is a minute late is dropped", () => {
    const schedules = dev.all("AWS::Scheduler::Schedule");

    expect(schedules).toHaveLength(1);
    expect(schedules[0]?.Properties).toMatchObject({
      ScheduleExpression: "rate(1 minute)",
      Target: { RetryPolicy: { MaximumEventAgeInSeconds: 60 } },
    });
    expect(namesIn(schedules[0]?.Properties["Target"]?.["Arn"])).toEqual(["SweepsQueue"]);
  });
});

describe("the stage", () => {
  test("dev and prod have their rules, and a stage of another name production's, with its name in each thing", async () => {
    const [prod, staging] = [await synthesizeFixtures(PROD), await synthesizeFixtures({ ...PROD, stage: "staging" })];

    expect(chosen.environmentOf("list-mappings")).toMatchObject({ STAGE: "dev", RATE_LIMIT_PER_MINUTE: "500" });
    expect(prod.environmentOf("list-mappings")["STAGE"]).toBe("prod");
    expect(staging.environmentOf("list-mappings")["STAGE"]).toBe("staging");
    for (const one of [prod, staging])
      expect(one.environmentOf("list-mappings")).not.toHaveProperty("RATE_LIMIT_PER_MINUTE");
    const TableName = expect.stringMatching(/^bridge-staging-/);
    for (const { Properties } of staging.all("AWS::DynamoDB::Table"))
      expect(Properties).toMatchObject({ DeletionProtectionEnabled: true, TableName });
    const kept = (assembly: Assembly) =>
      assembly
        .all("AWS::Logs::LogGroup")
        .map((group) => `${group.Properties["RetentionInDays"]} ${group.DeletionPolicy}`);
    expect([dev, chosen, prod, staging].map((one) => [...new Set(kept(one))])).toEqual([
      [expect.stringMatching(/^14 /)],
      [expect.stringMatching(/^365 /)],
      ["90 RetainExceptOnCreate"],
      ["90 RetainExceptOnCreate"],
    ]);
  });

  test("the stacks can be deployed one after the other, and none goes back to one behind it", () => {
    const order = STACKS.map((name) => `Bridge-dev-${name}`);

    for (const [stack, before] of Object.entries(dev.before)) {
      for (const other of before) expect(order.indexOf(other)).toBeLessThan(order.indexOf(stack));
    }
    expect(dev.before["Bridge-dev-Workers"]).toContain("Bridge-dev-Data");
    expect(dev.before["Bridge-dev-Endpoints"]).toContain("Bridge-dev-Data");
    expect(dev.before["Bridge-dev-Api"]).toContain("Bridge-dev-Endpoints");
  });

  test("functions know how long deliveries and audit entries are kept where that was asked for", () => {
    expect(chosen.environmentOf("list-mappings")).toMatchObject({ DELIVERY_DAYS: "7", AUDIT_DAYS: "90" });
    expect(Object.keys(dev.environmentOf("list-mappings"))).not.toContain("DELIVERY_DAYS");
  });

  test("tracing is off unless switched on, and then every function and the API leave traces", () => {
    const modes = (assembly: Assembly) =>
      new Set(assembly.all("AWS::Lambda::Function").map(({ Properties }) => Properties["TracingConfig"]?.["Mode"]));

    expect(modes(dev)).toEqual(new Set([undefined]));
    expect(modes(chosen)).toEqual(new Set(["Active"]));
    expect(chosen.all("AWS::ApiGateway::Stage")[0]?.Properties["TracingEnabled"]).toBe(true);
    expect(JSON.stringify(chosen.all("AWS::IAM::Role")).split("xray:PutTraceSegments")).toHaveLength(
      chosen.all("AWS::Lambda::Function").length + 1,
    );
  });

  test("the gateway refuses what is above a rate, and writes a line a request where that is asked for", () => {
    const stageOf = (assembly: Assembly) => assembly.all("AWS::ApiGateway::Stage")[0]?.Properties ?? {};
    const limits = (assembly: Assembly) => Object.values(stageOf(assembly)["MethodSettings"] ?? {});

    expect(limits(dev)).toEqual([expect.objectContaining({ ThrottlingRateLimit: 1000, ThrottlingBurstLimit: 2000 })]);
    expect(limits(chosen)).toEqual([expect.objectContaining({ ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 })]);
    expect([stageOf(dev)["AccessLogSetting"], dev.all("AWS::ApiGateway::Account")]).toEqual([undefined, []]);
    expect(JSON.stringify(stageOf(chosen)["AccessLogSetting"])).toContain("$context.requestId");
    expect(chosen.all("AWS::ApiGateway::Account")).toHaveLength(1);
  });

  test("everything that can have tags has those that were asked for, and every role the permissions boundary", () => {
    const tagged = ["AWS::Lambda::Function", "AWS::DynamoDB::Table", "AWS::SQS::Queue", "AWS::IAM::Role"];
    for (const { Properties } of tagged.flatMap((type) => chosen.all(type)))
      expect(Properties["Tags"]).toEqual([
        { Key: "Cost Center", Value: "a/b" },
        { Key: "Owner", Value: "ops" },
      ]);
    const roles = chosen.all("AWS::IAM::Role");
    expect(roles.length).toBeGreaterThan(Object.keys(ROWS).length);
    for (const { id, Properties } of roles)
      expect.soft(JSON.stringify(Properties["PermissionsBoundary"]), id).toContain(":policy/Boundary");
  });

  test("a key of the operator's own takes the place of the deployment's under the same alias, and a former one opens alone", () => {
    const own = "arn:aws:kms:eu-central-1:123456789012:key/0d1e";
    const former = "arn:aws:kms:eu-central-1:123456789012:key/0d1d";
    const aliases = chosen.all("AWS::KMS::Alias");
    const statements = chosen.all("AWS::IAM::Role").flatMap((role) => statementsOf(role));
    const grants = statements.filter((one) => JSON.stringify(one["Resource"]).includes(former));

    expect(chosen.all("AWS::KMS::Key")).toEqual([]);
    expect(chosen.environmentOf("list-mappings")["KEY_ID"]).toBe(own);
    expect(aliases.map(({ id }) => id)).toEqual(dev.all("AWS::KMS::Alias").map(({ id }) => id)); // it moves in place
    expect(aliases[0]?.Properties).toMatchObject({ AliasName: "alias/bridge-dev", TargetKeyId: own });
    expect(new Set(grants.map((one) => one["Action"]))).toEqual(new Set(["kms:Decrypt"]));
  });

  test("every function runs the runtime it was tested on, writes Lambda's own lines where asked, and both addresses are outputs", () => {
    const of = (assembly: Assembly) =>
      assembly
        .all("AWS::Lambda::Function")
        .map(({ Properties: { Runtime, Architectures, LoggingConfig } }) =>
          [Runtime, Architectures, LoggingConfig?.["SystemLogLevel"]].join(" "),
        );

    expect([new Set(of(dev)), new Set(of(chosen))]).toEqual([
      new Set(["nodejs24.x arm64 WARN"]),
      new Set(["nodejs24.x arm64 INFO"]),
    ]);
    expect(Object.keys(dev.outputs)).toEqual(expect.arrayContaining(["BaseUrl", "MetricsUrl"]));
  });
});

interface Method {
  readonly path: string;
  readonly verb: string;
  /** The physical name of the function behind it. */
  readonly calls: string;
  readonly integration: Json;
}

function methods(): Method[] {
  return dev.all("AWS::ApiGateway::Method").map(({ Properties }) => ({
    path: pathOf(String(Properties["ResourceId"]?.["Ref"])),
    verb: String(Properties["HttpMethod"]),
    calls: /:function:([\w-]+)\//.exec(JSON.stringify(Properties["Integration"]?.["Uri"]))?.[1] ?? "",
    integration: Properties["Integration"] ?? {},
  }));
}

function resourcePaths(): string[] {
  return dev.all("AWS::ApiGateway::Resource").map(({ id }) => pathOf(id));
}

function pathOf(id: string): string {
  const resource = dev.all("AWS::ApiGateway::Resource").find((made) => made.id === id);
  if (!resource) return "/";
  return `${pathOf(String(resource.Properties["ParentId"]?.["Ref"]))}/${resource.Properties["PathPart"]}`.replace(
    "//",
    "/",
  );
}

function statementsOf(role: Resource | undefined): Json[] {
  const policies = Object.values(role?.Properties["Policies"] ?? {});
  return policies.flatMap((policy) => Object.values(policy["PolicyDocument"]?.["Statement"] ?? {}));
}

/** What a function is allowed to do an action on, by names like `RateLimitsTable`, sorted. */
function granted(name: string, action: string): string[] {
  return statementsOf(dev.roleOf(name))
    .filter(({ Action }) => [Action].flat().map(String).includes(action))
    .flatMap(({ Resource }) => namesIn([Resource].flat()))
    .sort();
}

/** The condition of a role that Scheduler may take for the schedules of a group (EventBridge Scheduler User Guide). */
function onlyFrom(group: string): unknown {
  const [partition, region, account] = ["Partition", "Region", "AccountId"].map((name) => ({ Ref: `AWS::${name}` }));
  const parts = ["arn:", partition, ":scheduler:", region, ":", account, `:schedule-group/${group}`];
  return { StringEquals: { "aws:SourceAccount": account, "aws:SourceArn": { "Fn::Join": ["", parts] } } };
}

/** The things that a property refers to, by the readable part of their logical ids. */
function namesIn(value: unknown): string[] {
  const text = JSON.stringify(value ?? []);
  return [...text.matchAll(/(?:PublishOutputFnGetAtt|"Fn::GetAtt":\[")(\w+?)[0-9A-F]{8}/g)].map(
    ([, name = ""]) => name,
  );
}

function arnsOf<Name extends string>(
  kind: string,
  names: Set<Name>,
  isTwice: (name: Name) => boolean = () => false,
): string[] {
  return [...names]
    .flatMap((name) => Array(isTwice(name) ? 2 : 1).fill(`${upperFirst(name)}${kind}`) as string[])
    .sort();
}

/** A value as CloudFormation would write it, with the longest account, region and name in the place of references. */
function rendered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rendered);
  if (value === null || typeof value !== "object") return value;
  const [name, given] = Object.entries(value)[0] ?? [];
  if (name === "Fn::Join") return (rendered(given[1]) as string[]).join(String(given[0]));
  if (name === "Ref") return "x".repeat("ap-southeast-1".length);
  if (name?.startsWith("Fn::"))
    return "x".repeat("arn:aws:dynamodb:ap-southeast-1:123456789012:table/bridge-prod-rate-limits".length);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rendered(item)]));
}

interface Envelope {
  readonly error: { readonly code: string };
}

function typesOfThePlatform(): string[] {
  const members: unknown[] = Object.values(ResponseType);
  return members.flatMap((member) => (member instanceof ResponseType ? [member.responseType] : [])).sort();
}

const upperFirst = (name: string): string => name.replace(/^\w/, (letter) => letter.toUpperCase());
