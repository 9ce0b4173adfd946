import { createHmac } from "node:crypto";
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { addressPolicy, database, vault, webhooks } from "../../functions/services/composition.ts";
import { judgeUrl } from "../../lib/model/address.ts";
import { TABLES, type TableName } from "../../lib/model/resources.ts";
import { findWebhook, rotateSecret as replaceSecret } from "../../lib/webhooks/settings.ts";
import { auditedIn, auditPage } from "../support/clients/audit-page.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { startWebhookWorld, type WebhookWorld, type WorldWebhook } from "../support/worlds/webhook-world.ts";

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
beforeEach(() => world.begin());
afterAll(() => world.close());

const URL_HERE = "http://127.0.0.1:9/hooks";
const create = (body: unknown) => world.call("create-webhook", { body });
const at = (webhook: Pick<WorldWebhook, "id">) => ({ path: { webhook_id: webhook.id } });

describe("a webhook", () => {
  test("is created with a secret that is shown this once, and encrypted where it is kept", async () => {
    const webhook = await world.webhook({ answers: 200, events: ["record.failed", "sync.broken"] });
    await world.call("rotate-webhook-secret", at(webhook));
    await world.publish("sync.broken");
    await world.work();

    const shown = await Promise.all([world.call("list-webhooks"), world.call("read-webhook", at(webhook))]);
    const kept = await everything();

    expect(webhook.secret).toMatch(/^whsec_/);
    expect(shown[1].json?.data).toEqual({
      id: webhook.id,
      url: webhook.receiver.url,
      events: ["sync.broken", "record.failed"],
      description: "",
      active: true,
      failing_since: null,
      given_up: false,
      previous_secret_valid_until: world.after(24 * 3600),
      created_at: world.after(0),
      updated_at: world.after(0),
    });
    expect(shown[0].json?.data).toEqual([shown[1].json?.data]);
    for (const { text } of shown) expect(text).not.toContain("whsec_");
    expect(kept).toContain(webhook.id);
    expect(kept).not.toContain(webhook.secret);
    expect(kept).not.toContain("whsec_");
    await world.cloud.clock.advance({ days: 1 });
    expect(dataOf(await world.call("read-webhook", at(webhook)))).toMatchObject({ previous_secret_valid_until: null });
  });

  test.each([
    [{ events: ["sync.broken"] }, "body.url"],
    [{ url: "not a URL", events: ["sync.broken"] }, "body.url"],
    [{ url: "http://169.254.169.254/latest/", events: ["sync.broken"] }, "body.url"],
    [{ url: "http://user:password@example.com/", events: ["sync.broken"] }, "body.url"],
    [{ url: "ftp://example.com/", events: ["sync.broken"] }, "body.url"],
    [{ url: `http://example.com/${"x".repeat(2048)}`, events: ["sync.broken"] }, "body.url"],
    [{ url: URL_HERE, events: [] }, "body.events"],
    [{ url: URL_HERE, events: ["sync.exploded"] }, "body.events[0]"],
    [{ url: URL_HERE, events: ["sync.broken"], description: "x".repeat(256) }, "body.description"],
    [{ url: URL_HERE, events: ["sync.broken"], active: "false" }, "body.active"],
    [{ url: URL_HERE, events: ["sync.broken"], secret: "whsec_mine" }, "body"],
    [[], "body"],
  ])("with %j is refused, naming %s", async (body, path) => {
    const answer = await create(body);

    expect(answer.status).toBe(400);
    expect(answer.json?.error).toMatchObject({ code: "VALIDATION_ERROR", details: [{ path }] });
    expect(answer.json?.error?.details?.[0]?.message).not.toBe("Invalid input");
    expect((await world.call("list-webhooks")).json?.data).toEqual([]);
    expect((await auditPage(webhookEntries(), { limit: 1, offset: 0 })).total).toBe(0);
  });

  test("can't be this API itself, neither at first nor later, nor while it is paused", async () => {
    const webhook = await world.webhook({ answers: 200 });
    const url = "https://api.example.com/dev/hooks";

    const created = await create({ url, events: ["sync.broken"] });
    const changed = await world.call("change-webhook", { ...at(webhook), body: { url } });
    await world.call("change-webhook", { ...at(webhook), body: { active: false } });
    const paused = await world.call("change-webhook", { ...at(webhook), body: { url } });

    for (const { status, json } of [created, changed, paused]) {
      expect(status).toBe(400);
      expect(json?.error?.message).toContain("points to this API itself");
    }
  });

  test("changes what the caller names and keeps the rest", async () => {
    const webhook = await world.webhook({ answers: 200, events: ["sync.broken"] });
    const body = { events: ["record.failed", "sync.broken", "record.failed"], description: "the pager" };

    const answer = await world.call("change-webhook", { ...at(webhook), body });

    const kept = { url: webhook.receiver.url, active: true };
    expect(answer.json?.data).toMatchObject({ ...body, events: ["sync.broken", "record.failed"], ...kept });
    const emptied = await world.call("change-webhook", { ...at(webhook), body: { description: "" } });
    expect(emptied.json?.data).toMatchObject({ description: "", events: ["sync.broken", "record.failed"] });
  });

  test.each([
    [{}, "body"],
    [{ secret: "x", active: true }, "body"],
    [{ url: "http://192.168.0.1/" }, "body.url"],
  ])("can't be changed by %j", async (body, path) => {
    const webhook = await world.webhook({ answers: 200 });

    const answer = await world.call("change-webhook", { ...at(webhook), body });

    expect(answer.json?.error).toMatchObject({ code: "VALIDATION_ERROR", details: [{ path }] });
  });

  test("that was changed by another user meanwhile is not overwritten", async () => {
    const { id } = await world.webhook({ answers: 200 });
    const stale = await webhooks().read(world.workspace().id, id);
    if (stale === null) throw new Error("the webhook is gone");
    const entry = { workspaceId: stale.workspaceId, actor: "a@example.com", resourceId: id, detail: {} };
    const audit = { ...entry, id: "aud_1", action: "webhook.updated", createdAt: new Date() } as const;
    const change = (description: string) =>
      webhooks().change({ ...stale, description, version: stale.version + 1 }, audit);

    const first = await change("first");
    const second = await change("second");

    expect([first, second]).toEqual([true, false]);
    expect((await webhooks().read(stale.workspaceId, id))?.description).toBe("first");
  });

  test("is one of at most fifty", async () => {
    for (let made = 0; made < 50; made += 1)
      expect((await create({ url: URL_HERE, events: ["sync.broken"] })).status).toBe(200);

    const answer = await create({ url: URL_HERE, events: ["sync.broken"] });

    expect(answer.status).toBe(409);
    expect(answer.json?.error?.code).toBe("CONFLICT");
  });
});

test.each([undefined, "", "drill", "prod", "PROD", "Dev", "dev ", "staging", "test"])(
  "what is not the stage dev is production: %j",
  (stage) => {
    onTestFinished(() => {
      process.env["STAGE"] = "dev";
    });
    if (stage === undefined) delete process.env["STAGE"];
    else process.env["STAGE"] = stage;

    const policy = addressPolicy();

    expect(policy).toMatchObject({ schemes: ["https:"], ports: [443], loopback: false });
    expect(judgeUrl("http://example.com/", policy).refused).toBe("must begin with https://");
    expect(judgeUrl("https://example.com:8443/", policy).refused).not.toBeNull();
    expect(judgeUrl("https://localhost/", policy).refused).toBe("points to a loopback address");
  },
);

describe("rotation", () => {
  const rotate = (webhook: WorldWebhook, overlap?: string) =>
    world.call("rotate-webhook-secret", {
      ...at(webhook),
      ...(overlap === undefined ? {} : { query: { overlap_seconds: overlap } }),
    });

  test("may be repeated while the old secrets sign, newest first, five times; without overlap it ends them at once", async () => {
    const webhook = await world.webhook({ answers: 200 });
    const answers = [await rotate(webhook), await rotate(webhook)];
    await world.publish("sync.broken");
    await world.work();
    for (let turn = 0; turn < 4; turn += 1) answers.push(await rotate(webhook));
    const other = await world.webhook({ answers: 200 });
    await rotate(other, "0");
    await world.publish("sync.broken");
    await world.work();
    const [twice, five] = webhook.receiver.received;
    const secrets = answers.map(({ json }) => (json?.data as { secret: string } | undefined)?.secret ?? "");
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 409]);
    const older = String(twice?.headers["x-bridge-signature-previous"]).split(", ");
    expect(older).toEqual([hmac(secrets[0] ?? "", twice?.body), hmac(webhook.secret, twice?.body)]);
    expect(five?.headers["x-bridge-signature"]).toBe(hmac(secrets[4] ?? "", five?.body));
    expect(String(five?.headers["webhook-signature"]).split(" ")).toHaveLength(6);
    expect(other.receiver.received[0]?.headers).not.toHaveProperty("x-bridge-signature-previous");
  });

  test("by three that have read the same webhook gives one of them a secret, and the others a conflict", async () => {
    const webhook = await world.webhook({ answers: 200 });

    const read = await findWebhook(webhooks(), world.workspace().id, webhook.id);
    const services = { webhooks: webhooks(), vault: vault() };
    const by = { actor: "a user", at: new Date(world.after(0)) };

    const answers = await Promise.allSettled(
      [3600, 0, 60].map((overlap) => replaceSecret(services, read, overlap, by)),
    );
    await world.publish("sync.broken");
    await world.work();

    const [won, ...others] = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.secret] : []));
    expect(others).toEqual([]);
    expect(answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []))).toMatchObject([
      { code: "CONFLICT" },
      { code: "CONFLICT" },
    ]);
    expect(signatureOf(webhook)).toBe(hmac(won ?? "", webhook.receiver.received[0]?.body));
  });

  test.each(["-1", "1.5", "604801"])("with an overlap of %j is refused", async (overlap) => {
    const webhook = await world.webhook({ answers: 200 });

    const answer = await rotate(webhook, overlap);

    expect(answer.json?.error).toMatchObject({ code: "VALIDATION_ERROR", details: [{ path: "overlap_seconds" }] });
    await world.publish("sync.broken");
    await world.work();
    expect(signatureOf(webhook)).toBe(hmac(webhook.secret, webhook.receiver.received[0]?.body));
    expect(webhook.receiver.received[0]?.headers).not.toHaveProperty("x-bridge-signature-previous");
  });
});

const signatureOf = (webhook: WorldWebhook) => webhook.receiver.received[0]?.headers["x-bridge-signature"];
const hmac = (secret: string, body = "") => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
const webhookEntries = () => ({ workspaceId: world.workspace().id, actor: null, action: "webhook.created" });

test("a test event reaches this webhook alone, whatever it subscribed to, marked as a test", async () => {
  const webhook = await world.webhook({ answers: 200, events: ["record.failed"] });
  const other = await world.webhook({ answers: 200 });

  const answer = await world.call("test-webhook", { ...at(webhook), query: { event: "sync.broken" } });
  await world.work();

  const [received] = webhook.receiver.received;
  expect(answer.json?.data).toMatchObject({ queued: true, event_id: received?.headers["webhook-id"] });
  const data = { test: true, reason: "salesforce_unavailable" };
  expect(JSON.parse(received?.body ?? "")).toMatchObject({ event: "sync.broken", data });
  expect(other.receiver.received).toHaveLength(0);
});

test("deliveries come newest first, in pages of at most 200, and are gone after thirty days", async () => {
  const webhook = await world.webhook({ answers: 204 });
  for (let published = 0; published < 5; published += 1) {
    await world.publish("record.failed");
    await world.pass({ seconds: 10 });
  }

  const page = (query: Record<string, string>) => world.call("list-deliveries", { ...at(webhook), query });
  const all = await page({});
  const middle = await page({ limit: "2", offset: "1" });
  const beyond = await page({ limit: "1000", offset: "7" });
  const behind = await page({ before_id: dataOf<{ id: string }[]>(all)[1]?.id ?? "", offset: "1", limit: "1" });
  await world.cloud.clock.advance({ days: 31 });

  const rows = all.json?.data as { delivered_at: string }[];
  expect(rows.map((row) => row.delivered_at)).toEqual([40, 30, 20, 10, 0].map(world.after));
  expect(all.json?.meta).toEqual({ total: 5, limit: 50, offset: 0 });
  expect(middle.json).toMatchObject({ data: rows.slice(1, 3), meta: { total: 5, limit: 2, offset: 1 } });
  expect(beyond.json).toMatchObject({ data: [], meta: { total: 5, limit: 200, offset: 7 } });
  expect(behind.json).toMatchObject({ data: [rows[3]], meta: { total: 5, limit: 1, offset: 1 } });
  expect((await page({})).json).toMatchObject({ data: [], meta: { total: 0 } });
});

describe("who may do what", () => {
  test("a caller that may not change webhooks sees no path of their URLs, which can be a secret", async () => {
    const webhook = await world.webhook({ answers: 200 });
    const token = await world.workspace().tokenWith(["operate"]);

    const [listed] = await world.ask<{ url: string }[]>("list-webhooks", { token });
    const one = await world.ask<{ url: string }>("read-webhook", { ...at(webhook), token });
    const own = await world.ask<{ url: string }>("read-webhook", at(webhook));

    const { origin, href } = new URL(webhook.receiver.url);
    expect([listed?.url, one.url, own.url]).toEqual([`${origin}/…`, `${origin}/…`, href]);
  });

  test("everything that changes something is in the audit log with who did it", async () => {
    const webhook = await world.webhook({ answers: 200, events: ["record.failed"] });
    await world.call("change-webhook", { ...at(webhook), body: { description: "x" } });
    await world.call("rotate-webhook-secret", at(webhook));
    await world.call("test-webhook", at(webhook));
    const [first] = await world.ask<{ id: string }[]>("list-deliveries", at(webhook));
    await world.call("retry-delivery", {
      path: { webhook_id: webhook.id, delivery_id: first?.id ?? "" },
    });
    await world.call("delete-webhook", at(webhook));

    const { entries } = await auditedIn(world.workspace().id, null, 50);

    const ours = entries.filter(({ resourceId }) => resourceId === webhook.id).reverse();
    expect(ours.map(({ action }) => action)).toEqual([
      "webhook.created",
      "webhook.updated",
      "webhook.secret_rotated",
      "webhook.tested",
      "webhook.delivery_retried",
      "webhook.deleted",
    ]);
    const [delivery, { host, pathname }] = [{ delivery_id: first?.id }, new URL(webhook.receiver.url)];
    expect(ours.map(({ detail }) => detail)).toMatchObject([
      ...[{ host, events: expect.any(Array) }, { host, changed: ["description"] }, { overlap_seconds: 86_400 }],
      ...[{ ...delivery, event: "record.failed" }, delivery, { host }],
    ]);
    expect(JSON.stringify(ours)).not.toContain(pathname);
    expect(new Set(ours.map(({ actor }) => actor))).toEqual(new Set(["owner@example.com"]));
  });
});

/** All items of all tables, as text. */
async function everything(): Promise<string> {
  const tables = Object.keys(TABLES) as TableName[];
  const pages = await Promise.all(
    tables.map((name) => world.cloud.clients.documents.send(new ScanCommand({ TableName: database().table(name) }))),
  );
  return JSON.stringify(pages.map(({ Items }) => Items));
}
