import { expect, test } from "vitest";
import { startRunningBridge } from "../../support/worlds/running-bridge.ts";

test("the minute's sweep is allowed what it does, in a process with the policy of its own role alone", async () => {
  const bridge = await startRunningBridge({ isolate: true });
  try {
    await bridge.createWorkspace();

    const answer = await bridge.host.invoke("sweep-minute", { Records: [{ messageId: "1", body: "{}" }] });

    expect(answer).toEqual({ batchItemFailures: [] });
  } finally {
    await bridge.close();
  }
});
