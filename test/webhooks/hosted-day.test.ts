import { expect, onTestFinished } from "vitest";
import { events } from "../../functions/services/composition.ts";
import { createTestClock } from "../../lib/local/clock.ts";
import { newId } from "../../lib/model/id.ts";
import { startReceiver } from "../support/doubles/receiver.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { startHostedBridge } from "../support/worlds/hosted-bridge.ts";
import { makeWebhook } from "../support/worlds/make-webhook.ts";

longTest(
  "the deployed bundles, fed by their queues, retry to the second: 30 s, 5 min, 30 min and 2 h, then no more",
  async () => {
    const start = new Date("2026-03-01T12:00:00Z");
    const clock = createTestClock(start);
    const bridge = await startHostedBridge({ clock });
    onTestFinished(() => bridge.close());
    const receiver = await startReceiver(500, () => new Date(clock.now()));
    onTestFinished(() => receiver.close());
    const { workspaceId } = await makeWebhook(receiver.url);
    await events().publish([{ id: newId("evt"), workspaceId, event: "record.failed", occurredAt: start, detail: {} }]);

    await clock.advance({ hours: 3 });

    const calledAfterSeconds = receiver.received.map(({ at }) => (at.getTime() - start.getTime()) / 1000);
    expect(calledAfterSeconds).toEqual([0, 30, 330, 2130, 9330]);
  },
);
