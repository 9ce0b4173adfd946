import { expect, test } from "vitest";
import type { Stack } from "../../../../../lib/local/cloud/lambda/template/assembly.ts";
import { createResolver } from "../../../../../lib/local/cloud/lambda/template/resolve.ts";

const STORE: Stack = {
  name: "Store",
  resources: {
    Mappings: { Type: "AWS::DynamoDB::Table", Properties: { TableName: "bridge-mappings" } },
    Cycles: { Type: "AWS::SQS::Queue", Properties: { QueueName: { "Fn::Join": ["-", ["bridge", "cycles"]] } } },
    Key: { Type: "AWS::KMS::Key" },
    KeyAlias: {
      Type: "AWS::KMS::Alias",
      Properties: { AliasName: "alias/bridge", TargetKeyId: { "Fn::GetAtt": ["Key", "Arn"] } },
    },
    Topic: { Type: "AWS::SNS::Topic" },
  },
  outputs: {
    TableName: { Value: { Ref: "Mappings" }, Export: { Name: "Store:Table" } },
    QueueArn: { Value: { "Fn::GetAtt": ["Cycles", "Arn"] } },
  },
};
const APP: Stack = { name: "App", resources: {}, outputs: {} };

const resolve = createResolver(
  { stacks: [STORE, APP] },
  {
    region: "eu-local-1",
    accountId: "42",
    queueUrl: (name) => `http://sqs/42/${name}`,
    keyArn: (alias) => `arn:aws:kms:eu-local-1:42:key/of-${alias.slice("alias/".length)}`,
  },
);

test.each<[string, Stack, unknown, unknown]>([
  ["a table by its name", STORE, { Ref: "Mappings" }, "bridge-mappings"],
  ["a queue by its URL", STORE, { Ref: "Cycles" }, "http://sqs/42/bridge-cycles"],
  ["a queue's ARN", STORE, { "Fn::GetAtt": ["Cycles", "Arn"] }, "arn:aws:sqs:eu-local-1:42:bridge-cycles"],
  ["the key behind its alias", STORE, { "Fn::GetAtt": ["Key", "Arn"] }, "arn:aws:kms:eu-local-1:42:key/of-bridge"],
  ["what another stack exports", APP, { "Fn::ImportValue": "Store:Table" }, "bridge-mappings"],
  [
    "another stack's output",
    APP,
    { "Fn::GetStackOutput": { StackName: "Store", OutputName: "QueueArn", Region: { Ref: "AWS::Region" } } },
    "arn:aws:sqs:eu-local-1:42:bridge-cycles",
  ],
  [
    "text with things in it",
    STORE,
    { "Fn::Sub": holes("{Mappings}/{AWS::Region}/{!Literal}") },
    holes("bridge-mappings/eu-local-1/{Literal}"),
  ],
  ["a part of a list", STORE, { "Fn::Select": ["1", { "Fn::Split": ["-", "a-b-c"] }] }, "b"],
  ["what must not be there", STORE, { A: 1, B: { Ref: "AWS::NoValue" } }, { A: 1 }],
])("%s is resolved as CloudFormation does", (_, stack, value, resolved) => {
  expect(resolve(stack, value)).toEqual(resolved);
});

test.each<[string, unknown, string]>([
  ["a function of CloudFormation", { "Fn::Cidr": ["10.0.0.0/8"] }, "Fn::Cidr"],
  ["an attribute", { "Fn::GetAtt": ["Topic", "TopicName"] }, "TopicName of Topic"],
  ["an export", { "Fn::ImportValue": "nowhere" }, "no stack exports nowhere"],
])("%s that the host does not know is refused by name, not guessed", (_, value, named) => {
  expect(() => resolve(STORE, value)).toThrow(named);
});

/** Text with the holes of `Fn::Sub`, which would look like a forgotten template string. */
function holes(text: string): string {
  return text.replaceAll("{", ["$", "{"].join(""));
}
