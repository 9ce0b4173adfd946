import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { longTest } from "../support/run/whole-grid.ts";
import { type HttpAnswer, type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";
import { expectRefusal } from "./world.ts";

let bridge: RunningBridge;
let workspace: TestWorkspace;
beforeAll(async () => {
  bridge = await startRunningBridge({ requestsPerMinute: 300 });
  workspace = await bridge.createWorkspace();
});
afterAll(() => bridge.close());

const list = (headers: Record<string, string> = {}) =>
  bridge.request("GET", `/api/v1/t/${workspace.id}/mappings`, { token: workspace.token, headers });

const left = ({ headers }: HttpAnswer) => Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);

/** Requests until the first refusal. */
async function useUp(): Promise<HttpAnswer[]> {
  const answers: HttpAnswer[] = [];
  while (answers.at(-1)?.status !== 429) answers.push(...(await Promise.all(Array.from({ length: 25 }, () => list()))));
  return answers;
}

/** Requests of one and the same minute, from its first on. When a minute ends meanwhile, the next one serves. */
async function useUpOneMinute(): Promise<HttpAnswer[]> {
  for (;;) {
    const answers = await useUp();
    if (answers.filter((answer) => left(answer) === 299).length === 1) return answers;
    await pause(1000 * Number(answers.at(-1)?.headers.get("retry-after")));
  }
}

longTest(
  "300 requests a minute are answered, exactly, however many come at once; the next are refused with the time to come back",
  async () => {
    const answers = await useUpOneMinute();

    const answered = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect(answered.length + refused.length).toBe(answers.length);
    expect(Math.min(...answered.map(left))).toBe(0);
    expect(new Set(answered.map(left)).size).toBe(answered.length);
    expect(answered.length).toBe(1 + Math.max(...answered.map(left)));
    for (const answer of refused) {
      expectRefusal(answer, 429, "RATE_LIMITED");
      const seconds = Number(answer.headers.get("retry-after"));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(answer.headers.get("ratelimit")).toBe(`"default";r=0;t=${seconds}`);
      expect(answer.headers.get("ratelimit-policy")).toBe('"default";q=300;w=60');
    }
  },
);

longTest("a client that says it is another user is counted all the same, and the metrics stay open", async () => {
  await useUp();

  for (const name of ["X-Forwarded-For", "X-Real-IP", "Forwarded", "CF-Connecting-IP", "True-Client-IP"]) {
    const answer = await list({ [name]: name === "Forwarded" ? "for=203.0.113.7" : "203.0.113.7" });
    expect(left(answer)).toBeLessThan(299);
  }
  expect((await bridge.request("GET", "/api/metrics")).status).toBe(200);
  expect((await bridge.request("GET", "/api/v1/nothing")).headers.get("ratelimit-policy")).toBe('"default";q=300;w=60');
});
