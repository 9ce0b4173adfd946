import { type AddressInfo, connect, createServer } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { keepSessions } from "../../../../lib/adapters/postgres/session/request-session.ts";
import { NoConnectionFree, openWithinLimit } from "../../../../lib/adapters/postgres/session/session-limit.ts";
import type { Session } from "../../../../lib/adapters/postgres/session/sql.ts";
import { withDatabase } from "../../../../lib/monitoring/with-database.ts";
import { type Customer, createCustomer, untilSomebodyWaits } from "../customer.ts";

let customer: Customer;
let opened: Session[];
beforeEach(async () => {
  customer = await createCustomer();
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((session) => session.close().catch(() => undefined)));
  await customer.close();
});

const IDLE = 60_000;
const LEASE = { mappingId: "map_contact", work: "cycle", configVersion: 1, owner: "test", leaseSeconds: 30 } as const;
const connection = () => ({ url: customer.url, schema: "salesforce", maxConnections: 4 });

async function open(use: Partial<Parameters<typeof openWithinLimit>[1]> = {}): Promise<Session> {
  const session = await openWithinLimit(connection(), { idleMilliseconds: IDLE, ...use });
  opened.push(session);
  return session;
}

const OURS = "datname = current_database() AND application_name LIKE 'bridge%'";

async function count(): Promise<number> {
  const [row] = await customer.sql(`SELECT count(*)::int AS many FROM pg_stat_activity WHERE ${OURS}`);
  return Number(row?.["many"]);
}

/** Resolves once the database has so many sessions of ours. */
async function untilThereAre(many: number): Promise<void> {
  await vi.waitFor(async () => expect(await count()).toBe(many), { timeout: 4_000, interval: 1 });
}

test("a workspace has as many connections as it may, and the next request gets the setting that says so", async () => {
  for (let at = 0; at < 4; at += 1) await open();

  const fifth = open({ waitMilliseconds: 0 });

  await expect(fifth).rejects.toThrow(NoConnectionFree);
  await expect(fifth).rejects.toThrow("all 4 connections of the workspace are in use (max_connections;");
  await untilThereAre(4);
});

test("of many that come at once as many get a connection as there are left", async () => {
  await open();

  const ended = await Promise.allSettled(Array.from({ length: 8 }, () => open({ waitMilliseconds: 0 })));

  expect(ended.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  await untilThereAre(4);
});

test("a connection that began first and was slow to sign in gets none that others have by then", async () => {
  const relay = await startHoldingRelay(new URL(customer.url));
  const slow = openWithinLimit({ ...connection(), url: relay.url }, { idleMilliseconds: IDLE, waitMilliseconds: 0 });
  await relay.isHolding;
  for (let at = 0; at < 4; at += 1) await open();

  relay.release();

  await expect(slow).rejects.toThrow(NoConnectionFree);
  await untilThereAre(4);
  await relay.close();
});

test("who finds none free gets the one that is given back meanwhile", async () => {
  const [first] = [await open(), await open(), await open(), await open()];
  const fifth = open();
  await untilThereAre(5);

  await first.close();

  await expect((await fifth).query("SELECT 1 AS one")).resolves.toEqual([{ one: 1 }]);
});

test("loads and changes of tables leave half of the connections to the beat and the API", async () => {
  await open({ isLongWork: true });
  await open({ isLongWork: true });
  const third = open({ isLongWork: true });
  await untilThereAre(3);

  await expect(open()).resolves.toBeDefined();

  opened[0]?.close();
  await third;
});

test("connections of an application, and of other users, are not counted", async () => {
  for (let at = 0; at < 6; at += 1) await customer.connect();

  await expect(open()).resolves.toBeDefined();
});

test("the server ends the connection of a client that went silent, such as a frozen function", async ({ skip }) => {
  const [known] = await customer.sql("SELECT 1 FROM pg_settings WHERE name = 'idle_session_timeout'");
  skip(
    known === undefined,
    "PostgreSQL 13 has no limit of idle sessions; keepalive probes end those of a dead machine",
  );

  await open({ idleMilliseconds: 50 });

  await untilThereAre(0);
});

test("cycles of many mappings at once have two connections, and renew their leases beside each other's work", async () => {
  const stores = createCycleStores(() => customer.now);
  const held = await customer.connect();
  await held.query("BEGIN");
  await held.query("LOCK TABLE salesforce._bridge_state");

  const begun = Array.from({ length: 20 }, (_, slot) => stores(connection()).begin({ ...LEASE, slot }));
  await untilThereAre(2);
  await held.query("COMMIT");

  expect((await Promise.all(begun)).filter(({ held: has }) => has)).toHaveLength(1);
  expect(await count()).toBe(2);
});

test.each([
  ["cycles", 3, false],
  ["loads", 1, true],
])("%s that find one connection left for all of them use it one after the other", async (_, others, isLongWork) => {
  for (let at = 0; at < others; at += 1) await open({ isLongWork });
  const stores = createCycleStores(() => customer.now, { isLongWork });
  const held = await customer.connect();
  await held.query("BEGIN");
  await held.query("LOCK TABLE salesforce._bridge_state");
  const begun = Array.from({ length: 5 }, (_, slot) => stores(connection()).begin({ ...LEASE, slot }));
  await untilSomebodyWaits(customer.application);

  await held.query("COMMIT");

  expect((await Promise.all(begun)).filter(({ held: has }) => has)).toHaveLength(1);
  await untilThereAre(others + 1);
});

test("long work leaves its connections to others when it is done", async () => {
  const stores = createCycleStores(() => customer.now, { isLongWork: true });

  await stores(connection()).begin({ ...LEASE, slot: 0 });

  await untilThereAre(0);
});

test("a request waits until the server ends the connections of functions frozen after theirs", async ({ skip }) => {
  const [known] = await customer.sql("SELECT 1 FROM pg_settings WHERE name = 'idle_session_timeout'");
  skip(known === undefined, "PostgreSQL 13 has no limit of idle sessions");
  for (let at = 0; at < 4; at += 1) await open({ idleMilliseconds: 1_100 });

  await expect(request()).resolves.toEqual([{ one: 1 }]);
});

test("a request that finds no connection answers 503, and says when to ask again", async () => {
  for (let at = 0; at < 4; at += 1) await open();

  await expect(request()).rejects.toMatchObject({
    code: "UNAVAILABLE",
    status: 503,
    headers: { "Retry-After": "1" },
  });
});

/** One question of an endpoint. */
function request(): Promise<unknown> {
  const sessions = keepSessions(() => customer.now);
  const workspace = { id: "ws_1", open: async () => ({ postgres: connection() }) } as unknown as Parameters<
    typeof withDatabase
  >[1];
  const databases = { open: async (of: ReturnType<typeof connection>) => sessions.take(of) };
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
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  const url = new URL(server);
  url.port = String((relay.address() as AddressInfo).port);
  return {
    url: String(url),
    isHolding: holding.promise,
    release: () => released.resolve(),
    close: () => new Promise((resolve) => relay.close(resolve)),
  };
}
