import { connect, createServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { connectionOptions } from "../../../../lib/adapters/postgres/session/connection-options.ts";
import { createIdleSessions } from "../../../../lib/adapters/postgres/session/idle-sessions.ts";
import { DeadlinePassed, openSession } from "../../../../lib/adapters/postgres/session/session.ts";
import type { Session } from "../../../../lib/adapters/postgres/session/sql.ts";
import { listen } from "../../listen.ts";
import { image, page } from "../customer.ts";
import { cycleOn, request } from "../cycles.ts";
import { aCustomer, aCustomerForEachTest, connection, customer, sql } from "../world.ts";

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

  const VERIFIED = { rejectUnauthorized: true };
  test.each([
    ["db.example.com/d", VERIFIED],
    ["db.example.com/d?sslmode=require", VERIFIED],
    ["db.example.com/d?sslmode=prefer", VERIFIED],
    ["db.example.com/d?sslrootcert=/etc/passwd&sslkey=/etc/passwd&host=/tmp&options=-c%20x", VERIFIED],
    ["db.example.com/d?sslmode=no-verify", { rejectUnauthorized: false }],
    ["127.0.0.1/d", false],
    ["127.example.com/d", VERIFIED],
    ["[::1]/d", false],
    ["db.example.com/d?sslmode=disable", false],
  ])("%s has TLS %j, and names no file of the service that is read", (rest, ssl) => {
    expect(connectionOptions(`postgres://u:p@${rest}`)).toMatchObject({ host: expect.not.stringContaining("/"), ssl });
  });

  test.each(["mysql://u:p@h/d", "not a url", "postgres:///d", ""])(
    "%s is refused with the form it must have",
    (url) => {
      expect(() => connectionOptions(url)).toThrow(/postgres:\/\/user:password@host:5432\/database/);
    },
  );
});

describe("a session", () => {
  let proxy: Awaited<ReturnType<typeof startStallingProxy>>;
  beforeEach(async () => {
    await aCustomer({ provisioned: false });
    proxy = await startStallingProxy(new URL(customer.url));
  });
  afterEach(() => proxy.close());
  const open = (options: Parameters<typeof openSession>[1] = {}): Promise<Session> =>
    openSession({ url: proxy.url(customer.url), schema: "salesforce" }, options);

  test("notices a server that says nothing any more, and is of no use then", async () => {
    const session = await open({ statementMilliseconds: 50, graceMilliseconds: 100 });
    proxy.stall();

    await expect(session.query("SELECT 1")).rejects.toBeInstanceOf(DeadlinePassed);

    expect(session.isAlive).toBe(false);
    await expect(session.query("SELECT 1")).rejects.toThrow();
    await expect(open({ connectMilliseconds: 100 }), "a new one").rejects.toThrow(/timeout/i);
    await session.close();
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

  test("releases the locks on the customer's rows when its process is frozen within a transaction, and rolls back", async () => {
    const session = await open({ statementMilliseconds: 200 });
    await sql("CREATE TABLE public.kept (n int); INSERT INTO public.kept VALUES (1)");
    const update = "UPDATE public.kept SET n = 2";

    const failing = session.transaction({}, update, async () => {
      throw new Error("the reason");
    });
    await expect(failing).rejects.toThrow("the reason");
    expect(await sql("SELECT n FROM public.kept")).toEqual([{ n: 1 }]);
    const frozen = session.transaction({}, update, async () => void (await sql("UPDATE public.kept SET n = 3")));

    await expect(frozen).rejects.toThrow();
    expect(await sql("SELECT n FROM public.kept")).toEqual([{ n: 3 }]);
    expect(session.isAlive).toBe(false);
    await session.close();
  });

  test("waits as long for its next use after the second use as after the first", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "Date"] });
    try {
      const session = await openSession(connection());
      const idle = createIdleSessions(() => new Date(), 15_000);
      for (const _ of ["first", "second"]) {
        idle.keep(session);
        vi.advanceTimersByTime(10_000);
        expect(idle.take()?.session).toBe(session);
      }
      expect(session.isAlive).toBe(true);
      await session.close();
    } finally {
      vi.useRealTimers();
    }
  });
});

/** Passes everything on until `stall`, from which on nothing passes, in either direction. */
async function startStallingProxy(target: URL) {
  const sockets = new Set<Socket>();
  let stalled = false;
  const server = createServer((inside) => {
    const outside = stalled ? null : connect(Number(target.port), target.hostname);
    for (const socket of [inside, outside]) if (socket) sockets.add(socket.on("error", () => undefined));
    inside.on("data", (chunk) => stalled || outside?.write(chunk)).on("close", () => outside?.destroy());
    outside?.on("data", (chunk) => stalled || inside.write(chunk)).on("close", () => inside.destroy());
  });
  const port = String(await listen(server));
  return {
    url: (through: string) => Object.assign(new URL(through), { port }).href,
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
  aCustomerForEachTest();
  const OURS = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'bridge'";

  test("serves the next cycle, and one that the server closed meanwhile is replaced", async () => {
    const open = createCycleStores(() => customer.now);
    const first = await open(connection());
    await cycleOn(first, { slot: 10 });
    await first.close();
    const second = await open(connection());
    expect(await sql(`SELECT 1 ${OURS} AND state IS NOT NULL`)).toHaveLength(1);
    await sql(`SELECT pg_terminate_backend(pid) ${OURS}`);

    expect(await second.begin(request({ slot: 20 }))).toMatchObject({ held: true });
    await second.close();
  });

  test("does one thing at a time: a renewal waits for the page that is being applied", async () => {
    const order: string[] = [];
    const before = async (statement: string) => void order.push(/\w+/.exec(statement)?.[0] ?? "");
    const { store, lease } = await customer.cycle({ before });
    order.length = 0;

    const applying = store.apply(lease, page([image(1, 1, { lastname: "Curie" })]));
    await Promise.all([applying, store.renew(lease, 30)]);

    expect(order).toEqual(["SELECT", "SELECT", "WITH", "INSERT", "UPDATE"]);
  });
});
