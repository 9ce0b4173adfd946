import { expect, test } from "vitest";
import { handler as listMappings } from "../../../functions/api/list-mappings.ts";
import { handler as pollNow } from "../../../functions/api/poll-now.ts";
import { handler as readFleet } from "../../../functions/api/read-fleet.ts";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { handler as switchPause } from "../../../functions/api/switch-pause.ts";
import { auditLog, counters, now, pepper, tokens, workspaces } from "../../../functions/services/composition.ts";
import { ensureDeployment } from "../../../lib/access/bootstrap.ts";
import { createToken } from "../../../lib/access/create-token.ts";
import type { RouteName } from "../../../lib/http/routes.ts";
import { metricsText } from "../../../lib/metrics/scrape.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { announcePauses, type PauseNeeds } from "../../../lib/sync/beat/pauses.ts";
import { missedComparisons } from "../../../lib/sync/beat/sweep-minute.ts";
import { call } from "../../support/clients/call.ts";
import { createTestWorkspace } from "../../support/worlds/workspace.ts";
import { eachInAWorld, numbered, world } from "../world.ts";

const ACTOR = "ada@example.com";

let token: string;
eachInAWorld(async () => {
  await world.mapContact(["Email", "External_Id__c", "LastName"], { upsertField: "External_Id__c" });
  await world.newEvents();
  token = await tokenOf(world.workspaceId, ACTOR);
});

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

/** What was announced of mappings since it was asked last: event, object and who did it. */
async function announced(): Promise<unknown> {
  return (await world.newEvents()).map(({ event, detail }) => [event, detail["sf_object"], detail["actor"]]);
}

async function audited(action: string): Promise<unknown> {
  const found: unknown[] = [];
  const filter = { workspaceId: world.workspaceId, actor: null, action };
  for await (const entries of await auditLog().batches(filter, { limit: null, offset: 0 }))
    found.push(...entries.map(({ actor, detail }) => ({ actor, detail })));
  return found;
}

const rows = async () => (await world.names()).length;

test("a paused workspace moves nothing, says so and why, and sends and pulls everything once it is resumed", async () => {
  await world.cycles();

  const answer = await pause("the org moves");
  await world.pass(3);
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Ours ' || n FROM generate_series(1, 250) n");
  await world.createRecords("Contact", numbered(30, "Theirs "));
  const calls: string[] = [];
  world.interfere((name) => void calls.push(name));
  await world.cycle(world.contact, "beat");
  await world.cycle(world.contact, "poll");
  await world.sweep();
  world.interfere(null);

  expect(answer).toMatchObject({ status: 200, json: { data: { pause: { by: ACTOR, reason: "the org moves" } } } });
  expect(calls).toEqual([]); // neither the database nor the org is asked
  expect([await world.countStates(), await rows()]).toEqual([{ NEW: 250 }, 250]);
  expect((await ask(listMappings, "list-mappings")).json?.data).toMatchObject([{ id: world.contact.id, active: true }]);
  expect((await ask(readHealth, "read-health")).json?.data).toMatchObject({
    sync: { status: "paused", pause: expect.stringMatching(/by ada@example.com \(the org moves\); .*bridge resume/) },
  });
  expect(await ask(pollNow, "poll-now", { mapping: world.contact })).toMatchObject({
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
  await world.cycles(3);

  expect(await announced()).toEqual([["mapping.activated", "Contact", ACTOR]]);
  expect(await audited("workspace.resumed")).toEqual([{ actor: ACTOR, detail: { reason: null } }]);
  expect([await world.countStates(), await world.countRecords(), await rows()]).toEqual([{ SUCCESS: 250 }, 280, 280]);
  expect(metricsText(await counters().readAll())).toContain(`${figure} 0`);

  const all = { token: await operatorToken(), path: { workspace_id: "deployment" } };
  await call(switchPause, "switch-pause", { ...all, body: { paused: true } });
  await world.pass(3);
  expect((await ask(pollNow, "poll-now", { mapping: world.contact })).status).toBe(409);
  expect((await resume()).json?.data).toMatchObject({ pause: { scope: "deployment" } });
  await call(switchPause, "switch-pause", { ...all, body: { paused: false } });
  await world.pass(3);
});

test("a pause in mid push ends it at the next call; what was sent counts, and the rest goes once after it", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Crowd ' || n FROM generate_series(1, 500) n");
  let saves = 0;
  world.interfere(async (name) => {
    if (name !== "org.write" || ++saves !== 2) return;
    world.interfere(null);
    await pause();
    await world.pass(3);
  });

  await world.cycles();

  const sent = Number(await world.countRecords());
  expect(await world.countStates()).toEqual({ NEW: 500 - sent, SUCCESS: sent });
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(500);
  await resume();
  await world.pass(3);
  await world.cycles();
  expect([await world.countRecords(), await world.countStates()]).toEqual([500, { SUCCESS: 500 }]);
});

test("the deployment's pause is kept apart: a workspace that was paused before stays so when it ends", async () => {
  await world.cycles();
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
  await world.sweepMinute();
  await world.sweepMinute();

  const requests = await world.requests();
  await world.cycles();
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
  await world.sweepMinute();

  expect(await announced()).toEqual([["mapping.activated", "Contact", "oncall@example.com"]]);
  const requestsNow = await world.requests();
  await world.cycles();
  expect(await world.requests()).toBeGreaterThan(requestsNow);
  expect(await fleet()).toMatchObject([{ pause: null }, { pause: { scope: "workspace" } }]);
});

test("a pause whose announcement died half-way is announced again under the same names, so webhooks receive it once", async () => {
  const named = async () =>
    ((await world.cloud.take("events")) as { event_id: string }[]).map(({ event_id }) => event_id);
  await pause();
  const first = await named();

  await counters().setPaused(world.workspaceId, null); // as if the process had died before
  await world.sweepMinute();

  expect(first).toHaveLength(1);
  expect(await named()).toEqual(first);
  await world.sweepMinute();
  expect(await named()).toEqual([]);
});

test("the operators' workspace has no mappings, and no other has the fleet", async () => {
  const operator = await operatorToken();
  const path = { workspace_id: "deployment" };

  expect(await call(listMappings, "list-mappings", { token: operator, path })).toMatchObject({ status: 404 });
  expect(await ask(readFleet, "read-fleet")).toMatchObject({ status: 404 });
  expect(await call(readFleet, "read-fleet", { token, path })).toMatchObject({ status: 403 });
  expect((await workspaces().list()).map(({ id }) => id)).not.toContain("deployment");
});

test("a comparison of both sides that a pause has missed is asked for when it ends", async () => {
  await pause();
  await world.pass(2 * 86_400);
  await world.cloud.take("loads");

  await resume();
  await world.pass(3);

  expect(await world.cloud.take("loads")).toMatchObject([{ mapping_id: world.contact.id, kind: "sweep" }]);
  const monthly = { ...world.contact, sweepDays: 30 };
  const ofADay = (mapping: Mapping) => missedComparisons([mapping], new Date(0), new Date(86_400_000)).length;
  expect([ofADay(monthly), ofADay({ ...monthly, syncDirection: "pg_to_sf" })]).toEqual([1, 0]);
});

test("of several pauses the longest one counts for the alarm", async () => {
  const pausedAt = (at: Date) => ({
    id: `ws_${at.getTime()}`,
    pauseSwitch: { paused: true, at, by: ACTOR, reason: null },
  });
  const needs = { workspaces: { find: async () => null }, counters: { pausedSince: async () => new Date(0) } };
  const days = ["2026-01-03", "2026-01-01", "2026-01-02"].map((day) => new Date(day));

  expect(await announcePauses(needs as unknown as PauseNeeds, days.map(pausedAt) as never)).toEqual(days[1]);
});
