import type { SQSEvent } from "aws-lambda";
import { beforeEach, expect, test } from "vitest";
import { handler as listMappings } from "../../../functions/api/list-mappings.ts";
import { handler as pollNow } from "../../../functions/api/poll-now.ts";
import { handler as readFleet } from "../../../functions/api/read-fleet.ts";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { handler as switchPause } from "../../../functions/api/switch-pause.ts";
import { auditLog, counters, now, pepper, tokens, workspaces } from "../../../functions/services/composition.ts";
import { handler as sweepMinute } from "../../../functions/workers/sweep-minute.ts";
import { ensureDeployment } from "../../../lib/access/bootstrap.ts";
import { createToken } from "../../../lib/access/create-token.ts";
import type { RouteName } from "../../../lib/http/routes.ts";
import { metricsText } from "../../../lib/metrics/scrape.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { call } from "../../support/clients/call.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { createTestWorkspace } from "../../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

const FIELDS = ["Email", "External_Id__c", "LastName"];
const ACTOR = "ada@example.com";

let cloud: BridgeCloud;
let world: SyncWorld;
let token: string;
aWorldForEachTest((made) => {
  ({ cloud, world } = made);
});
beforeEach(async () => {
  for (const queue of ["provisioning", "loads", "events"] as const) await cloud.take(queue); // those of the test before
  token = await tokenOf(world.workspaceId, ACTOR);
});

const mapContact = (bridge: Record<string, unknown> = {}): Promise<Mapping> =>
  mapped(world, { object: "Contact", fields: FIELDS, upsertField: "External_Id__c", bridge });

async function tokenOf(workspaceId: string, owner: string): Promise<string> {
  const by = { workspaceId, name: "test", owner, actor: owner, validUntil: null, at: now() };
  return (await createToken({ tokens: tokens(), pepper: pepper() }, { ...by, scopes: ["admin"] })).token;
}

async function operatorToken(): Promise<string> {
  const owner = "oncall@example.com";
  await ensureDeployment(workspaces(), owner, now());
  return tokenOf("deployment", owner);
}

type Handler = Parameters<typeof call>[0];

const ask = async (
  handler: Handler,
  route: RouteName,
  { body, mapping }: { body?: unknown; mapping?: Mapping } = {},
) => {
  const path = { workspace_id: world.workspaceId, ...(mapping && { mapping_id: mapping.id }) };
  return call(handler, route, { token, path, ...(body !== undefined && { body }) });
};
const pause = (reason?: string) =>
  ask(switchPause, "switch-pause", { body: { paused: true, ...(reason && { reason }) } });
const resume = () => ask(switchPause, "switch-pause", { body: { paused: false } });
const sweep = () => sweepMinute({ Records: [{ messageId: "tick", body: "{}" }] } as SQSEvent);

/** What was announced of mappings since it was asked last: event, object and who did it. */
async function announced(): Promise<unknown> {
  const wakeUps = (await cloud.take("events")) as { readonly event_id: string }[];
  const events = await world.events([...new Set(wakeUps.map(({ event_id }) => event_id))]);
  return events.map(({ event, detail }) => [event, detail["sf_object"], detail["actor"]]);
}

async function audited(action: string): Promise<unknown> {
  const found: unknown[] = [];
  const filter = { workspaceId: world.workspaceId, actor: null, action };
  for await (const entries of await auditLog().batches(filter, { limit: null, offset: 0 }))
    found.push(...entries.map(({ actor, detail }) => ({ actor, detail })));
  return found;
}

const states = () =>
  world.sql("SELECT state, count(*)::int AS n FROM salesforce._trigger_log GROUP BY state ORDER BY state");
const contacts = async () => (await world.soql("SELECT count(Id) n FROM Contact"))[0]?.["n"];
const rows = async () => (await world.sql("SELECT count(*)::int AS n FROM salesforce.contact"))[0]?.["n"];

test("a paused workspace moves nothing, says so and why, and sends and pulls everything once it is resumed", async () => {
  const contact = await mapContact();
  await world.cycle(contact);
  await announced();

  const answer = await pause("the org moves");
  await world.pass(3);
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Ours ' || n FROM generate_series(1, 250) n");
  await world.createRecords(
    "Contact",
    Array.from({ length: 30 }, (_, n) => ({ LastName: `Theirs ${n}` })),
  );
  const calls: string[] = [];
  world.interfere((name) => void calls.push(name));
  await world.cycle(contact, "beat");
  await world.cycle(contact, "poll");
  await world.work(contact, "sweep");
  world.interfere(null);

  expect(answer).toMatchObject({ status: 200, json: { data: { pause: { by: ACTOR, reason: "the org moves" } } } });
  expect(calls).toEqual([]); // neither the database nor the org is asked
  expect([await states(), await rows()]).toEqual([[{ state: "NEW", n: 250 }], 250]);
  expect((await ask(listMappings, "list-mappings")).json?.data).toMatchObject([{ id: contact.id, active: true }]);
  expect((await ask(readHealth, "read-health")).json?.data).toMatchObject({
    sync: { status: "paused", pause: expect.stringMatching(/by ada@example.com \(the org moves\); .*bridge resume/) },
  });
  expect(await ask(pollNow, "poll-now", { mapping: contact })).toMatchObject({
    status: 409,
    json: { error: { code: "CONFLICT", message: expect.stringMatching(/the org moves.*bridge resume/) } },
  });
  await pause("again"); // what is so already stays as it is
  expect(await announced()).toEqual([["mapping.deactivated", "Contact", ACTOR]]);
  expect(await audited("workspace.paused")).toEqual([{ actor: ACTOR, detail: { reason: "the org moves" } }]);
  const figure = `bridge_workspace_paused{workspace_id="${world.workspaceId}"}`;
  expect(metricsText(await counters().readAll())).toContain(`${figure} 1`);

  expect(await resume()).toMatchObject({ status: 200, json: { data: { pause: null } } });
  await resume();
  await world.pass(3);
  for (let cycles = 0; cycles < 3; cycles++) await world.cycle(contact);

  expect(await announced()).toEqual([["mapping.activated", "Contact", ACTOR]]);
  expect(await audited("workspace.resumed")).toEqual([{ actor: ACTOR, detail: { reason: null } }]);
  expect([await states(), await contacts(), await rows()]).toEqual([[{ state: "SUCCESS", n: 250 }], 280, 280]);
  expect(metricsText(await counters().readAll())).toContain(`${figure} 0`);
});

test("a pause in mid push ends it at the next call; what was sent counts, and the rest goes once after it", async () => {
  const contact = await mapContact();
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Crowd ' || n FROM generate_series(1, 500) n");
  let saves = 0;
  world.interfere(async (name) => {
    if (name !== "org.write" || ++saves !== 2) return;
    world.interfere(null);
    await pause();
    await world.pass(3);
  });

  await world.cycle(contact);

  const sent = Number(await contacts());
  expect(await states()).toEqual([
    { state: "NEW", n: 500 - sent },
    { state: "SUCCESS", n: sent },
  ]);
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(500);
  await resume();
  await world.pass(3);
  await world.cycle(contact);
  expect([await contacts(), await states()]).toEqual([500, [{ state: "SUCCESS", n: 500 }]]);
});

longTest(
  "a pause in the middle of a first load holds it between two pages, and the cycles after it ask for the rest",
  async () => {
    await world.createRecords(
      "Contact",
      Array.from({ length: 2100 }, (_, n) => ({ LastName: `Person ${n}` })),
    );
    world.interfere(async (name) => {
      if (name !== "store.apply") return;
      world.interfere(null);
      await pause();
      await world.pass(3);
    });
    const contact = await mapContact();
    const loaded = Number(await rows());
    const requests = await world.requests();
    const again = (await cloud.take("loads")) as { kind: "load" }[];
    for (const { kind } of again) await world.work(contact, kind);

    expect([loaded > 0, loaded < 2100, await world.requests()]).toEqual([true, true, requests]);

    await resume();
    await world.pass(3);
    await world.cycle(contact);
    const asked = (await cloud.take("loads")) as { mapping_id: string; kind: "load" }[];
    expect(asked).toMatchObject([{ mapping_id: contact.id, kind: "load" }]);
    await world.work(contact, "load");
    expect([await rows(), await states()]).toEqual([2100, []]);
  },
);

longTest("the deployment's pause is kept apart: a workspace that was paused before stays so when it ends", async () => {
  const contact = await mapContact();
  await world.cycle(contact);
  await announced();
  const other = await createTestWorkspace();
  const operator = await operatorToken();
  const askOperators = (handler: Handler, route: RouteName, body?: unknown) =>
    call(handler, route, {
      token: operator,
      path: { workspace_id: "deployment" },
      ...(body !== undefined && { body }),
    });
  const fleet = async () => {
    const rowsOfAll = (await askOperators(readFleet, "read-fleet")).json?.data as Record<string, unknown>[];
    return [world.workspaceId, other.id].map((id) => rowsOfAll.find((row) => row["id"] === id));
  };
  const inOther = { token: other.token, path: { workspace_id: other.id } };
  await call(switchPause, "switch-pause", { ...inOther, body: { paused: true } });

  const pausedAt = now().toISOString();
  await askOperators(switchPause, "switch-pause", { paused: true, reason: "region" });
  await world.pass(3);
  await sweep();
  await sweep();

  const requests = await world.requests();
  await world.cycle(contact);
  expect(await world.requests()).toBe(requests);
  expect(await announced()).toEqual([["mapping.deactivated", "Contact", "oncall@example.com"]]);
  expect(await audited("workspace.paused")).toEqual([
    { actor: "oncall@example.com", detail: { reason: "region", scope: "deployment", since: pausedAt } },
  ]);
  expect((await resume()).json?.data).toMatchObject({ pause: { scope: "deployment", by: "oncall@example.com" } });
  expect(await fleet()).toMatchObject([
    { connected: true, pause: { scope: "deployment", by: "oncall@example.com", reason: "region" } },
    { connected: false, pause: { scope: "workspace", by: "owner@example.com", reason: null } },
  ]);

  await askOperators(switchPause, "switch-pause", { paused: false });
  await world.pass(3);
  await sweep();

  expect(await announced()).toEqual([["mapping.activated", "Contact", "oncall@example.com"]]);
  const requestsNow = await world.requests();
  await world.cycle(contact);
  expect(await world.requests()).toBeGreaterThan(requestsNow);
  expect(await fleet()).toMatchObject([{ pause: null }, { pause: { scope: "workspace" } }]);
});

longTest(
  "a pause whose announcement died half-way is announced again under the same names, so webhooks receive it once",
  async () => {
    await mapContact();
    await cloud.take("events");
    const named = async () => ((await cloud.take("events")) as { event_id: string }[]).map(({ event_id }) => event_id);
    await pause();
    const first = await named();

    await counters().setPaused(world.workspaceId, null); // as if the process had died before
    await sweep();

    expect(first).toHaveLength(1);
    expect(await named()).toEqual(first);
    await sweep();
    expect(await named()).toEqual([]);
  },
);

test("the operators' workspace has no mappings, and no other has the fleet", async () => {
  const operator = await operatorToken();
  const path = { workspace_id: "deployment" };

  expect(await call(listMappings, "list-mappings", { token: operator, path })).toMatchObject({ status: 404 });
  expect(await ask(readFleet, "read-fleet")).toMatchObject({ status: 404 });
  expect(await call(readFleet, "read-fleet", { token, path })).toMatchObject({ status: 403 });
  expect((await workspaces().list()).map(({ id }) => id)).not.toContain("deployment");
});

test("a comparison of both sides that a pause has missed is asked for when it ends", async () => {
  const contact = await mapContact();
  await pause();
  await world.pass(2 * 86_400);
  await cloud.take("loads");

  await resume();
  await world.pass(3);

  expect(await cloud.take("loads")).toMatchObject([{ mapping_id: contact.id, kind: "sweep" }]);
});
