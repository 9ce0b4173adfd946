import { expect, test } from "vitest";
import { database, deliveries, now } from "../../../functions/services/composition.ts";
import { deliveries as deliveriesIn } from "../../../lib/adapters/dynamodb/delivery/deliveries.ts";
import { newDelivery } from "../../../lib/model/delivery/delivery.ts";
import { newId } from "../../../lib/model/id.ts";
import { keptDaysIn } from "../../../lib/model/resources.ts";
import { aCloud, cloud } from "../cloud.ts";

aCloud();
const made = (webhookId: string) =>
  newDelivery({
    ...{ id: newId("dlv"), workspaceId: "ws_1", webhookId, eventId: "evt_1", event: "sync.broken", body: "{}" },
    createdAt: now(),
  });

test("a history of more than DynamoDB answers at once, a megabyte, is reported whole and in its order", async () => {
  const [at, delivery] = [now(), made("whk_1")];
  const outcome = { endedAt: at, durationMs: 1, code: 500, body: "x".repeat(200_000), truncated: false, problem: null };
  for (let number = 1; number <= 8; number++)
    await deliveries().recordLate(delivery, { number, kind: "manual", startedAt: at, outcome });

  const history = await deliveries().history(delivery);

  expect(history.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test("every page of a webhook's deliveries holds its own, newest first, with the exact total", async () => {
  const [webhookId, began] = [newId("whk"), now().getTime()];
  const waiting = Array.from({ length: 12 }, (_, at) => ({ ...made(webhookId), createdAt: new Date(began + at) }));
  await deliveries().add([...waiting, made(newId("whk"))]);
  const newestFirst = waiting.map(({ id }) => id).toReversed();

  for (const offset of [0, 1, 7, 11, 12, 50]) {
    const { rows, total } = await deliveries().page(webhookId, { limit: 5, offset });
    expect([total, (rows as readonly { id: string }[]).map(({ id }) => id)]).toEqual([
      ...[waiting.length, newestFirst.slice(offset, offset + 5)],
    ]);
  }
});

test("deliveries are kept as many days as the deployment says", async () => {
  const keeping = (variables: object) => deliveriesIn({ ...database(), keptDays: keptDaysIn({ ...variables }) }, now);
  const kept = keeping({ DELIVERY_DAYS: "3" });
  const webhookId = newId("whk");
  const waiting = Array.from({ length: 30 }, () => made(webhookId));
  await kept.add(waiting);
  const listed = async () => (await kept.page(webhookId, { limit: 50, offset: 0 })).total;

  await cloud.clock.advance({ days: 2 });
  expect(await listed()).toBe(30);
  await cloud.clock.advance({ days: 1, minutes: 1 });
  expect(await listed()).toBe(0);
  expect(await kept.read(waiting.map(({ id }) => id))).toEqual([]);
  // What DynamoDB deletes, no deployment finds again.
  await cloud.dynamodb.sweepExpired();
  expect(await keeping({}).read(waiting.map(({ id }) => id))).toEqual([]);
});
