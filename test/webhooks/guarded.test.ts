import { expect, onTestFinished } from "vitest";
import { deliveries } from "../../functions/services/composition.ts";
import { newDelivery } from "../../lib/model/delivery/delivery.ts";
import { newId } from "../../lib/model/id.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { startReceiver } from "../support/doubles/receiver.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { startRunningBridge } from "../support/worlds/running-bridge.ts";

longTest(
  "what the sweeper's own policy allows is enough to wake overdue deliveries, first attempts and retries alike",
  async () => {
    const bridge = await startRunningBridge({ isolate: true });
    onTestFinished(() => bridge.close());
    const workspace = await bridge.createWorkspace();
    const receiver = await startReceiver(200);
    onTestFinished(() => receiver.close());
    const created = await bridge.request("POST", `/api/v1/t/${workspace.id}/webhooks`, {
      token: workspace.token,
      body: { url: receiver.url, events: ["sync.broken"] },
    });
    const { id: webhookId } = dataOf<{ id: string }>(created);
    // Their next attempts were due two minutes ago, and their wake-ups were lost.
    const asked = { workspaceId: workspace.id, webhookId, event: "sync.broken", body: "{}" } as const;
    const createdAt = new Date(Date.now() - 120_000);
    const overdue = [0, 1, 2, 3, 4].map((automaticAttempts) => ({
      ...newDelivery({ ...asked, id: newId("dlv"), eventId: newId("evt"), createdAt }),
      ...{ automaticAttempts, status: automaticAttempts === 0 ? ("pending" as const) : ("failed" as const) },
    }));
    await deliveries().add(overdue);

    const answer = await bridge.host.invoke("sweep-minute", { Records: [{ messageId: "1", body: "{}" }] });

    expect(answer).toEqual({ batchItemFailures: [] });
    await receiver.has(overdue.length);
    expect(receiver.received.map(({ headers }) => headers["x-bridge-delivery"]).sort()).toEqual(
      overdue.map(({ id }) => id).sort(),
    );
  },
);
