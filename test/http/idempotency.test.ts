import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { handler as createToken } from "../../functions/api/create-token.ts";
import { handler as listTokens } from "../../functions/api/list-tokens.ts";
import { call } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

let cloud: BridgeCloud;
let workspace: TestWorkspace;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());
beforeEach(async () => {
  workspace = await createTestWorkspace();
});

const BODY = { name: "ci", owner: "ada@example.com", scopes: ["read"] };

const make = (key: string, body: object = BODY, token = workspace.token) =>
  call(createToken, "create-token", {
    path: { workspace_id: workspace.id },
    token,
    body,
    headers: { "Idempotency-Key": key },
  });

const count = async () => {
  const listed = await call(listTokens, "list-tokens", {
    path: { workspace_id: workspace.id },
    token: workspace.token,
  });
  return dataOf<readonly unknown[]>(listed).length - 1;
};

test("a request that is sent again with its key happens once and answers the same", async () => {
  const first = await make("a1");
  const again = await make("a1");

  expect(again.text).toBe(first.text);
  expect(again.headers["Idempotent-Replayed"]).toBe("true");
  expect(again.headers["X-Request-Id"]).not.toBe(first.headers["X-Request-Id"]);
  expect(await count()).toBe(1);
});

test("of ten at once with one key one happens; the others get its answer or are asked to wait", async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => make("b1")));

  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
  expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
  expect(await count()).toBe(1);
});

test("the same key with another body is refused with 422", async () => {
  await make("c1");

  const refused = await make("c1", { ...BODY, name: "other" });

  expect(refused.status).toBe(422);
  expect(refused.json).toMatchObject({ error: { code: "IDEMPOTENCY_MISMATCH" } });
});

test("a refused request may be corrected under the same key", async () => {
  expect((await make("d1", { ...BODY, owner: "nobody" })).status).toBe(400);

  expect((await make("d1")).status).toBe(200);
});

test("a key belongs to its token: another one's request is another request", async () => {
  const other = await workspace.tokenWith(["admin"]);
  const mine = await make("e1");

  expect((await make("e1", BODY, other)).text).not.toBe(mine.text);
});

test("a key is forgotten after 24 hours", async () => {
  const first = await make("f1");
  await cloud.clock.advance({ hours: 24, seconds: 1 });

  expect((await make("f1")).text).not.toBe(first.text);
});

test("what is shown once is kept sealed", async () => {
  const { token } = dataOf<{ token: string }>(await make("g1"));

  const { Items } = await cloud.clients.documents.send(new ScanCommand({ TableName: "bridge-test-rateLimits" }));

  expect(Items?.some((item) => "answer" in item)).toBe(true);
  expect(JSON.stringify(Items)).not.toContain(token);
});

test.each(["", " ", "ü", "x".repeat(256)])("%j is no key", async (key) => {
  expect((await make(key)).status).toBe(400);
});
