import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { effectOf, resultsIn, writeIn } from "./http-effects.ts";
import { effectsIn, pointOf } from "./sql-effects.ts";

test.each([
  ["SELECT * FROM salesforce.contact FOR NO KEY UPDATE", []],
  ["INSERT INTO salesforce.contact (lastname) VALUES ('DELETE FROM x')", ["INSERT rows"]],
  [
    "WITH a AS (DELETE FROM salesforce._bridge_outbox RETURNING id) INSERT INTO salesforce._bridge_meta SELECT 1",
    ["DELETE _bridge_outbox", "INSERT _bridge_meta"],
  ],
])("a statement's durable effects are read: %s", (sql, effects) => {
  expect(effectsIn(sql)).toEqual(effects);
});

test("a commit is named by the engine's word for what it makes durable", () => {
  expect(pointOf(["UPDATE _trigger_log", "INSERT _bridge_pushed", "UPDATE rows"], true)).toBe("commit of results");
});

const request = (method: string, url: string, target?: string) =>
  ({ method, url, headers: target === undefined ? {} : { "x-amz-target": target } }) as unknown as IncomingMessage;
const SOAP = request("POST", "/services/Soap/u/66.0");
const soap = (operation: string, inner = "") =>
  Buffer.from(`<s:Envelope><s:Body xmlns="x"><${operation}>${inner}</${operation}></s:Body></s:Envelope>`);
const UPDATE_ITEM = request("POST", "/", "DynamoDB_20120810.UpdateItem");

test.each([
  [SOAP, soap("query"), null],
  [SOAP, soap("upsert"), "salesforce: upsert"],
  [request("PATCH", "/services/data/v66.0/jobs/ingest/7"), Buffer.from("{}"), "salesforce: start or abort a job"],
  [UPDATE_ITEM, Buffer.from('{"TableName":"bridge-dev-rate-limits"}'), "dynamodb: UpdateItem rate-limits"],
])("a request's durable effect is read: %#", (asked, body, effect) => {
  expect(effectOf(asked, body)).toBe(effect);
});

test("a save is read record by record, with what Salesforce said of each", () => {
  const body = soap("update", "<sObjects><type>A__c</type><Id>a01</Id><Here__c>h1</Here__c></sObjects>");
  const answer = Buffer.from("<result><id>a01</id><success>true</success></result>");

  const records = [{ type: "A__c", Id: "a01", Here__c: "h1" }];
  expect(writeIn(SOAP, body, new Map(), 1)).toMatchObject({ operation: "update", object: "A__c", records });
  expect(resultsIn(answer)).toEqual([{ id: "a01", success: true, code: "" }]);
});
