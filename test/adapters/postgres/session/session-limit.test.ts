import { connect, createServer } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { keepSessions } from "../../../../lib/adapters/postgres/session/request-session.ts";
import { NoConnectionFree, openWithinLimit } from "../../../../lib/adapters/postgres/session/session-limit.ts";
import type { Session } from "../../../../lib/adapters/postgres/session/sql.ts";
import { withDatabase } from "../../../../lib/monitoring/with-database.ts";
import { listenForTest } from "../../listen.ts";
import { untilSomebodyWaits } from "../customer.ts";
import { request } from "../cycles.ts";
import { aCustomerForEachTest, connection, customer, sql, transaction } from "../world.ts";

aCustomerForEachTest();
let opened: Session[];
beforeEach(() => {
  opened = [];
});
afterEach(() => Promise.all(opened.map((session) => session.close().catch(() => undefined))));

const IDLE = 60_000;
const limited = () => ({ ...connection(), maxConnections: 4 });

async function open(use: Partial<Parameters<typeof openWithinLimit>[1]> = {}): Promise<Session> {
  const session = await openWithinLimit(limited(), { idleMilliseconds: IDLE, ...use });
  opened.push(session);
  return session;
}

async function openMany(count: number, use: Parameters<typeof open>[0] = {}): Promise<void> {
  for (let at = 0; at < count; at += 1) await open(use);
}

const OURS = "datname = current_database() AND application_name LIKE 'bridge%'";

async function count(): Promise<number> {
  const [row] = await sql(`SELECT count(*)::int AS many FROM pg_stat_activity WHERE ${OURS}`);
  return Number(row?.["many"]);
}

/** Resolves once the database has so many sessions of ours. */
async function untilThereAre(many: number): Promise<void> {
  await vi.waitFor(async () => expect(await count()).toBe(many), { timeout: 4_000, interval: 1 });
}

test("a workspace has as many connections as it may, and the next request gets the setting that says so", async () => {
  await openMany(4);

  const fifth = open({ waitMilliseconds: 0 });

  await expect(fifth).rejects.toThrow(NoConnectionFree);
  await expect(fifth).rejects.toThrow("all 4 connections of the workspace are in use (max_connections;");
  await untilThereAre(4);
});

test("of many that come at once as many get a connection as there are left, those of an application not counted", async () => {
  for (let at = 0; at < 6; at += 1) await customer.connect();
  await open();

  const ended = await Promise.allSettled(Array.from({ length: 8 }, () => open({ waitMilliseconds: 0 })));

  expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  await untilThereAre(4);
});

test("a connection that began first and was slow to sign in gets none that others have by then", async () => {
  const relay = await startHoldingRelay(new URL(customer.url));
  const slow = openWithinLimit({ ...limited(), url: relay.url }, { idleMilliseconds: IDLE, waitMilliseconds: 0 });
  await relay.isHolding;
  await openMany(4);

  relay.release();

  await expect(slow).rejects.toThrow(NoConnectionFree);
  await untilThereAre(4);
});

test("who finds none free gets the one that is given back meanwhile", async () => {
  await openMany(4);
  const fifth = open();
  await untilThereAre(5);

  await opened[0]?.close();

  await expect((await fifth).query("SELECT 1 AS one")).resolves.toEqual([{ one: 1 }]);
});

test("loads and changes of tables leave half of the connections to the beat and the API", async () => {
  await openMany(2, { isLongWork: true });
  const third = open({ isLongWork: true });
  await untilThereAre(3);

  await openMany(2);

  opened[0]?.close();
  await third;
});

test.each([
  ["cycles of many mappings have two connections, and renew their leases beside each other's work", 0, 2, false],
  ["cycles that find one connection left for all of them use it one after the other", 3, 1, false],
  ["loads that find one connection left for all of them use it one after the other", 1, 1, true],
])("%s", async (_, others, theirs, isLongWork) => {
  await openMany(others, { isLongWork });
  const stores = createCycleStores(() => customer.now, { isLongWork });
  const held = await transaction("LOCK TABLE salesforce._bridge_state");
  const begun = Array.from({ length: 20 }, (_, slot) => stores(limited()).begin(request({ slot })));
  await untilSomebodyWaits(customer.application);
  if (theirs === 2) await untilThereAre(2);

  await held.query("COMMIT");

  expect((await Promise.all(begun)).filter(({ held: has }) => has)).toHaveLength(1);
  await untilThereAre(others + theirs);
});

test("a request waits until the server ends the connections of functions frozen after theirs", async ({ skip }) => {
  const [known] = await sql("SELECT 1 FROM pg_settings WHERE name = 'idle_session_timeout'");
  skip(known === undefined, "PostgreSQL 13 has no limit of idle sessions");
  await openMany(4, { idleMilliseconds: 1_100 });

  await expect(asked()).resolves.toEqual([{ one: 1 }]);
});

test("a request that finds no connection answers 503, and says when to ask again", async () => {
  await openMany(4);

  await expect(asked()).rejects.toMatchObject({
    code: "UNAVAILABLE",
    status: 503,
    headers: { "Retry-After": "1" },
  });
});

/** One question of an endpoint. */
function asked(): Promise<unknown> {
  const sessions = keepSessions(() => customer.now);
  const workspace = { id: "ws_1", open: async () => ({ postgres: limited() }) } as unknown as Parameters<
    typeof withDatabase
  >[1];
  const databases = { open: async (of: ReturnType<typeof limited>) => sessions.take(of) };
  return withDatabase(databases, workspace, (database) => database.query("SELECT 1 AS one"));
}

/** Connects to the server at once, and passes on what the client sends only from `release` on. */
async function startHoldingRelay(server: URL) {
  const holding = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const relay = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname, () => holding.resolve());
    upstream.pipe(client);
    void released.promise.then(() => client.pipe(upstream));
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
  });
  const url = Object.assign(new URL(server), { port: String(await listenForTest(relay)) });
  return {
    url: String(url),
    isHolding: holding.promise,
    release: () => released.resolve(),
  };
}
