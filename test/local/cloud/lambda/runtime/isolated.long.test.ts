import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { type LambdaWorld, startLambdaWorld } from "../lambda-world.ts";

const API = `
let calls = 0;
export const handler = async (event, context) => {
  const { do: ask, gate } = event.queryStringParameters ?? {};
  calls++;
  if (ask === "crash") process.exit(7);
  if (ask === "throw") throw new TypeError("no such luck");
  if (ask === "hang") await new Promise(() => setInterval(() => {}, 1000));
  if (gate) await fetch(gate);
  const { PATH, HOME, STAGE, TABLE_MAPPINGS, AWS_LAMBDA_FUNCTION_NAME, AWS_ENDPOINT_URL_SQS } = process.env;
  const body = {
    pid: process.pid, calls, remaining: context.getRemainingTimeInMillis(), id: context.awsRequestId,
    env: { PATH, HOME, STAGE, TABLE_MAPPINGS, AWS_LAMBDA_FUNCTION_NAME, AWS_ENDPOINT_URL_SQS },
  };
  return { statusCode: 200, body: JSON.stringify(body) };
};
`;
const STREAM = `
export const handler = awslambda.streamifyResponse(async (event, stream) => {
  const answer = awslambda.HttpResponseStream.from(stream, { statusCode: 200, headers: { "content-type": "text/csv" } });
  answer.write("x".repeat(3_000_000));
  if (event.queryStringParameters?.do === "break") throw new Error("the table is gone");
  answer.end("end");
});
`;
const BROKEN_AT_START = `throw new Error("cannot start"); export const handler = 1;`;

const SOON = { timeout: 300_000, interval: 5 };

let world: LambdaWorld;

beforeAll(async () => {
  const sources = {
    "list-mappings": API,
    "read-drift": API,
    "list-audit-log": STREAM,
    "read-health": BROKEN_AT_START,
  };
  world = await startLambdaWorld({ isolate: true, sources });
});
afterAll(() => world.close());

test("a function keeps its process and state from call to call, shares neither, and sees its own variables alone", async () => {
  const first = await bodyOf("mappings");
  const second = await bodyOf("mappings");
  const other = await bodyOf("config/drift");

  expect(second).toMatchObject({ pid: first.pid, calls: first.calls + 1 });
  expect(other).toMatchObject({ calls: 1 });
  expect(new Set([first.pid, other.pid, process.pid]).size).toBe(3);
  expect(second.id).not.toBe(first.id);
  expect(first.env).toEqual({
    STAGE: "dev",
    TABLE_MAPPINGS: "bridge-dev-mappings",
    AWS_LAMBDA_FUNCTION_NAME: "bridge-dev-list-mappings",
    AWS_ENDPOINT_URL_SQS: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  });
});

test("requests at once are environments with one event each; those beyond four wait in a queue", async () => {
  const gate = await startGate();
  const answers = Promise.all(Array.from({ length: 9 }, () => bodyOf(`mappings?gate=${gate.url}`)));
  await vi.waitUntil(() => gate.waiting() === 4, SOON);
  gate.open();

  expect(new Set((await answers).map(({ pid }) => pid)).size).toBe(4);
});

test.each([
  ["throws", "do=throw", { error_type: "TypeError", message: "no such luck" }],
  ["crashes", "do=crash", { error_type: "Runtime.ExitError", message: expect.stringContaining("exit status 7") }],
])("a function that %s is logged, and answers the next request", async (_, query, logged) => {
  world.forget();

  const answer = await call(`mappings?${query}`);
  const after = await bodyOf("mappings");

  expect(answer.status).toBe(500);
  expect(world.log).toMatchObject([{ ...logged, function: "bridge-dev-list-mappings" }]);
  expect(after.calls).toBeGreaterThan(0);
});

test("a function that is out of time is ended, and a new one answers", async () => {
  world.forget();
  const before = await bodyOf("config/drift");

  const hanging = world.host.invoke("read-drift", { queryStringParameters: { do: "hang" } });
  const refused = expect(hanging).rejects.toThrow("Task timed out after 25.00 seconds");
  await world.functionClock.advance({ seconds: 25 });
  await refused;
  const after = await bodyOf("config/drift");

  expect(world.log[0]).toMatchObject({ error_type: "Sandbox.Timedout" });
  expect(after).toMatchObject({ calls: 1 });
  expect(() => process.kill(before.pid, 0)).toThrow("ESRCH");
});

test("a function that cannot start says why", async () => {
  world.forget();

  const answer = await call("health");

  expect(answer.status).toBe(500);
  expect(world.log).toMatchObject([{ message: "cannot start", function: "bridge-dev-read-health" }]);
});

test("a stream crosses the processes whole, or breaks off visibly", async () => {
  world.forget();

  const whole = await call("audit-log");
  const text = await whole.text();
  const broken = call("audit-log?do=break").then((answer) => answer.text());

  expect(whole.headers.get("content-type")).toBe("text/csv");
  expect(text).toBe(`${"x".repeat(3_000_000)}end`);
  await expect(broken).rejects.toThrow();
  expect(world.log).toMatchObject([{ event: "stream broken", message: "the table is gone" }]);
});

interface Body {
  readonly pid: number;
  readonly calls: number;
  readonly id: string;
  readonly env: Record<string, string>;
}

function call(path: string): Promise<Response> {
  return fetch(`${world.host.baseUrl}/api/v1/t/w/${path}`);
}

async function bodyOf(path: string): Promise<Body> {
  const answer = await call(path);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Body;
}

/** Keeps callers waiting until it is opened. */
async function startGate(): Promise<{ readonly url: string; waiting(): number; open(): void }> {
  const kept: ServerResponse[] = [];
  let isOpen = false;
  const server = createServer((_, response) => (isOpen ? response.end() : kept.push(response)));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    waiting: () => kept.length,
    open: () => {
      isOpen = true;
      for (const response of kept) response.end();
    },
  };
}
