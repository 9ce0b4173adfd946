import { randomBytes } from "node:crypto";
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { mappings, repeats } from "../../functions/services/composition.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import { newId } from "../../lib/model/id.ts";
import { askingIn } from "../support/clients/ask.ts";
import type { Request } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { contactShape, mappingOf } from "../support/worlds/shapes.ts";
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

const ask = askingIn(() => workspace);
const make = (key: string, body: object = BODY, token = workspace.token) =>
  ask("create-token", { token, body, headers: { "Idempotency-Key": key } });

const count = async () => dataOf<readonly unknown[]>(await ask("list-tokens")).length - 1;

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

describe("one key names one request: the same key for", () => {
  const BODY_OF_WEBHOOK = { url: "https://hooks.example.com/", events: ["sync.broken"] };
  const post = (route: RouteName, key: string, request: Request = {}) =>
    ask(route, { ...request, headers: { "Idempotency-Key": key } });
  const webhookId = async (key: string) =>
    dataOf<{ id: string }>(await post("create-webhook", key, { body: BODY_OF_WEBHOOK })).id;
  const mapping = async (object: string) => {
    const shape = contactShape({ mappingId: newId("map"), sfObject: object, table: object.toLowerCase() });
    const made = mappingOf(shape, workspace.id);
    const { generation } = await mappings().list(workspace.id);
    const changes = [{ before: null, after: made }];
    expect(await mappings().change(workspace.id, generation, { changes, audit: [], events: [] })).toBe(true);
    return made.id;
  };

  test.each(["poll-now", "deactivate-mapping"] as const)(
    "%s of another mapping is refused, and the first one's answer is not given for it",
    async (route) => {
      const [one, other] = [await mapping("Contact"), await mapping("Account")];
      const first = await post(route, "m1", { path: { mapping_id: one } });

      const refused = await post(route, "m1", { path: { mapping_id: other } });
      const act = await post("reload-mapping", "m1", { path: { mapping_id: one } });
      const again = await post(route, "m1", { path: { mapping_id: one } });

      expect([first.status, refused.status, act.status, again.status]).toEqual([200, 422, 422, 200]);
      expect(refused.json?.error?.code).toBe("IDEMPOTENCY_MISMATCH");
      expect([again.text, again.headers["ETag"]]).toEqual([first.text, first.headers["ETag"]]);
    },
  );

  test("another webhook, another query and another endpoint of one body is refused", async () => {
    const [one, other] = [await webhookId("w1"), await webhookId("w2")];
    const rotate = (id: string, query: Record<string, string>) =>
      post("rotate-webhook-secret", "w3", { path: { webhook_id: id }, query });
    const first = await rotate(one, { overlap_seconds: "60" });

    const refused = [
      await rotate(other, { overlap_seconds: "60" }),
      await rotate(one, { overlap_seconds: "61" }),
      await rotate(one, {}),
      await post("test-webhook", "w3", { path: { webhook_id: one } }),
      await post("create-webhook", "w3", { body: BODY_OF_WEBHOOK }),
    ];

    expect(first.status).toBe(200);
    expect(refused.map(({ json }) => json?.error?.code)).toEqual(refused.map(() => "IDEMPOTENCY_MISMATCH"));
    expect((await rotate(one, { overlap_seconds: "60" })).text).toBe(first.text);
    // In another order of its keys a body is the same request.
    const turned = { events: BODY_OF_WEBHOOK.events, url: BODY_OF_WEBHOOK.url };
    const same = await post("create-webhook", "w1", { body: turned });
    expect(dataOf<{ id: string }>(same).id).toBe(one);
  });

  test("a method that is no POST is not kept: it is carried out each time", async () => {
    const path = { webhook_id: await webhookId("x1") };
    const changed = (description: string) => post("change-webhook", "x1", { path, body: { description } });

    const answers = [await changed("first"), await changed("second")];

    expect(answers.map((answer) => dataOf<{ description: string }>(answer).description)).toEqual(["first", "second"]);
    expect(answers.map(({ headers }) => headers["Idempotent-Replayed"])).toEqual([undefined, undefined]);
  });
});

test("a key belongs to its workspace, to its token and to 24 hours: it names another request elsewhere and afterwards", async () => {
  const other = await workspace.tokenWith(["admin"]);
  const answers = [await make("k1"), await make("k1", BODY, other)];
  await cloud.clock.advance({ hours: 23 });
  expect((await make("k1")).text).toBe(answers[0]?.text);
  await cloud.clock.advance({ hours: 1, seconds: 1 });
  answers.push(await make("k1"));
  workspace = await createTestWorkspace();
  answers.push(await make("k1"));

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(4);
  const lost = { workspaceId: workspace.id, tokenId: "tok_1", key: "k2", fingerprint: "f" };
  const beginAfter = (seconds: number) => repeats().begin(lost, new Date(cloud.clock.now() + seconds * 1000));
  const states = [await beginAfter(0), await beginAfter(59), await beginAfter(60)].map(({ state }) => state);
  expect(states, "one that died is given up after a minute").toEqual(["first", "running", "first"]);
  const large = { statusCode: 200, headers: {}, body: randomBytes(300_000).toString("base64") };
  await repeats().keep(lost, large, new Date(cloud.clock.now())); // which no item can hold
  expect((await beginAfter(61)).state).toBe("first");
});

test("a refused request may be corrected under the same key", async () => {
  expect((await make("d1", { ...BODY, owner: "nobody" })).status).toBe(400);

  expect((await make("d1")).status).toBe(200);

  const headers = { "Idempotency-Key": "d2", "If-Match": '"of another"' };
  const load = () => ask("import-config", { headers, body: { version: 1, mappings: [] } });
  const refused = [await load(), await load()];
  expect(
    refused.map(({ status }) => status),
    "what failed is carried out again",
  ).toEqual([412, 412]);
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
