import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { connectionOptions } from "../../../../lib/adapters/postgres/session/connection-options.ts";
import { createIdleSessions } from "../../../../lib/adapters/postgres/session/idle-sessions.ts";
import { DeadlinePassed, openSession } from "../../../../lib/adapters/postgres/session/session.ts";
import type { Session } from "../../../../lib/adapters/postgres/session/sql.ts";
import type { BeginRequest } from "../../../../lib/sync/ports/lease-ports.ts";
import { longTest } from "../../../support/run/whole-grid.ts";
import { createTestDatabase, type TestDatabase } from "../../../support/worlds/postgres.ts";
import { type Customer, createCustomer, image, page } from "../customer.ts";

describe("a database URL", () => {
  test("is parsed, its escapes included", () => {
    const options = connectionOptions("postgres://u%40x:p%2Fw%3A@db.example.com:6543/my%20db?sslmode=verify-full");

    expect(options).toEqual({
      host: "db.example.com",
      port: 6543,
      user: "u@x",
      password: "p/w:",
      database: "my db",
      ssl: { rejectUnauthorized: true },
    });
  });

  test.each([
    ["postgres://u:p@db.example.com/d", true],
    ["postgres://u:p@db.example.com/d?sslmode=require", true],
    ["postgres://u:p@db.example.com/d?sslmode=prefer", true],
    ["postgres://u:p@db.example.com/d?sslmode=no-verify", false],
  ])("%s verifies the certificate: %s", (url, verifies) => {
    expect(connectionOptions(url).ssl).toMatchObject({ rejectUnauthorized: verifies });
  });

  test.each([
    "postgres://u:p@127.0.0.1/d",
    "postgres://u:p@[::1]/d",
    "postgres://u:p@db.example.com/d?sslmode=disable",
  ])("%s goes without TLS", (url) => {
    expect(connectionOptions(url).ssl).toBe(false);
  });

  test("reads no file of the service, whatever it names", () => {
    const url = "postgres://u:p@db.example.com/d?sslrootcert=/etc/passwd&sslkey=/etc/passwd&host=/tmp&options=-c%20x";

    expect(connectionOptions(url)).toMatchObject({ host: "db.example.com", ssl: { rejectUnauthorized: true } });
  });

  test.each(["mysql://u:p@h/d", "not a url", "postgres:///d", ""])(
    "%s is refused with the form it must have",
    (url) => {
      expect(() => connectionOptions(url)).toThrow(/postgres:\/\/user:password@host:5432\/database/);
    },
  );
});

describe("a session", () => {
  let database: TestDatabase;
  let proxy: StallingProxy;
  beforeEach(async () => {
    database = await createTestDatabase();
    proxy = await startStallingProxy(new URL(database.url));
  });
  afterEach(async () => {
    await proxy.close();
    await database.close();
  });
  const open = (options: Parameters<typeof openSession>[1] = {}): Promise<Session> =>
    openSession({ url: proxy.url(database.url), schema: "salesforce" }, options);

  test("notices a server that says nothing any more, and is of no use then", async () => {
    const session = await open({ statementMilliseconds: 50, graceMilliseconds: 100 });
    proxy.stall();

    await expect(session.query("SELECT 1")).rejects.toBeInstanceOf(DeadlinePassed);

    expect(session.isAlive).toBe(false);
    await expect(session.query("SELECT 1")).rejects.toThrow();
    await session.close();
  });

  test("gives up on a server that takes the connection and says nothing", async () => {
    proxy.stall();

    await expect(open({ connectMilliseconds: 100 })).rejects.toThrow(/timeout/i);
  });

  test("ends a statement that takes too long, names the reason, and continues", async () => {
    // As long as a transaction may be idle: a busy machine has to send the next statement by then.
    const session = await open({ statementMilliseconds: 500 });

    const slow = session.transaction({}, "SELECT 1", () => session.query("SELECT pg_sleep(10)"));

    await expect(slow).rejects.toMatchObject({ code: "57014" });
    expect(await session.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await session.close();
  });

  test("leaves no setting and no statement behind, so that poolers can give the connection to others", async () => {
    const session = await open();
    const settings = () =>
      session.query(
        "SELECT name, setting FROM pg_settings WHERE source = 'session' OR name LIKE 'bridge.%' ORDER BY 1",
      );
    const before = await settings();

    await session.transaction({ silence: "contact", lockMilliseconds: 5 }, "SELECT 1", async () => undefined);
    await session.query("SELECT $1::int AS value", [1]);

    expect((await settings()).filter(({ setting }) => setting !== "")).toEqual(before);
    expect(await session.query("SELECT name FROM pg_prepared_statements")).toEqual([]);
    await session.close();
  });

  test("releases the locks on the customer's rows when its process is frozen within a transaction", async () => {
    const session = await open({ statementMilliseconds: 200 });
    const customer = await open();
    await customer.query("CREATE TABLE kept (n int)");
    await customer.query("INSERT INTO kept VALUES (1)");

    const frozen = session.transaction({}, "UPDATE kept SET n = 2", async () => {
      await customer.query("UPDATE kept SET n = 3");
    });

    await expect(frozen).rejects.toThrow();
    expect(await customer.query("SELECT n FROM kept")).toEqual([{ n: 3 }]);
    expect(session.isAlive).toBe(false);
    await session.close();
    await customer.close();
  });

  test("waits as long for its next use after the second use as after the first", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "Date"] });
    try {
      const session = await openSession({ url: database.url, schema: "salesforce" });
      const idle = createIdleSessions(() => new Date(), 15_000);
      idle.keep(session);
      vi.advanceTimersByTime(10_000);
      const used = idle.take()?.session;
      idle.keep(session);
      vi.advanceTimersByTime(10_000);

      const usedAgain = idle.take()?.session;

      expect([used, usedAgain]).toEqual([session, session]);
      expect(session.isAlive).toBe(true);
      await session.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test("rolls back what throws, and passes the reason on", async () => {
    const session = await open();
    await session.query("CREATE TABLE kept (n int)");

    const failing = session.transaction({}, "INSERT INTO kept VALUES (1)", async () => {
      throw new Error("the reason");
    });

    await expect(failing).rejects.toThrow("the reason");
    expect(await session.query("SELECT n FROM kept")).toEqual([]);
    await session.close();
  });

  test("loses no digit of a number", async () => {
    const session = await open();

    const rows = await session.query(
      "SELECT 9007199254740993::bigint AS big, 12::bigint AS small, 0.1000::numeric AS exact, '2026-01-01'::date AS day",
    );

    expect(rows).toEqual([{ big: "9007199254740993", small: 12, exact: "0.1000", day: "2026-01-01" }]);
    await session.close();
  });
});

interface StallingProxy {
  url(through: string): string;
  /** From now on nothing passes, in either direction. */
  stall(): void;
  close(): Promise<void>;
}

async function startStallingProxy(target: URL): Promise<StallingProxy> {
  const sockets = new Set<Socket>();
  let stalled = false;
  const server: Server = createServer((inside) => {
    sockets.add(inside);
    inside.on("error", () => undefined);
    if (stalled) return;
    const outside = connect(Number(target.port), target.hostname);
    sockets.add(outside);
    outside.on("error", () => undefined);
    inside.on("data", (chunk) => stalled || outside.write(chunk));
    outside.on("data", (chunk) => stalled || inside.write(chunk));
    inside.on("close", () => outside.destroy());
    outside.on("close", () => inside.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    url: (through) => Object.assign(new URL(through), { port: String(address.port) }).href,
    stall: () => {
      stalled = true;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("a cycle's connection", () => {
  const END = { marks: {}, pulledAt: null, apiCalls: {}, error: null };
  let customer: Customer;
  beforeEach(async () => {
    customer = await createCustomer();
  });
  afterEach(() => customer.close());
  const request = (slot: number): BeginRequest => {
    const asked = { mappingId: "map_contact", work: "cycle", configVersion: 1, owner: "a test" } as const;
    return { ...asked, slot, leaseSeconds: 30 };
  };
  const connections = async () =>
    Number(
      (
        await customer.sql(
          "SELECT count(*) AS many FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'bridge' AND state IS NOT NULL",
        )
      )[0]?.["many"],
    );

  test("serves the next cycle, and one that the server closed meanwhile is replaced", async () => {
    const open = createCycleStores(() => customer.now);
    const connection = { url: customer.url, schema: "salesforce" };
    const first = await open(connection);
    const begun = await first.begin(request(10));
    if (begun.held) await first.finish(begun.lease, END);
    await first.close();
    const second = await open(connection);
    const reused = await connections();
    await customer.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bridge' AND datname = current_database()",
    );

    const again = await second.begin(request(20));

    expect(reused).toBe(1);
    expect(again.held).toBe(true);
    await second.close();
  });

  longTest("serves cycle after cycle for weeks, and the last one as well as the first", async () => {
    const open = createCycleStores(() => customer.now);
    const connection = { url: customer.url, schema: "salesforce" };
    for (let cycle = 0; cycle < 20_000; cycle++) await (await open(connection)).close();

    const last = await open(connection);
    const begun = await last.begin(request(10));

    expect(begun.held).toBe(true);
    expect(await connections()).toBe(1);
    await last.close();
  });

  test("does one thing at a time: a renewal waits for the page that is being applied", async () => {
    const order: string[] = [];
    const { store, lease } = await customer.cycle({
      before: async (statement) => {
        order.push(/\w+/.exec(statement)?.[0] ?? "");
      },
    });
    order.length = 0;

    const applying = store.apply(lease, page([image(1, 1, { lastname: "Curie" })]));
    const renewing = store.renew(lease, 30);
    await Promise.all([applying, renewing]);

    expect(order.at(-1)).toBe("UPDATE");
    expect(order.slice(0, -1)).toEqual(["SELECT", "SELECT", "WITH", "INSERT"]);
  });
});
