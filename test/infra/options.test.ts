import { beforeAll, describe, expect, test } from "vitest";
import { ROUTES } from "../../lib/http/routes.ts";
import { type Access, WORKERS } from "../../lib/model/resources.ts";
import {
  type Assembly,
  CERTIFICATE,
  type Json,
  MANY_OPTIONS,
  NETWORK,
  PROD,
  synthesizeFixtures,
  TOPIC,
} from "./assembly.ts";

const WEB_ACL = "arn:aws:wafv2:eu-central-1:123456789012:regional/webacl/ours/0a1b";
const OF_THE_CDK = {
  "@aws-cdk/core:bootstrapQualifier": "hnb659fds",
  "@aws-cdk-containers/ecs-service-extensions:enableDefaultLogDriver": true,
  "aws:cdk:bundling-stacks": ["**"],
  "aws-cdk:enableDiffNoFail": true,
  "cli-telemetry": false,
  "acknowledged-issue-numbers": [34892],
  "availability-zones:account=123456789012:region=eu-central-1": ["eu-central-1a"],
  "hosted-zone:account=123456789012:domainName=example.com:region=eu-central-1": { Id: "/hostedzone/Z1" },
  "ssm:account=123456789012:parameterName=/x:region=eu-central-1": "x",
};
const ROWS: Record<string, Access> = { ...ROUTES, ...WORKERS };

/** Paths with limits of their own, or none, and paths that only look like them. */
const SPARED = ["/api/metrics", "/api/v1/t/ws_1/nudge", "/ring/ws_1/rg_2"];
const COUNTED = [
  ...["/api/v1/t/ws_1/mappings", "/api/v1/t/x/api/metrics", "//api/metrics", "/prod/api/metrics", "/x/api/metrics"],
  ...["/dev/dev/api/metrics", "/devapi/metrics", "/api/metrics/", "/api/metrics/x", "/api/metricsx", "/API/metrics"],
  ...["/api/v1/t/x/../../metrics", "/api%2Fmetrics", "/api/metrics%0A", "/api/metrics\n/x"],
  ...["/nudge", "/x/nudge", "/api/v1/t/nudge", "/api/v1/t/ws_1/mappings/nudge", "/api/v1/t/ws_1/x/nudge"],
  ...["/api/v1/t/ws_1/nudge/", "/api/v1/t/ws_1/nudge/x", "/api/v2/t/ws_1/nudge", "//api/v1/t/ws_1/nudge"],
  ...["/ring", "/ring/", "/ring/ws_1", "/ring/ws_1/", "/ring/ws_1/rg_2/x", "/x/ring/ws_1/rg_2", "/api/v1/ring/ws_1/x"],
  ...["/dev/api/v1/t/ring/ws_1/rg_2", "/ring//x"],
];

let plain: Assembly;
/** Two that have options of every kind at once. */
let own: Assembly;
let shared: Assembly;
beforeAll(async () => {
  plain = await synthesizeFixtures();
  own = await synthesizeFixtures(MANY_OPTIONS);
  shared = await synthesizeFixtures({
    domainName: "api.example.com",
    certificateArn: CERTIFICATE,
    basePath: "bridge",
    webAclArn: WEB_ACL,
    provisionedConcurrency: { "list-mappings": 2, "run-cycle": 3 },
    ...OF_THE_CDK,
  });
});

test("the first deploy passes in a new account, whose quota of 10 leaves nothing to set aside", () => {
  const text = JSON.stringify(plain.all("AWS::Lambda::Function"));

  expect(text).not.toContain("ReservedConcurrentExecutions");
  expect(plain.all("AWS::Lambda::Alias")).toEqual([]);
});

describe("a domain of one's own", () => {
  test("serves the API without the stage in its path, and functions get the address", () => {
    expect(own.all("AWS::ApiGateway::DomainName")[0]?.Properties).toMatchObject({
      DomainName: "bridge.example.com",
      RegionalCertificateArn: CERTIFICATE,
      EndpointConfiguration: { Types: ["REGIONAL"] },
      SecurityPolicy: "TLS_1_2",
    });
    const isClosed = ({ all }: Assembly) => all("AWS::ApiGateway::RestApi")[0]?.Properties["DisableExecuteApiEndpoint"];
    expect([isClosed(plain), isClosed(own)]).toEqual([false, true]); // the API has no second address
    expect(own.all("AWS::ApiGateway::BasePathMapping")[0]?.Properties).not.toHaveProperty("BasePath");
    expect(own.outputs["BaseUrl"]).toMatchObject({ Value: "https://bridge.example.com" });
    expect(own.outputs["DomainTarget"]).toBeDefined();
    expect(own.environmentOf("create-webhook")).toMatchObject({ BASE_URL: "https://bridge.example.com" });
    expect(plain.all("AWS::ApiGateway::DomainName")).toEqual([]);
    for (const name of Object.keys(ROWS)) expect(plain.environmentOf(name)).not.toHaveProperty("BASE_URL");
  });

  test("can be shared with other APIs by a path", () => {
    expect(shared.all("AWS::ApiGateway::BasePathMapping")[0]?.Properties).toMatchObject({ BasePath: "bridge" });
    expect(shared.outputs["BaseUrl"]).toMatchObject({ Value: "https://api.example.com/bridge" });
  });
});

describe("a private network", () => {
  test("holds exactly the functions that reach customers' databases and orgs, and opens the ranges named to them alone", () => {
    for (const [name, { postgres = false, org = false }] of Object.entries(ROWS)) {
      const isInside = postgres || org;
      const { VpcConfig } = own.functionOf(name).Properties;
      const { OPENED_RANGES, HTTPS_PROXY, NODE_USE_ENV_PROXY } = own.environmentOf(name);
      expect
        .soft([OPENED_RANGES, HTTPS_PROXY, NODE_USE_ENV_PROXY], name)
        .toEqual(isInside ? ["10.0.0.0/16", "http://proxy.internal:3128", "1"] : Array(3).fill(undefined));
      const inside = { SubnetIds: ["subnet-0a1b2c3d", "subnet-4e5f6a7b"], SecurityGroupIds: ["sg-0a1b2c3d"] };
      expect.soft(VpcConfig, name).toEqual(isInside ? inside : undefined);
      expect.soft(JSON.stringify(own.roleOf(name)).includes("ec2:CreateNetworkInterface"), name).toBe(isInside);
    }
    const unasked = JSON.stringify([plain.all("AWS::Lambda::Function"), plain.all("AWS::IAM::Role")]);
    expect(unasked).not.toMatch(/VpcConfig|ec2:|OPENED_RANGES/);
  });
});

describe("a web application firewall", () => {
  test("of our own refuses floods in the envelope, but no client that keeps the limit, and no scraper", () => {
    const [acl] = own.all("AWS::WAFv2::WebACL");
    const rule = acl?.Properties["Rules"]?.["0"];
    const rate = rule?.["Statement"]?.["RateBasedStatement"];

    expect(rate).toMatchObject({ AggregateKeyType: "IP", EvaluationWindowSec: 60, Limit: 1000 }); // of 500 a minute
    const spared = sparedBy(own);
    const isSpared = (path: string) => spared.some((rule) => rule.test(path));
    expect(SPARED.flatMap((path) => [path, `/dev${path}`]).filter((path) => !isSpared(path))).toEqual([]);
    expect(COUNTED.filter(isSpared)).toEqual([]);
    expect(rule?.["Action"]?.["Block"]?.["CustomResponse"]).toMatchObject({ ResponseCode: 429 });
    expect(JSON.parse(String(acl?.Properties["CustomResponseBodies"]?.["refused"]?.["Content"]))).toMatchObject({
      success: false,
      error: { code: "RATE_LIMITED" },
    });
    const nudges = acl?.Properties["Rules"]?.["1"]?.["Statement"]?.["RateBasedStatement"];
    expect(nudges).toMatchObject({ AggregateKeyType: "IP", Limit: 12_000 });
    expect(pathOf(nudges?.["ScopeDownStatement"])).toEqual(spared[1]);
    const rings = acl?.Properties["Rules"]?.["2"]?.["Statement"]?.["RateBasedStatement"];
    expect(rings).toMatchObject({ AggregateKeyType: "IP", Limit: 24_000 });
    expect(pathOf(rings?.["ScopeDownStatement"])).toEqual(spared[2]);
    expect(own.all("AWS::WAFv2::WebACLAssociation")).toHaveLength(1);
  });

  test("of the operator's is before the API, and no other", () => {
    for (const one of [plain, shared]) expect(one.all("AWS::WAFv2::WebACL")).toEqual([]);
    expect(plain.all("AWS::WAFv2::WebACLAssociation")).toEqual([]);
    expect(shared.all("AWS::WAFv2::WebACLAssociation")[0]?.Properties).toMatchObject({ WebACLArn: WEB_ACL });
  });
});

describe("concurrency", () => {
  test("is set aside for the functions named, and no queue hands out more than that", () => {
    const sourceOf = (name: string) =>
      own
        .all("AWS::Lambda::EventSourceMapping")
        .find(({ Properties }) => JSON.stringify(Properties["FunctionName"]).includes(own.functionOf(name).id));
    const limits = own
      .all("AWS::Lambda::Function")
      .filter(({ Properties }) => Properties["ReservedConcurrentExecutions"] !== undefined)
      .map(({ Properties }) => [
        String(Properties["FunctionName"]),
        Number(Properties["ReservedConcurrentExecutions"]),
      ]);

    expect(Object.fromEntries(limits)).toEqual({ "bridge-dev-list-mappings": 5, "bridge-dev-run-cycle": 50 });
    expect(sourceOf("run-cycle")?.Properties["ScalingConfig"]).toEqual({ MaximumConcurrency: 50 });
    expect(sourceOf("load-mapping")?.Properties["ScalingConfig"]).toEqual({
      MaximumConcurrency: WORKERS["load-mapping"].maxConcurrency,
    });
  });

  test("can be kept warm, and everything that calls such a function calls what is warm", () => {
    const aliases = shared
      .all("AWS::Lambda::Alias")
      .map(({ Properties }) => Properties["ProvisionedConcurrencyConfig"]);
    const methods = JSON.stringify(shared.all("AWS::ApiGateway::Method"));
    const callers = shared.all("AWS::IAM::Role").filter(({ id }) => id.startsWith("CallerRole"));

    expect(aliases).toEqual([{ ProvisionedConcurrentExecutions: 3 }, { ProvisionedConcurrentExecutions: 2 }]);
    expect(methods).toContain("bridge-dev-list-mappings:live/invocations");
    expect(methods.split(":live/invocations")).toHaveLength(2);
    expect(JSON.stringify(callers)).toContain("bridge-dev-list-mappings:live");
    expect(JSON.stringify(shared.all("AWS::Lambda::EventSourceMapping")).split(":live")).toHaveLength(2);
  });
});

test.each([
  [{ domainName: "bridge.example.com" }, "domainName needs certificateArn"],
  [{ certificateArn: CERTIFICATE }, "certificateArn needs domainName"],
  [{ basePath: "bridge" }, "basePath needs domainName"],
  [{ domainName: "https://bridge.example.com", certificateArn: CERTIFICATE }, "host's full name"],
  [{ domainName: "bridge.example.com", certificateArn: WEB_ACL }, "certificate of ACM"],
  [{ domainName: "bridge.example.com", certificateArn: CERTIFICATE, basePath: "/a/b" }, "without slashes"],
  [{ subnetIds: NETWORK.subnetIds }, "subnetIds needs securityGroupIds"],
  [{ securityGroupIds: NETWORK.securityGroupIds }, "securityGroupIds needs subnetIds"],
  [{ openedRanges: "10.0.0.0/16" }, "openedRanges needs subnetIds"],
  [NETWORK, "subnetIds needs openedRanges"],
  [{ httpsProxy: "http://proxy.internal:3128" }, "httpsProxy needs subnetIds"],
  [
    { ...NETWORK, openedRanges: "10.0.0.0/16", httpsProxy: "proxy.internal" },
    "an address like http://proxy.internal:3128",
  ],
  [
    { ...NETWORK, openedRanges: "10.0.0.0/16", httpsProxy: "http://proxy/path" },
    "an address like http://proxy.internal:3128",
  ],
  [{ ...NETWORK, openedRanges: "0.0.0.0/0" }, "it is not private, and public addresses are reached without it"],
  [{ ...NETWORK, openedRanges: "::/0" }, "::/0 can't be opened"],
  [{ ...NETWORK, openedRanges: "10.0.0.0/16,127.0.0.0/8" }, "127.0.0.0/8 can't be opened: it is a loopback address"],
  [{ ...NETWORK, openedRanges: "169.254.0.0/16" }, "it is a link-local or metadata address. Only private ranges can"],
  [{ ...NETWORK, openedRanges: "10.0.0.0/16,300.0.0.0/16" }, '"300.0.0.0/16"'],
  [{ ...NETWORK, subnetIds: "subnet-0a1b2c3d,vpc-0a1b2c3d", openedRanges: "10.0.0.0/16" }, '"vpc-0a1b2c3d"'],
  [
    { stage: "prod" },
    "The alarms of prod notify no person: say -c alarmTopicArn=, the SNS topic that they notify, or -c alarms=none",
  ],
  [{ stage: "prod", alarms: "off" }, "alarms must be none"],
  [{ alarms: "none", alarmTopicArn: TOPIC }, "alarms=none and alarmTopicArn exclude each other"],
  [{ shield: "true", webAclArn: WEB_ACL }, "exclude each other"],
  [{ tracing: "yes" }, "true or false"],
  [{ requestsPerSecond: "0" }, "requestsPerSecond must be a whole"],
  [{ tags: "Owner" }, "tags must be tags, each Name=value"],
  [{ keyArn: "alias/mine" }, "keyArn must be the ARN of a KMS key"],
  [{ logRetentionDays: "8" }, "one of CloudWatch's"],
  [{ auditDays: "ten" }, "auditDays must be a whole number of days"],
  [{ auditDays: "" }, "auditDays must be a whole number of days"],
  [{ stage: "blue-green" }, "stage must be at most 20 small letters and digits"],
  [{ stage: "2nd" }, "stage must be at most 20 small letters and digits"],
  [{ stage: "abcdefghijklmnopqrstu" }, "stage must be at most 20 small letters and digits"],
  [{ ...PROD, rateLimitPerMinute: "1" }, "contract's 300"],
  [{ ...PROD, stage: "staging", rateLimitPerMinute: "1" }, "contract's 300"],
  [{ alarmTopicArn: "operators" }, "must be the ARN of an SNS topic"],
  [{ shield: "on" }, "true or false"],
  [{ webAclArn: "ours" }, "web ACL of WAF"],
  [{ reservedConcurrency: "run-cycles=5" }, "run-cycles, which is no function"],
  [{ reservedConcurrency: "run-cycle=some" }, "whole number above 0"],
  [{ reservedConcurrency: "run-cycle=1" }, "at least 2"],
  [{ reservedConcurrency: "run-cycle=5", provisionedConcurrency: "run-cycle=6" }, "only 5 are reserved"],
])("%j is refused before anything is deployed: %s", async (context, reason) => {
  await expect(synthesizeFixtures(context)).rejects.toThrow(reason);
});

test.each([
  [{ stge: "prod" }, "stage"],
  [{ Stage: "prod" }, "stage"],
  [{ "stage:prod": true }, "stage"],
  [{ log_retention_days: "90" }, "logRetentionDays"],
  [{ reservedConcurency: "run-cycle=5" }, "reservedConcurrency"],
])("%j is no option, and nothing is deployed: the nearest is %s", async (context, nearest) => {
  const [name = ""] = Object.keys(context);
  await expect(synthesizeFixtures(context)).rejects.toThrow(`no option "${name}": the nearest is -c ${nearest}=`);
  await expect(synthesizeFixtures(context)).rejects.toThrow(/cdk\.json, cdk\.context\.json or ~\/\.cdk\.json/);
});

test("what the CDK keeps for itself in the context passes: flags, its command line's own names, answers of lookups", () => {
  expect(shared.all("AWS::Lambda::Function")).toHaveLength(plain.all("AWS::Lambda::Function").length);
});

/** The paths that the rule against floods does not count. */
function sparedBy(assembly: Assembly): readonly RegExp[] {
  const [acl] = assembly.all("AWS::WAFv2::WebACL");
  const rate = acl?.Properties["Rules"]?.["0"]?.["Statement"]?.["RateBasedStatement"];
  const spared = rate?.["ScopeDownStatement"]?.["NotStatement"]?.["Statement"]?.["OrStatement"]?.["Statements"];
  return (spared as unknown as readonly Json[]).map(pathOf);
}

const pathOf = (statement: Json | undefined): RegExp =>
  new RegExp(String(statement?.["RegexMatchStatement"]?.["RegexString"]));
