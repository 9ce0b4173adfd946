import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { setting } from "../../../functions/services/composition.ts";
import { openDatabase } from "../../../lib/adapters/dynamodb/client/client.ts";
import { tableVariable } from "../../../lib/model/resources.ts";
import { type BridgeCloud, startBridgeCloud } from "../../support/worlds/bridge-cloud.ts";

let cloud: BridgeCloud;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());

/** A database and how many requests went to it. */
function counted() {
  const { client, table, readPage } = openDatabase((name) => setting(tableVariable(name)));
  const sent = { requests: 0 };
  const { requestHandler } = client.config;
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = (...asked) => {
    sent.requests += 1;
    return handle(...asked);
  };
  const TableName = table("rateLimits");
  const read = async (pk: string) => (await client.send(new GetCommand({ TableName, Key: { pk } }))).Item?.["value"];
  const write = (pk: string, value: number) => client.send(new PutCommand({ TableName, Item: { pk, value } }));
  const page = (pk: string) => {
    const asked = { KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: { ":pk": { S: pk } } };
    return readPage({ TableName, ...asked });
  };
  return { sent, read, write, page };
}

test("reads of the same thing that meet are sent once for all who wait, other reads and writes each for itself", async () => {
  const { sent, read, write } = counted();
  await Promise.all([write("one", 1), write("two", 2), write("one", 1)]);
  expect(sent.requests).toBe(3);

  const values = await Promise.all([read("one"), read("one"), read("two"), read("one"), read("one")]);

  expect(values).toEqual([1, 1, 2, 1, 1]);
  expect(sent.requests).toBe(3 + 3);
});

test("whoever has written reads what he wrote, whatever others are reading", async () => {
  const { read, write } = counted();
  await write("mine", 0);

  for (let value = 1; value <= 20; value += 1) {
    const others = [read("mine"), read("mine")];
    await write("mine", value);
    expect(await read("mine")).toBe(value);
    await Promise.all(others);
  }
});

test("pages that ask the same share an answer before they stand in line, others are read three at a time", async () => {
  const { sent, write, page } = counted();
  await write("page", 1);
  sent.requests = 0;

  const same = await Promise.all(Array.from({ length: 12 }, () => page("page")));

  expect(same.map(({ Count }) => Count)).toEqual(Array(12).fill(1));
  expect(sent.requests).toBe(2);
  const others = await Promise.all(Array.from({ length: 12 }, (_, at) => page(`page ${at}`)));
  expect(others.map(({ Count }) => Count)).toEqual(Array(12).fill(0));
  expect(sent.requests).toBe(2 + 12);
});
