import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type LambdaWorld, startLambdaWorld } from "../lambda-world.ts";

let world: LambdaWorld;

beforeAll(async () => {
  world = await startLambdaWorld();
});
afterEach(() => world.forget());
afterAll(() => world.close());

test("an answer is what the function says: status, headers, several of a name, cookies, body", async () => {
  world.does("list-mappings", () => ({
    statusCode: 401,
    headers: { "X-Number": 7, "WWW-Authenticate": "Bearer" },
    multiValueHeaders: { "X-Many": ["a", "b"] },
    cookies: ["c=1"],
    body: "Ä",
  }));

  const answer = await call("/api/v1/t/w/mappings");

  expect([answer.status, await answer.text()]).toEqual([401, "Ä"]);
  expect(Object.fromEntries(answer.headers)).toMatchObject({ "x-number": "7", "x-many": "a, b" });
  expect(answer.headers.getSetCookie()).toEqual(["c=1"]);
  expect(answer.headers.get("x-amzn-remapped-www-authenticate")).toBe("Bearer"); // as API Gateway renames it
  expect(answer.headers.get("www-authenticate")).toBeNull();
  expect(answer.headers.get("keep-alive")).toBe("timeout=75"); // longer than load balancers and browsers keep theirs
});

test.each<[string, Parameters<LambdaWorld["does"]>[1], string]>([
  ["a function that throws", () => Promise.reject(new TypeError("no such luck")), "function failed"],
  ["an answer without a status", () => ({ body: "x" }), "malformed proxy response"],
  ["a body that is no text", () => ({ statusCode: 200, body: { a: 1 } }), "malformed proxy response"],
  ["an answer above six megabytes", () => ({ statusCode: 200, body: "x".repeat(7_000_000) }), "function failed"],
])("after %s the caller gets an INTERNAL_ERROR in the envelope, and the log says why", async (_, behaviour, logged) => {
  world.does("list-mappings", behaviour);

  const answer = await call("/api/v1/t/w/mappings");

  expect(answer.status).toBe(500);
  expect(await answer.json()).toMatchObject({ success: false, error: { code: "INTERNAL_ERROR" } });
  expect(world.log).toMatchObject([{ event: logged, function: "bridge-dev-list-mappings" }]);
});

test("what the gateway or Lambda cannot take, or cannot read, is refused in the envelope", async () => {
  for (const megabytes of [11, 7]) {
    const body = "x".repeat(megabytes * 1024 * 1024);
    const answer = await call("/api/v1/t/w/config/import", { method: "POST", body });
    expect([answer.status, await answer.json()]).toMatchObject([413, { error: { code: "PAYLOAD_TOO_LARGE" } }]);
  }
  for (const request of [
    "GET /api\u0001 HTTP/1.1\r\n\r\n",
    "GET /api/metrics HTTP/1.1\r\nConnection: close\r\n\r\n",
    "GET /api/metrics HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n",
  ]) {
    const answer = await raw(request);
    expect(answer).toMatch(/^HTTP\/1.1 400 .*"success":false.*"VALIDATION_ERROR"/s);
    expect(answer).toContain("X-Content-Type-Options: nosniff");
  }
  const unknown = await raw("TRACE /api/metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  expect(unknown).toMatch(/^HTTP\/1.1 404 .*"success":false.*"NOT_FOUND"/s);
});

test("a streamed answer arrives while the function still writes, byte for byte", async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const more = Promise.withResolvers<void>();
  world.streams("list-audit-log", async (_, stream) => {
    const answer = streamFrom(stream, { statusCode: 201, headers: { "Content-Type": "text/csv" } });
    answer.write(bytes);
    await more.promise;
    answer.end("the end");
  });

  const answer = await call("/api/v1/t/w/audit-log?format=csv");
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  more.resolve();
  const second = await reader?.read();

  expect([answer.status, answer.headers.get("content-type")]).toEqual([201, "text/csv"]);
  expect(first?.value).toEqual(bytes);
  expect(Buffer.from(second?.value ?? []).toString()).toBe("the end");
  expect((await reader?.read())?.done).toBe(true);
});

test.each<[string, Parameters<LambdaWorld["streams"]>[1]]>([
  ["fails before its first byte", () => Promise.reject(new Error("too early"))],
  ["has no status", (_, stream) => stream.end("just text")],
])("a streamed answer that %s is an INTERNAL_ERROR in the envelope", async (_, behaviour) => {
  world.streams("list-audit-log", behaviour);

  const answer = await call("/api/v1/t/w/audit-log");

  expect(answer.status).toBe(500);
  expect(await answer.json()).toMatchObject({ success: false, error: { code: "INTERNAL_ERROR" } });
  expect(world.log).toHaveLength(1);
});

function call(path: string, options: RequestInit = {}): Promise<Response> {
  return fetch(`${world.host.baseUrl}${path}`, options);
}

async function raw(request: string): Promise<string> {
  const socket = connect(Number(new URL(world.host.baseUrl).port), "127.0.0.1");
  socket.end(request);
  return text(socket);
}

type Streamed = Parameters<Parameters<LambdaWorld["streams"]>[1]>[1];

function streamFrom(stream: Streamed, prelude: Record<string, unknown>): Streamed {
  const { awslambda } = globalThis as unknown as { awslambda: { HttpResponseStream: { from: typeof streamFrom } } };
  return awslambda.HttpResponseStream.from(stream, prelude);
}
