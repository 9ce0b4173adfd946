import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningBridge, startRunningBridge } from "../../support/worlds/running-bridge.ts";
import { createTestWorkspace } from "../../support/worlds/workspace.ts";
import { smoke } from "./smoke.ts";

let bridge: RunningBridge;
beforeAll(async () => {
  bridge = await startRunningBridge();
});
afterAll(() => bridge.close());

test("a deployment that is well passes every step of the drill before anything is connected", async () => {
  const { id, token } = await createTestWorkspace();

  const steps = await smoke({ baseUrl: bridge.baseUrl, metricsUrl: bridge.metricsUrl, workspaceId: id, token });

  expect(steps.filter(({ wrong }) => wrong !== null)).toEqual([]);
  expect(steps.length).toBeGreaterThan(15);
});

test("a step whose answer is not what it should be says what came instead", async () => {
  const { id } = await createTestWorkspace();

  const steps = await smoke({
    baseUrl: bridge.baseUrl,
    metricsUrl: `${bridge.baseUrl}/nowhere`,
    workspaceId: id,
    token: "brg_wrong",
  });

  expect(steps.find(({ name }) => name === "health")?.wrong).toContain("answered 401");
  expect(steps.at(-1)?.wrong).toContain("404");
});
