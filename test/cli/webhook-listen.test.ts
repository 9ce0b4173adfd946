import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
});
afterEach(() => world.close());

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const DELIVERY = { status: "failed", response_code: null, delivered_at: null, next_retry_at: null };

/** A receiver on this machine. */
async function receiver() {
  const got: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    got.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(202).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  onTestFinished(() => void server.close());
  return { got, port: String((server.address() as AddressInfo).port) };
}

test("a webhook's new deliveries come to a port of this machine, once each and signed as the service signs", async () => {
  const { got, port } = await receiver();
  const stop = new AbortController();
  const page = (...ids: readonly number[]) =>
    world.answer(
      "GET /webhooks/whk_1/deliveries",
      ids.map((id) => ({ ...DELIVERY, id: `dlv_${id}`, event: id === 3 ? "sync.broken" : "record.failed" })),
    );
  const body = '{"event":"record.failed","id":"evt_2"}';
  for (const id of [2, 4]) {
    world.answer(`GET /webhooks/whk_1/deliveries/dlv_${id}`, {
      ...{ id: `dlv_${id}`, event: "record.failed", event_id: `evt_${id}`, request_body: body },
    });
  }
  page(1);
  const typed = ["webhook", "listen", "whk_1", "--forward", port, "--events", "record.failed", "--secret-file", "-"];
  let printed = "";
  const listening = world.line.run([...typed, "--json"], {
    stdin: SECRET,
    interrupted: stop.signal,
    onStderr: (text) => {
      printed += text;
    },
  });
  await expect.poll(() => printed, { timeout: 60_000 }).toContain("Waiting for deliveries");

  page(4, 3, 2, 1);
  await expect.poll(() => got.length, { timeout: 60_000 }).toBe(2);
  const looks = world.asked.length;
  await expect.poll(() => world.asked.length, { timeout: 60_000 }).toBeGreaterThan(looks);
  stop.abort();
  const { code, stdout } = await listening;

  expect(code).toBe(130);
  expect(got.map(({ headers }) => headers["x-bridge-delivery"])).toEqual(["dlv_2", "dlv_4"]);
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).code),
  ).toEqual([202, 202]);
  const headers = got[0]?.headers as Record<string, string>;
  expect(new Webhook(SECRET).verify(got[0]?.body ?? "", headers)).toEqual(JSON.parse(body));
  expect(headers["x-bridge-signature"]).toMatch(/^sha256=[0-9a-f]{64}$/);
});

test("a port on which nothing listens is reported for each delivery, and listening continues", async () => {
  const stop = new AbortController();
  world.answer("GET /webhooks/whk_1/deliveries", []);
  const lines: string[] = [];
  const listening = world.line.run(["webhook", "listen", "whk_1", "--forward", "http://127.0.0.1:1/"], {
    interrupted: stop.signal,
    onStdout: (text) => lines.push(text),
    onStderr: (text) => {
      if (!text.startsWith("Waiting")) return;
      world.answer("GET /webhooks/whk_1/deliveries", [{ ...DELIVERY, id: "dlv_9", event: "record.failed" }]);
    },
  });
  const one = { id: "dlv_9", event: "record.failed", event_id: "evt_9", request_body: "{}" };
  world.answer("GET /webhooks/whk_1/deliveries/dlv_9", one);

  await expect.poll(() => lines.length, { timeout: 60_000 }).toBe(1);
  stop.abort();

  expect(lines[0]).toContain("record.failed  dlv_9  no answer: ");
  expect((await listening).stderr).toMatch(/Signed with whsec_\S+, which is for this run alone/);
});

test("an event that never happened goes to every active webhook that receives its type, or to the one that is named", async () => {
  const webhook = { url: "https://example.com", failing_since: null, active: true, events: ["record.failed"] };
  world.answer("GET /webhooks", [
    { ...webhook, id: "whk_1" },
    { ...webhook, id: "whk_2", active: false },
    { ...webhook, id: "whk_3", events: ["sync.broken"] },
  ]);
  for (const id of [1, 3]) {
    world.answer(`POST /webhooks/whk_${id}/test`, { queued: true, delivery_id: `dlv_${id}`, event_id: "evt" });
  }

  const all = await world.line.json<readonly object[]>(["webhook", "trigger", "record.failed"]);
  const one = await world.line.run(["webhook", "trigger", "sync.broken", "whk_3"]);
  const none = await world.line.run(["webhook", "trigger", "mapping.activated"]);

  expect(all).toEqual([{ webhook_id: "whk_1", queued: true, delivery_id: "dlv_1", event_id: "evt" }]);
  expect(one.stdout).toContain("bridge webhook delivery whk_3 dlv_3");
  expect(none.code).toBe(5);
  expect(world.asked.filter(({ call }) => call.startsWith("POST")).map(({ call }) => call)).toEqual([
    "POST /webhooks/whk_1/test?event=record.failed",
    "POST /webhooks/whk_3/test?event=sync.broken",
  ]);
});

test("what is no port and no address is refused before anything is asked", async () => {
  const { code } = await world.line.run(["webhook", "listen", "whk_1", "--forward", "localhost"]);

  expect([code, world.asked.length]).toEqual([6, 0]);
});
