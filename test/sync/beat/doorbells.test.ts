import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { handler as makeDoorbell } from "../../../functions/api/make-doorbell.ts";
import { handler as nudge } from "../../../functions/api/nudge.ts";
import { handler as readDoorbell } from "../../../functions/api/read-doorbell.ts";
import { handler as removeDoorbell } from "../../../functions/api/remove-doorbell.ts";
import { handler as ring } from "../../../functions/api/ring.ts";
import { handler as updateMapping } from "../../../functions/api/update-mapping.ts";
import { database } from "../../../functions/services/composition.ts";
import { schedules } from "../../../functions/services/provisioning-services.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { recorded } from "../../recorded/recorded.ts";
import { elementsIn } from "../../recorded/xml-elements.ts";
import { call, type Request } from "../../support/clients/call.ts";
import { dataOf } from "../../support/clients/data-of.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { createTestWorkspace } from "../../support/worlds/workspace.ts";
import { type Asking, anIdleContactForEachTest } from "../../support/worlds/worlds.ts";

let cloud: Asking["cloud"];
let world: Asking["world"];
let token: string;
let admin: string;
let contact: Mapping;
let runWhatWasAskedFor: Asking["runWhatWasAskedFor"];
anIdleContactForEachTest((made) => {
  ({ cloud, world, token, admin, contact, runWhatWasAskedFor } = made);
});

const ask = (query: Readonly<Record<string, string>> = {}) =>
  call(nudge, "nudge", { token, query, path: { workspace_id: world.workspaceId } });

test("a nudge sends what was committed, and asks Salesforce for nothing; without anything to send it costs no call and no cycle", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Ada')");
  const before = await world.calls();

  const answer = await ask();
  await runWhatWasAskedFor();

  expect(answer.json?.data).toEqual({ mappings: 1 });
  expect(await world.soql("SELECT LastName FROM Contact")).toEqual([{ LastName: "Ada" }]);
  expect((await world.calls()) - before).toBe(1); // the save
  const cycles = world.figures.length;
  await world.pass(2);
  await ask({ table: "contact" });
  await runWhatWasAskedFor();
  expect([(await world.calls()) - before, world.figures.length]).toEqual([1, cycles]);
  expect((await ask({ table: "contacts" })).json?.error).toMatchObject({
    code: "NOT_FOUND",
    message: expect.stringMatching(/contacts; tables that are sent: contact$/),
  });
});

test("nudges that meet a running cycle come back once a second, as one", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Ada')");
  await world.sql("UPDATE salesforce._bridge_state SET lease_until = clock_timestamp() + interval '1 hour'");
  let cycles = 0;
  for (let seconds = 0; seconds < 6; seconds += 1) {
    await ask();
    await world.pass(1);
    cycles += await runWhatWasAskedFor();
  }
  await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
  await world.pass(2);
  await runWhatWasAskedFor();

  expect(cycles).toBeLessThanOrEqual(6);
  expect(await world.soql("SELECT LastName FROM Contact")).toEqual([{ LastName: "Ada" }]);
});

/** Where the deployment says that it is reached. */
const ADDRESS = "https://bridge.example.com";
beforeAll(() => {
  process.env["BASE_URL"] = ADDRESS;
});
afterAll(() => {
  delete process.env["BASE_URL"];
});

async function urlOf(query: Readonly<Record<string, string>> = {}): Promise<URL> {
  const made = await call(makeDoorbell, "make-doorbell", {
    token: admin,
    query,
    path: { workspace_id: world.workspaceId },
  });
  return new URL(dataOf<{ readonly url: string }>(made).url);
}

async function everythingKept(): Promise<unknown> {
  const scans = (["workspaces", "engine", "audit"] as const).map(async (name) => {
    const { Items } = await database().client.send(new ScanCommand({ TableName: database().table(name) }));
    return Items;
  });
  return await Promise.all(scans);
}

/** A POST to the doorbell's URL. */
function ringAt({ pathname, searchParams }: URL, more: Request = {}) {
  const [ring_token = "", workspace_id = ""] = pathname.split("/").toReversed();
  return call(ring, "ring", { path: { workspace_id, ring_token }, query: Object.fromEntries(searchParams), ...more });
}

test("the doorbell is not made where Salesforce cannot reach the deployment, which says what to do", async () => {
  delete process.env["BASE_URL"];
  onTestFinished(() => void Object.assign(process.env, { BASE_URL: ADDRESS }));
  const answer = await call(makeDoorbell, "make-doorbell", {
    token: admin,
    path: { workspace_id: world.workspaceId },
    headers: { Host: "attacker.example.com" },
  });

  expect(answer.json?.error).toEqual({
    code: "CONFLICT",
    message: expect.stringMatching(/no address of its own: deploy it with a domain/),
  });
});

describe("the doorbell", () => {
  let url: URL;
  beforeEach(async () => {
    url = await urlOf();
    await world.map({ object: "Contact", fields: ["Email", "LastName"], notify: true });
    await world.cycle(contact);
    await cloud.take("cycles");
    await world.pass(3); // a ring pulls at once when the last pull is two seconds old
  });

  /** Beats of ten seconds; gives the calls that they cost. */
  async function beats(minutes: number): Promise<number> {
    const before = await world.calls();
    for (let slot = 0; slot < minutes * 6; slot += 1) {
      await world.pass(10);
      await world.beat([contact]);
    }
    return (await world.calls()) - before;
  }

  const bell = async () =>
    dataOf<Record<string, unknown>>(
      await call(readDoorbell, "read-doorbell", { token, path: { workspace_id: world.workspaceId } }),
    );

  const rows = () => world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname");

  /** The elements of an envelope, without the space between them. */
  const printed = (envelope: string) => elementsIn(envelope.replace(/>\s+</g, "><"));

  test("rings with an outbound message, which it acknowledges, and what has changed is pulled at once", async () => {
    await world.colleague("POST", "/sobjects/Contact", { LastName: "Lovelace" });

    const [message, acknowledgement] = recorded("outbound");
    const answer = await ringAt(url, { body: message?.text ?? "" });
    await runWhatWasAskedFor();

    expect(answer.status).toBe(200);
    expect(answer.headers["Content-Type"]).toBe("text/xml");
    expect(printed(answer.text)).toEqual(printed(acknowledgement?.text ?? ""));
    expect(await rows()).toEqual([{ lastname: "Lovelace" }]);
    await world.services.engine.noteMissed(world.workspaceId, contact.id, new Date(cloud.clock.now()));
    await world.pass(60);
    await ringAt(url);
    expect(await bell()).toMatchObject({ mappings: [{ state: "alive" }] });
  });

  test("that rings while Salesforce or the database is away is pulled for ten seconds later", async () => {
    const away = [
      ["Salesforce", () => world.fault({ kind: "unavailable", times: 0 }), () => world.control("DELETE", "/faults")],
      ["the database", () => world.databaseGoesAway(), () => world.databaseComesBack()],
    ] as const;
    for (const [lastname, goesAway, comesBack] of away) {
      const known = await rows();
      await world.colleague("POST", "/sobjects/Contact", { LastName: lastname });
      await goesAway();
      await ringAt(url);
      await runWhatWasAskedFor();
      await comesBack();

      await world.pass(9);
      await runWhatWasAskedFor();
      const before = await rows();
      await world.pass(1);
      await runWhatWasAskedFor();

      expect([before, await rows()]).toEqual([known, [...known, { lastname }]]);
      await world.pass(3);
    }
  });

  test("wakes only the object that its URL names, and only where the mapping listens", async () => {
    await ringAt(url, { query: { object: "Account" } });
    const ofOther = await runWhatWasAskedFor();
    await ringAt(url, { query: { object: "contact" } });
    const ofOwn = await runWhatWasAskedFor();
    await world.map({ object: "Contact", fields: ["Email", "LastName"], notify: false });
    await world.pass(5);
    await ringAt(url);
    const ofDeaf = await runWhatWasAskedFor();

    expect([ofOther, ofOwn, ofDeaf]).toEqual([0, 1, 0]);
  });

  test("rings nowhere with a wrong token, which counts against its caller alone", async () => {
    const wrong = new URL(`${url.href.slice(0, -1)}${url.href.endsWith("a") ? "b" : "a"}`);
    const refused = await Promise.all(Array.from({ length: 301 }, () => ringAt(wrong, { address: "192.0.2.7" })));
    const known = await ringAt(url, { address: "192.0.2.7" });

    expect(refused.filter(({ status }) => status === 404)).toHaveLength(300);
    expect(refused.filter(({ status }) => status === 429)).toHaveLength(1);
    expect(known.status).toBe(200);
  });

  test("opens nothing else, is stored nowhere, and after a rotation rings for one more day", async () => {
    for await (const { mappingId } of schedules().list()) await schedules().remove(mappingId); // of the day that passes no minute counts
    const other = await createTestWorkspace();
    const elsewhere = new URL(url.href.replace(world.workspaceId, other.id));
    const old = url.pathname.split("/").at(-1) ?? "";
    const asToken = await call(nudge, "nudge", { token: old, path: { workspace_id: world.workspaceId } });
    const same = await urlOf();
    const next = await urlOf({ rotate: "true" });

    await world.pass(4);
    expect((await ringAt(elsewhere)).status).toBe(404);
    const both = [(await ringAt(url)).status, (await ringAt(next)).status];
    await world.pass(86_400);
    const later = [(await ringAt(url)).status, (await ringAt(next)).status];
    await call(removeDoorbell, "remove-doorbell", { token: admin, path: { workspace_id: world.workspaceId } });
    await world.pass(4);
    const removed = (await ringAt(next)).status;
    const again = await urlOf();

    expect(url.pathname).toMatch(/^\/ring\/ws_\w+\/ring_[0-9A-Za-z]{43}$/);
    expect(asToken.status).toBe(401);
    expect([same.href, next.href === url.href, again.href === next.href]).toEqual([url.href, false, false]);
    expect([both, later, removed]).toEqual([[200, 200], [404, 200], 404]);
    expect(JSON.stringify(await everythingKept())).not.toContain(old);
  });

  longTest(
    "that misses a change is noticed within five minutes, and counts as alive again with its next ring",
    async () => {
      await ringAt(url);
      await runWhatWasAskedFor();
      const alive = await beats(10);
      await world.colleague("POST", "/sobjects/Contact", { LastName: "First" });
      await beats(5);
      const found = await rows();
      const state = await bell();
      await world.colleague("POST", "/sobjects/Contact", { LastName: "Second" });
      await beats(1);
      const soon = await rows();
      const calls = await beats(5);
      await ringAt(url);
      await runWhatWasAskedFor();
      await beats(1);
      const again = await beats(10);

      expect(found).toEqual([{ lastname: "First" }]);
      expect(state).toMatchObject({ mappings: [{ state: "dead", since: expect.any(String) }] });
      expect(soon).toEqual([{ lastname: "First" }, { lastname: "Second" }]);
      expect(calls).toBeGreaterThanOrEqual(29);
      expect([alive <= 4, again <= 4]).toEqual([true, true]);
      expect(world.log.filter(({ event }) => event === "doorbell")).toHaveLength(1);
    },
  );

  test("is switched per mapping, by the API as well, which says what that costs", async () => {
    const path = { workspace_id: world.workspaceId, mapping_id: contact.id };
    const change = async (sf_notify_enabled: boolean) =>
      dataOf(await call(updateMapping, "update-mapping", { token: admin, path, body: { sf_notify_enabled } }));
    await ringAt(url);

    expect(await change(false)).toMatchObject({ sf_notify_enabled: false, calls_per_day: 8_643 });
    expect(await bell()).toMatchObject({ mappings: [{ state: "off" }] });
    expect(await change(true)).toMatchObject({ sf_notify_enabled: true, calls_per_day: 363 });
  });
});
