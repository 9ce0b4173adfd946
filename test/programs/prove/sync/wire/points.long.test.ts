import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { effectOf, resultsIn, writeIn } from "./http-effects.ts";
import { effectsIn, pointOf } from "./sql-effects.ts";

describe("what a statement makes durable", () => {
  test.each([
    ["SELECT * FROM salesforce.contact FOR NO KEY UPDATE", []],
    ["INSERT INTO salesforce.contact (lastname) VALUES ('DELETE FROM x')", ["INSERT rows"]],
    ['UPDATE "salesforce"."_trigger_log" l SET state = $1', ["UPDATE _trigger_log"]],
    [
      "WITH a AS (DELETE FROM salesforce._bridge_outbox RETURNING id) INSERT INTO salesforce._bridge_meta SELECT 1",
      ["DELETE _bridge_outbox", "INSERT _bridge_meta"],
    ],
    [
      "INSERT INTO salesforce._bridge_pushed AS p VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1",
      ["INSERT _bridge_pushed"],
    ],
  ])("%s", (sql, effects) => {
    expect(effectsIn(sql)).toEqual(effects);
  });

  test("is named by the engine's word for it, or on its own where there is none", () => {
    const results = ["UPDATE _trigger_log", "INSERT _bridge_pushed", "UPDATE rows"];

    expect(pointOf(results, true)).toBe("commit of results");
    expect(pointOf(["INSERT rows"], false)).toBe("INSERT rows");
  });
});

describe("what a request makes durable", () => {
  const request = (method: string, url: string, target?: string) =>
    ({ method, url, headers: target === undefined ? {} : { "x-amz-target": target } }) as unknown as IncomingMessage;
  const soap = (operation: string, inner: string) =>
    Buffer.from(`<s:Envelope><s:Body xmlns="x"><${operation}>${inner}</${operation}></s:Body></s:Envelope>`);

  test.each([
    [request("GET", "/services/data/v66.0/query?q=SELECT"), Buffer.from(""), null],
    [request("POST", "/services/Soap/u/66.0"), soap("query", ""), null],
    [request("POST", "/services/Soap/u/66.0"), soap("upsert", ""), "salesforce: upsert"],
    [request("PATCH", "/services/data/v66.0/jobs/ingest/7"), Buffer.from("{}"), "salesforce: start or abort a job"],
    [request("POST", "/", "DynamoDB_20120810.GetItem"), Buffer.from('{"TableName":"bridge-dev-engine"}'), null],
    [
      request("POST", "/", "DynamoDB_20120810.UpdateItem"),
      Buffer.from('{"TableName":"bridge-dev-rate-limits"}'),
      "dynamodb: UpdateItem rate-limits",
    ],
    [
      request("POST", "/", "AmazonSQS.SendMessageBatch"),
      Buffer.from('{"QueueUrl":"http://127.0.0.1:1/0/bridge-dev-fan-out"}'),
      "sqs: SendMessageBatch fan-out",
    ],
  ])("%#", (asked, body, effect) => {
    expect(effectOf(asked, body)).toBe(effect);
  });

  test("a save is read record by record, with what Salesforce said of each", () => {
    const body = soap("update", "<sObjects><type>A__c</type><Id>a01</Id><Here__c>h1</Here__c></sObjects>");
    const answer = Buffer.from("<result><id>a01</id><success>true</success></result>");

    expect(writeIn(request("POST", "/services/Soap/u/66.0"), body, new Map(), 1)).toMatchObject({
      operation: "update",
      object: "A__c",
      records: [{ type: "A__c", Id: "a01", Here__c: "h1" }],
    });
    expect(resultsIn(answer)).toEqual([{ id: "a01", success: true, code: "" }]);
  });
});
