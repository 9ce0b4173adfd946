import { afterAll, beforeAll, expect, test } from "vitest";
import { database, now } from "../../../functions/services/composition.ts";
import { auditLog as auditLogIn } from "../../../lib/adapters/dynamodb/audit.ts";
import { deliveries as deliveriesIn } from "../../../lib/adapters/dynamodb/delivery/deliveries.ts";
import { newDelivery } from "../../../lib/model/delivery/delivery.ts";
import { newId } from "../../../lib/model/id.ts";
import { keptDaysIn } from "../../../lib/model/resources.ts";
import { type BridgeCloud, startBridgeCloud } from "../../support/worlds/bridge-cloud.ts";

let cloud: BridgeCloud;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());

/** The tables of a deployment that keeps things so long. */
const keeping = (variables: Readonly<Record<string, string>>) => ({ ...database(), keptDays: keptDaysIn(variables) });

test("deliveries are kept as many days as the deployment says", async () => {
  const kept = deliveriesIn(keeping({ DELIVERY_DAYS: "3" }), now);
  const webhookId = newId("whk");
  const made = { workspaceId: "ws_1", webhookId, eventId: "evt_1", event: "record.failed", body: "{}" } as const;
  const owed = Array.from({ length: 30 }, () => newDelivery({ ...made, id: newId("dlv"), createdAt: now() }));
  await kept.add(owed);
  const listed = async () => (await kept.page(webhookId, { limit: 50, offset: 0 })).total;

  await cloud.clock.advance({ days: 2 });
  expect(await listed()).toBe(30);
  await cloud.clock.advance({ days: 1, minutes: 1 });
  expect(await listed()).toBe(0);
  expect(await kept.read(owed.map(({ id }) => id))).toEqual([]);
  // What DynamoDB deletes, no deployment finds again.
  await cloud.dynamodb.sweepExpired();
  expect(await deliveriesIn(keeping({}), now).read(owed.map(({ id }) => id))).toEqual([]);
});

test("after the operator has made the time of audit entries shorter, none goes before an older one, and totals stay exact", async () => {
  const workspaceId = newId("ws");
  const [long, short] = [{ AUDIT_DAYS: "20" }, { AUDIT_DAYS: "5" }].map((days) => auditLogIn(keeping(days), now));
  const append = async (log: typeof long, name: string) => {
    const made = { id: newId("aud"), workspaceId, actor: "a@example.com", action: "token.created" } as const;
    await log?.append({ ...made, resourceId: name, detail: {}, createdAt: now() });
    await cloud.clock.advance({ days: 1 });
  };
  const resources = async () => {
    const page = await short?.page({ workspaceId, actor: null, action: null }, { limit: 50, offset: 0 });
    const rows = page?.rows ?? [];
    expect(page?.total).toBe(rows.length);
    return rows.map(({ resource_id }) => resource_id);
  };
  for (const name of ["old 1", "old 2"]) await append(long, name);
  for (const name of ["new 1", "new 2"]) await append(short, name);

  await cloud.clock.advance({ days: 8 });
  await cloud.dynamodb.sweepExpired();
  expect(await resources()).toEqual(["new 2", "new 1", "old 2", "old 1"]);

  await cloud.clock.advance({ days: 10 });
  await cloud.dynamodb.sweepExpired();
  expect(await resources()).toEqual([]);

  await append(short, "newest 1");
  await cloud.clock.advance({ days: 3 });
  expect(await resources()).toEqual(["newest 1"]);
  await cloud.clock.advance({ days: 1, minutes: 1 });
  expect(await resources()).toEqual([]);
});

test("days that are none are refused by the variable's name", () => {
  for (const days of ["0", "1.5", "soon", "3651", "-3"])
    expect(() => keptDaysIn({ AUDIT_DAYS: days })).toThrow("AUDIT_DAYS must be a whole number of days from 1 to 3650");
  expect(keptDaysIn({ AUDIT_DAYS: "", DELIVERY_DAYS: "7" })).toEqual({ deliveryDays: 7, auditDays: 400 });
});
