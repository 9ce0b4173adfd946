import { expect, test } from "vitest";
import { createResolver } from "../../../../../lib/local/cloud/lambda/template/resolve.ts";

const STORE = {
  name: "Store",
  resources: {
    Mappings: { Type: "AWS::DynamoDB::Table", Properties: { TableName: "bridge-mappings" } },
    Cycles: { Type: "AWS::SQS::Queue", Properties: { QueueName: { "Fn::Join": ["-", ["bridge", "cycles"]] } } },
    Topic: { Type: "AWS::SNS::Topic" },
  },
  outputs: { QueueArn: { Value: { "Fn::GetAtt": ["Cycles", "Arn"] }, Export: { Name: "Store:Queue" } } },
};
const services = {
  region: "eu-local-1",
  accountId: "42",
  queueUrl: (name: string) => `http://sqs/${name}`,
  keyArn: String,
};
const resolve = createResolver({ stacks: [STORE] }, services);

test.each<[unknown, unknown]>([
  [{ Ref: "Mappings" }, "bridge-mappings"],
  [{ Ref: "Cycles" }, "http://sqs/bridge-cycles"],
  [{ "Fn::ImportValue": "Store:Queue" }, "arn:aws:sqs:eu-local-1:42:bridge-cycles"],
  [{ "Fn::Sub": holes("{Mappings}/{AWS::Region}/{!Literal}") }, holes("bridge-mappings/eu-local-1/{Literal}")],
  [{ "Fn::Select": ["1", { "Fn::Split": ["-", "a-b-c"] }] }, "b"],
  [{ A: 1, B: { Ref: "AWS::NoValue" } }, { A: 1 }],
])("%j is resolved as CloudFormation does", (value, resolved) => {
  expect(resolve(STORE, value)).toEqual(resolved);
});

test.each<[unknown, string]>([
  [{ "Fn::Cidr": ["10.0.0.0/8"] }, "Fn::Cidr"],
  [{ "Fn::GetAtt": ["Topic", "TopicName"] }, "TopicName of Topic"],
  [{ "Fn::ImportValue": "nowhere" }, "no stack exports nowhere"],
])("%j, which the host does not know, is refused by name, not guessed", (value, named) => {
  expect(() => resolve(STORE, value)).toThrow(named);
});

/** Text with the holes of `Fn::Sub`, which would look like a forgotten template string. */
function holes(text: string): string {
  return text.replaceAll("{", ["$", "{"].join(""));
}
