import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { startReceiver } from "../support/doubles/receiver.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const delivery = (id: number, event = "record.failed") => ({
  ...{ id: `dlv_${id}`, event, status: "failed", response_code: null, delivered_at: null, next_retry_at: null },
});
const BODY = '{"event":"record.failed","id":"evt_2"}';
const SOON = { timeout: 60_000 };

/** Waits for deliveries until `stop`; texts come to `lines`, and `waiting` is called when it has begun. */
function listen(forward: string, more: string, waiting: () => void) {
  const stopping = new AbortController();
  const lines: string[] = [];
  const ended = world.run(`webhook listen whk_1 --forward ${forward}${more}`, {
    ...{ stdin: SECRET, interrupted: stopping.signal, onStdout: (text) => lines.push(text) },
    onStderr: (text) => text.startsWith("Waiting for deliveries") && waiting(),
  });
  for (const id of [2, 4]) {
    const whole = { id: `dlv_${id}`, event: "record.failed", event_id: `evt_${id}`, request_body: BODY };
    world.answer(`GET /webhooks/whk_1/deliveries/dlv_${id}`, whole);
  }
  return { ended, lines, stop: () => stopping.abort() };
}

test("a webhook's new deliveries come to a port of this machine, once each and signed as the service signs", async () => {
  const receiver = await startReceiver(202);
  onTestFinished(receiver.close);
  world.answer("GET /webhooks/whk_1/deliveries", [delivery(1)]);
  const chosen = " --events record.failed --secret-file - --json";
  const { ended, lines, stop } = listen(new URL(receiver.url).port, chosen, () =>
    world.answer("GET /webhooks/whk_1/deliveries", [delivery(4), delivery(3, "sync.broken"), delivery(2), delivery(1)]),
  );

  await receiver.has(2);
  const looks = world.asked.length;
  await expect.poll(() => world.asked.length, SOON).toBeGreaterThan(looks);
  stop();

  expect((await ended).code).toBe(130);
  expect(receiver.received.map(({ headers }) => headers["x-bridge-delivery"])).toEqual(["dlv_2", "dlv_4"]);
  expect(lines.map((line) => JSON.parse(line).code)).toEqual([202, 202]);
  const headers = receiver.received[0]?.headers as Record<string, string>;
  expect(new Webhook(SECRET).verify(BODY, headers)).toEqual(JSON.parse(receiver.received[0]?.body ?? ""));
  expect(headers["x-bridge-signature"]).toMatch(/^sha256=[0-9a-f]{64}$/);
});

longTest("a port on which nothing listens is reported for each delivery, and listening continues", async () => {
  world.answer("GET /webhooks/whk_1/deliveries", []);
  const { ended, lines, stop } = listen("http://127.0.0.1:1/", "", () =>
    world.answer("GET /webhooks/whk_1/deliveries", [delivery(2)]),
  );

  await expect.poll(() => lines.length, SOON).toBe(1);
  stop();

  expect(lines[0]).toContain("record.failed  dlv_2  no answer: ");
  expect((await ended).stderr).toMatch(/Signed with whsec_\S+, which is for this run alone/);
});

test("an event that never happened goes to every active webhook that receives its type, or to the one that is named", async () => {
  const webhook = { url: "https://example.com", failing_since: null, active: true, events: ["record.failed"] };
  const other = { ...webhook, id: "whk_3", events: ["sync.broken"] };
  world.answer("GET /webhooks", [{ ...webhook, id: "whk_1" }, { ...webhook, id: "whk_2", active: false }, other]);
  for (const id of [1, 3])
    world.answer(`POST /webhooks/whk_${id}/test`, { queued: true, delivery_id: `dlv_${id}`, event_id: "evt" });

  const all = await world.line.json(["webhook", "trigger", "record.failed"]);
  const one = await world.run("webhook trigger sync.broken whk_3");
  const none = await world.run("webhook trigger mapping.activated");

  expect(all).toEqual([{ webhook_id: "whk_1", queued: true, delivery_id: "dlv_1", event_id: "evt" }]);
  expect(one).toMatchObject({ code: 0, stdout: has("bridge webhook delivery whk_3 dlv_3") });
  expect(none.code).toBe(5);
  const test = (id: number, event: string) => `POST /webhooks/whk_${id}/test?event=${event}`;
  expect(world.calls("POST")).toEqual([test(1, "record.failed"), test(3, "sync.broken")]);
});
