import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Json, type LambdaWorld, startLambdaWorld } from "../lambda-world.ts";

let world: LambdaWorld;

beforeAll(async () => {
  world = await startLambdaWorld();
});
afterEach(() => world.forget());
afterAll(() => world.close());

const ENVELOPE = { success: false, error: { code: expect.any(String), message: expect.any(String) } };

describe("a request", () => {
  test("reaches the function of its row as the event that API Gateway sends", async () => {
    const event = await eventOf("/api/v1/t/w%201/mappings?limit=5&state=NEW&state=a%20b+c&empty=", {
      headers: { authorization: "Bearer x", "X-Twice": "one", "User-Agent": "curl/8" },
    });

    expect(event).toEqual({
      resource: "/api/v1/t/{workspace_id}/mappings",
      path: "/api/v1/t/w%201/mappings",
      httpMethod: "GET",
      headers: expect.objectContaining({ authorization: "Bearer x", "X-Forwarded-For": "127.0.0.1" }),
      multiValueHeaders: expect.objectContaining({ "X-Twice": ["one"] }),
      queryStringParameters: { limit: "5", state: "a b c", empty: "" },
      multiValueQueryStringParameters: { limit: ["5"], state: ["NEW", "a b c"], empty: [""] },
      pathParameters: { workspace_id: "w%201" },
      stageVariables: null,
      requestContext: {
        resourceId: expect.any(String),
        resourcePath: "/api/v1/t/{workspace_id}/mappings",
        httpMethod: "GET",
        extendedRequestId: expect.any(String),
        requestTime: "01/Mar/2026:12:00:00 +0000",
        path: "/api/v1/t/w%201/mappings",
        accountId: world.cloud.accountId,
        protocol: "HTTP/1.1",
        stage: "dev",
        domainPrefix: expect.any(String),
        requestTimeEpoch: 1772366400000,
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        identity: expect.objectContaining({ sourceIp: "127.0.0.1", userAgent: "curl/8", caller: null, user: null }),
        domainName: expect.stringContaining("127.0.0.1:"),
        deploymentId: expect.any(String),
        apiId: expect.any(String),
      },
      body: null,
      isBase64Encoded: false,
    });
  });

  test("without query and parameters has null for them", async () => {
    const event = await eventOf("/api/metrics", {}, "read-metrics");

    expect(event).toMatchObject({
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
    });
  });

  test("carries its body as text, and the caller's address whatever the client says of itself", async () => {
    const request = {
      method: "POST",
      body: `{"name":"Ärger 🚣"}`,
      headers: { "content-type": "application/json", "x-forwarded-for": "6.6.6.6" },
    };

    const event = await eventOf("/api/v1/t/w/config/import", request, "import-config");

    expect(event).toMatchObject({ body: `{"name":"Ärger 🚣"}`, isBase64Encoded: false });
    expect(event["requestContext"]?.["identity"]?.["sourceIp"]).toBe("127.0.0.1");
  });

  test.each([
    ["a slash at the end", "/api/v1/t/w/mappings/", "list-mappings"],
    ["a slash at the end, and a query", "/api/v1/t/w/mappings/?limit=5", "list-mappings"],
    ["a slash behind a parameter", "/api/v1/t/w/mappings/m/", "read-mapping"],
    ["two slashes at the beginning", "//api/v1/t/w/mappings", "list-mappings"],
    ["slashes at both ends", "///api/v1/t/w/mappings/", "list-mappings"],
    ["a slash behind a path without parameters", "/api/metrics/", "read-metrics"],
  ])("with %s reaches the same endpoint", async (_, path, target) => {
    const event = await eventOf(path, {}, target);

    expect(Object.values(event["pathParameters"] ?? {}).join("")).not.toContain("/");
    expect(event["resource"]).not.toContain("proxy");
  });

  test.each([
    ["an unknown path", "GET", "/nowhere/at/all", { proxy: "nowhere/at/all" }],
    ["a part that is missing", "GET", "/api/v1/t//mappings", { proxy: "api/v1/t//mappings" }],
    ["another method", "DELETE", "/api/v1/t/w/mappings", { workspace_id: "w" }],
    ["the root with another method", "POST", "/", null],
    ["several slashes alone", "POST", "//", null],
    ["a path on the way", "POST", "/api/v1", null],
    ["an unknown path with a slash at its end", "GET", "//nowhere/at/all/", { proxy: "nowhere/at/all" }],
  ])("to %s reaches the function that says so", async (_, method, path, pathParameters) => {
    const event = await eventOf(path, { method }, "no-such-endpoint");

    expect(event).toMatchObject({ httpMethod: method, path, pathParameters });
  });
});

describe("an answer", () => {
  test("is what the function says: status, headers, several of a name, cookies, body", async () => {
    world.does("list-mappings", () => ({
      statusCode: 201,
      headers: { "X-One": "1", "X-Number": 7 },
      multiValueHeaders: { "X-Many": ["a", "b"] },
      cookies: ["c=1"],
      body: "Ä",
    }));

    const answer = await call("/api/v1/t/w/mappings");

    expect(answer.status).toBe(201);
    expect(Object.fromEntries(answer.headers)).toMatchObject({ "x-one": "1", "x-number": "7", "x-many": "a, b" });
    expect(answer.headers.getSetCookie()).toEqual(["c=1"]);
    expect(await answer.text()).toBe("Ä");
  });

  test("has WWW-Authenticate under the name that API Gateway gives it", async () => {
    world.does("list-mappings", () => ({ statusCode: 401, headers: { "WWW-Authenticate": "Bearer" }, body: "" }));

    const answer = await call("/api/v1/t/w/mappings");

    expect(answer.headers.get("x-amzn-remapped-www-authenticate")).toBe("Bearer");
    expect(answer.headers.get("www-authenticate")).toBeNull();
  });

  test.each([
    ["a function that throws", () => Promise.reject(new TypeError("no such luck")), "function failed"],
    ["an answer without a status", () => ({ body: "x" }), "malformed proxy response"],
    ["a body that is no text", () => ({ statusCode: 200, body: { a: 1 } }), "malformed proxy response"],
    ["an answer above six megabytes", () => ({ statusCode: 200, body: "x".repeat(7_000_000) }), "function failed"],
  ])("is an INTERNAL_ERROR in the envelope after %s, and the log says why", async (_, behaviour, logged) => {
    world.does("list-mappings", behaviour);

    const answer = await call("/api/v1/t/w/mappings");

    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({ success: false, error: { code: "INTERNAL_ERROR" } });
    expect(world.log).toMatchObject([{ event: logged, function: "bridge-dev-list-mappings" }]);
  });

  test("comes in time even if the function never ends", async () => {
    const called = Promise.withResolvers<number>();
    world.does("list-mappings", (_, context) => {
      called.resolve(context.getRemainingTimeInMillis());
      return new Promise(() => {});
    });

    const answering = call("/api/v1/t/w/mappings");
    const remaining = await called.promise;
    await world.functionClock.advance({ milliseconds: remaining });
    const answer = await answering;

    expect(remaining).toBe(25_000);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual(ENVELOPE);
    expect(world.log).toMatchObject([
      { error_type: "Sandbox.Timedout", message: "Task timed out after 25.00 seconds" },
    ]);
  });

  test.each([11, 7])(
    "to a body of %i megabytes, which the gateway or Lambda cannot take, is 413",
    async (megabytes) => {
      const body = "x".repeat(megabytes * 1024 * 1024);

      const answer = await call("/api/v1/t/w/config/import", { method: "POST", body });

      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({ error: { code: "PAYLOAD_TOO_LARGE" } });
    },
  );

  test("leaves the connection open for longer than load balancers and browsers keep theirs", async () => {
    const answer = await call("/api/metrics");

    expect(answer.headers.get("keep-alive")).toBe("timeout=75");
  });

  test("to what is no HTTP, or no method that exists, is in the envelope", async () => {
    const unreadable = await raw("GET /api\u0001 HTTP/1.1\r\n\r\n");
    const hostless = await raw("GET /api/metrics HTTP/1.1\r\nConnection: close\r\n\r\n");
    const twoHosts = await raw("GET /api/metrics HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n");
    const unknown = await raw("TRACE /api/metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

    expect(unreadable).toMatch(/^HTTP\/1.1 400 .*"success":false.*"VALIDATION_ERROR"/s);
    expect(hostless).toMatch(/^HTTP\/1.1 400 .*"success":false.*"VALIDATION_ERROR"/s);
    expect(twoHosts).toMatch(/^HTTP\/1.1 400 .*"success":false.*"VALIDATION_ERROR"/s);
    for (const answer of [unreadable, hostless, twoHosts]) expect(answer).toContain("X-Content-Type-Options: nosniff");
    expect(unknown).toMatch(/^HTTP\/1.1 404 .*"success":false.*"NOT_FOUND"/s);
  });
});

describe("a streamed answer", () => {
  test("arrives while the function still writes, byte for byte", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const more = Promise.withResolvers<void>();
    world.streams("list-audit-log", async (_, stream) => {
      const answer = streamFrom(stream, { statusCode: 200, headers: { "Content-Type": "text/csv" } });
      answer.write(bytes);
      await more.promise;
      answer.end("the end");
    });

    const answer = await call("/api/v1/t/w/audit-log?format=csv");
    const reader = answer.body?.getReader();
    const first = await reader?.read();
    more.resolve();
    const second = await reader?.read();

    expect(answer.headers.get("content-type")).toBe("text/csv");
    expect(first?.value).toEqual(bytes);
    expect(Buffer.from(second?.value ?? []).toString()).toBe("the end");
    expect((await reader?.read())?.done).toBe(true);
  });

  test.each(["", "all of it"])("that is written and ended at once, with the body %j, is whole", async (body) => {
    world.streams("list-audit-log", (_, stream) => {
      streamFrom(stream, { statusCode: 201 }).end(body);
    });

    const answer = await call("/api/v1/t/w/audit-log");

    expect([answer.status, await answer.text()]).toEqual([201, body]);
  });

  test("of many megabytes flows at the reader's pace", async () => {
    let written = 0;
    world.streams("list-audit-log", async (_, stream) => {
      const answer = streamFrom(stream, { statusCode: 200 });
      for (; written < 200; written++) {
        if (!answer.write("x".repeat(100_000))) await new Promise((resolve) => answer.once("drain", resolve));
      }
      answer.end();
    });

    const answer = await call("/api/v1/t/w/audit-log");
    const writtenUnread = written;
    const body = await answer.text();

    expect(body.length).toBe(20_000_000);
    expect(writtenUnread).toBeLessThan(200);
  });

  test("that breaks off is not mistaken for a whole one", async () => {
    const broken = Promise.withResolvers<never>();
    world.streams("list-audit-log", (_, stream) => {
      streamFrom(stream, { statusCode: 200 }).write("half");
      return broken.promise;
    });

    const answer = await call("/api/v1/t/w/audit-log");
    broken.reject(new Error("the table is gone"));

    await expect(answer.text()).rejects.toThrow();
    expect(world.log).toMatchObject([{ event: "stream broken", message: "the table is gone" }]);
  });

  test.each<[string, Parameters<LambdaWorld["streams"]>[1]]>([
    ["fails before its first byte", () => Promise.reject(new Error("too early"))],
    ["has no status", (_, stream) => stream.end("just text")],
    ["is empty", (_, stream) => stream.end()],
  ])("that %s is an INTERNAL_ERROR in the envelope", async (_, behaviour) => {
    world.streams("list-audit-log", behaviour);

    const answer = await call("/api/v1/t/w/audit-log");

    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual(ENVELOPE);
    expect(world.log).toHaveLength(1);
  });
});

describe("the metrics URL", () => {
  test("is another door to the same function, with the event of a function URL", async () => {
    let seen: Json | undefined;
    world.does("read-metrics", (event) => {
      seen = event;
      return { statusCode: 200, headers: { "Content-Type": "text/plain; version=0.0.4" }, body: "up 1\n" };
    });

    const answer = await fetch(`${world.host.metricsUrl}?a=1&a=2`, { headers: { "X-Mixed": "Case" } });

    expect(await answer.text()).toBe("up 1\n");
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4");
    expect(seen).toMatchObject({
      version: "2.0",
      rawPath: "/",
      rawQueryString: "a=1&a=2",
      queryStringParameters: { a: "1,2" },
      headers: { "x-mixed": "Case" },
      requestContext: { http: { method: "GET", sourceIp: "127.0.0.1" } },
      isBase64Encoded: false,
    });
  });

  test("may answer bytes", async () => {
    const body = Buffer.from([0, 255]).toString("base64");
    world.does("read-metrics", () => ({ statusCode: 200, body, isBase64Encoded: true }));

    const answer = await fetch(String(world.host.metricsUrl));

    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([0, 255]);
  });
});

function call(path: string, options: RequestInit = {}): Promise<Response> {
  return fetch(`${world.host.baseUrl}${path}`, options);
}

async function eventOf(path: string, options: RequestInit = {}, name = "list-mappings"): Promise<Json> {
  const seen: Json[] = [];
  world.does(name, (event) => {
    seen.push(event);
    return { statusCode: 200 };
  });
  expect((await call(path, options)).status).toBe(200);
  const [event] = seen;
  if (!event) throw new Error(`${name} was not called`);
  return event;
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
