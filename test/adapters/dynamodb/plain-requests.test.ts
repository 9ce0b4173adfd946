import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openDatabase } from "../../../lib/adapters/dynamodb/client/client.ts";

/** A request as it came. */
interface Came {
  readonly target: string;
  readonly body: string;
  /** Whether the SDK's retries had to do with it, which tell themselves in a header. */
  readonly bySdk: boolean;
  readonly isSigned: boolean;
}

const ANSWER = { Count: 1, Items: [{ pk: { S: "Ärger 🚣" }, n: { N: "7" } }] };
const ASKED = { TableName: "t", KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: { ":pk": { S: "é" } } };

let server: Server;
let came: Came[];
let answer: (response: ServerResponse) => void;
beforeEach(async () => {
  came = [];
  answer = (response) => response.end(JSON.stringify(ANSWER));
  server = createServer(async (request, response) => {
    const body = await text(request);
    const { "x-amz-target": target, "amz-sdk-request": attempt } = request.headers;
    came.push({ target: String(target), body, bySdk: attempt !== undefined, isSigned: isSigned(request, body) });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("AWS_ENDPOINT_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv("AWS_REGION", "eu-central-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "a");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", SECRET);
  vi.stubEnv("AWS_SESSION_TOKEN", "of a session");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const SECRET = "a secret";

/** Recomputes a signature, as the General Reference of AWS says for Signature Version 4. */
function isSigned({ headers }: IncomingMessage, body: string): boolean {
  const hash = (of: string) => createHash("sha256").update(of).digest("hex");
  const hmac = (key: string | Buffer, of: string) => createHmac("sha256", key).update(of).digest();
  const [, day = "", region = "", service = "", names = "", signature = ""] =
    /Credential=a\/(\d+)\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)/.exec(
      headers.authorization ?? "",
    ) ?? [];
  const signed = names.split(";").map((name) => `${name}:${headers[name]}\n`);
  const request = ["POST", "/", "", signed.join(""), names, hash(body)].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const told = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hash(request)].join("\n");
  const key = hmac(hmac(hmac(hmac(`AWS4${SECRET}`, day), region), service), "aws4_request");
  const isWhole = ["host", "x-amz-target", "x-amz-security-token"].every((name) => names.split(";").includes(name));
  return isWhole && `${region}/${service}` === "eu-central-1/dynamodb" && hmac(key, told).toString("hex") === signature;
}

/** A database that has learned where to ask. */
async function opened() {
  const database = openDatabase(() => "t");
  await database.readPage(ASKED);
  return database;
}

test("the first page is asked for by the SDK, others without it: the same request, signed, and the same answer", async () => {
  const { readPage, readItem } = await opened();

  expect(await readPage(ASKED)).toEqual(ANSWER);
  answer = (response) => response.end(JSON.stringify({ Item: ANSWER.Items[0] }));
  expect(await readItem({ TableName: "t", Key: { pk: { S: "1" } } })).toEqual({ Item: ANSWER.Items[0] });

  expect(came.map(({ target, bySdk, isSigned }) => [target, bySdk, isSigned])).toEqual([
    ["DynamoDB_20120810.Query", true, true],
    ["DynamoDB_20120810.Query", false, true],
    ["DynamoDB_20120810.GetItem", false, true],
  ]);
  expect(JSON.parse(came[1]?.body ?? "")).toEqual(JSON.parse(came[0]?.body ?? ""));
});

const refusal = (name: string) => JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "no" });

test.each<[string, (response: ServerResponse) => void]>([
  ["is throttled", (response) => response.writeHead(400).end(refusal("ProvisionedThroughputExceededException"))],
  ["meets trouble of the service", (response) => response.writeHead(500).end("<html>")],
  ["breaks off", (response) => response.writeHead(200, { "content-length": 99 }).write("{", () => response.destroy())],
  ["is no JSON", (response) => response.end('{"Count":')],
])("a page that %s is asked for again by the SDK", async (_, trouble) => {
  const { readPage } = await opened();
  const well = answer;
  answer = (response) => {
    answer = well;
    trouble(response);
  };

  expect(await readPage(ASKED)).toMatchObject(ANSWER);

  expect(came.map(({ bySdk }) => bySdk)).toEqual([true, false, true]);
});

test("what is refused for good fails with the SDK's error", async () => {
  const { readPage } = await opened();
  answer = (response) => response.writeHead(400).end(refusal("ResourceNotFoundException"));

  await expect(readPage(ASKED)).rejects.toMatchObject({ name: "ResourceNotFoundException", message: "no" });

  expect(came.map(({ bySdk }) => bySdk)).toEqual([true, false, true]);
});
