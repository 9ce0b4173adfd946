import { expect, test } from "vitest";
import type { Delivery } from "../../lib/model/delivery/delivery.ts";
import type { Event } from "../../lib/model/delivery/event.ts";
import type { Webhook } from "../../lib/model/delivery/webhook.ts";
import { dispatch } from "../../lib/webhooks/dispatch.ts";
import { replayMissed } from "../../lib/webhooks/replay.ts";

const AT = new Date("2026-03-01T12:00:00Z");

const webhook = (id: string, workspaceId: string, more: Partial<Webhook> = {}): Webhook => ({
  ...{ id, workspaceId, url: "https://example.com/", events: ["sync.broken"], description: "", active: true },
  ...{ secrets: { current: "", previous: [] }, createdAt: AT, updatedAt: AT },
  ...{ failingSince: null, slowUntil: null, version: 1, ...more },
});

const event = (id: string, workspaceId: string, type: Event["event"]): Event => ({
  ...{ id, workspaceId, event: type, occurredAt: AT, detail: { mapping_id: "map_1" } },
});

test("of events that are dispatched together each webhook gets those of its own workspace that it asked for, and wakes up where it is active", async () => {
  const webhooks = [
    webhook("ada", "ws_1"),
    webhook("bob", "ws_2", { events: ["sync.broken", "sync.recovered"] }),
    webhook("off", "ws_2", { active: false }),
  ];
  const events = [
    event("evt_1", "ws_1", "sync.broken"),
    event("evt_2", "ws_1", "sync.recovered"),
    event("evt_3", "ws_2", "sync.broken"),
    event("evt_4", "ws_2", "sync.recovered"),
  ];
  const kept: Delivery[] = [];
  const woken: string[] = [];
  const forgotten: string[] = [];

  await dispatch(
    {
      events: { read: async () => events, forget: async (done) => void forgotten.push(...done.map(({ id }) => id)) },
      webhooks: { list: async (id) => webhooks.filter(({ workspaceId }) => workspaceId === id) },
      deliveries: { add: async (added) => void kept.push(...added) },
      wakeUps: { send: async (sent) => void woken.push(...sent.map(({ webhookId }) => webhookId)) },
      now: () => AT,
    },
    [],
  );

  expect(kept.map(({ webhookId, eventId, workspaceId }) => `${webhookId} ${eventId} ${workspaceId}`).sort()).toEqual([
    "ada evt_1 ws_1",
    "bob evt_3 ws_2",
    "bob evt_4 ws_2",
    "off evt_3 ws_2",
  ]);
  expect(woken.toSorted()).toEqual(["ada", "bob", "bob"]);
  expect(forgotten).toEqual(["evt_1", "evt_2", "evt_3", "evt_4"]);
});

test("a replay continues behind a page of deliveries of which none was missed", async () => {
  const unused = () => Promise.reject(new Error("nothing is sent"));
  const deliveries = { since: async () => ({ rows: [], next: "dlv_9" }), read: async () => [], replace: unused };
  const needs = { deliveries, wakeUps: { send: unused }, audit: { append: unused } };
  const asked = { since: AT, beforeId: undefined };

  expect(await replayMissed(needs, webhook("ada", "ws_1"), asked, { actor: "ada", at: AT })).toEqual({
    queued: 0,
    next: "dlv_9",
  });
});
