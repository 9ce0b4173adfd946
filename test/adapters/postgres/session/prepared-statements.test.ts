import { afterEach, describe, expect, test } from "vitest";
import { openSession } from "../../../../lib/adapters/postgres/session/session.ts";
import { openWithinLimit } from "../../../../lib/adapters/postgres/session/session-limit.ts";
import type { Session } from "../../../../lib/adapters/postgres/session/sql.ts";
import { aCustomerForEachTest, connection } from "../world.ts";

const sessions: Session[] = [];
aCustomerForEachTest({ provisioned: false });
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close().catch(() => undefined);
});

async function admitted(): Promise<Session> {
  const session = await openWithinLimit(connection(), { idleMilliseconds: 30_000 });
  sessions.push(session);
  return session;
}
const prepared = (session: Session) => session.query("SELECT statement FROM pg_prepared_statements WHERE NOT from_sql");
const ASKED = "SELECT n FROM kept WHERE n::text > $1";

describe("a statement that is asked again", () => {
  test("is prepared, so that the server plans it once", async () => {
    const session = await admitted();
    await session.query("SELECT $1::int AS once", [1]);

    for (let time = 0; time < 3; time++) await session.query("SELECT $1::int AS often", [time]);

    expect(await prepared(session)).toEqual([{ statement: "SELECT $1::int AS often" }]);
  });

  test("is not where a pooler is between, whose number of the backend is another", async () => {
    const session = await openSession(connection());
    sessions.push(session);
    const [{ pid } = { pid: 0 }] = await session.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");

    session.prepareOn?.(pid + 1);
    for (let time = 0; time < 3; time++) await session.query("SELECT $1::int AS often", [time]);

    expect(await prepared(session)).toEqual([]);
  });

  test("is prepared up to sixty of them: each plan takes the server memory", async () => {
    const session = await admitted();

    for (let time = 0; time < 2; time++)
      for (let one = 0; one < 70; one++) await session.query(`SELECT $1::int AS of_${one}`, [time]);

    expect(await session.query("SELECT count(*)::int AS many FROM pg_prepared_statements")).toEqual([{ many: 60 }]);
  });
});

describe("a session is given up, and the next one works, where its prepared statement", () => {
  test("would give another type: the application has changed its table", async () => {
    const session = await admitted();
    await session.query("CREATE TABLE public.kept (n int)");
    for (let time = 0; time < 2; time++) await session.query(ASKED, ["0"]);
    await session.query("ALTER TABLE kept ALTER n TYPE bigint");

    await expect(session.transaction({}, "SELECT 1", () => session.query(ASKED, ["0"]))).rejects.toMatchObject({
      code: "0A000",
    });

    expect(session.isAlive).toBe(false);
    const next = await admitted();
    for (let time = 0; time < 3; time++) expect(await next.query(ASKED, ["0"])).toEqual([]);
  });

  test.each([
    ["is not known to the backend", "DEALLOCATE ALL", "26000"],
    ["has a name there already", null, "42P05"],
  ])("%s; then this process prepares none for this database any more", async (_, forget, code) => {
    const session = await admitted();
    const ask = () => session.query("SELECT $1::int AS often", [1]);
    await ask();
    if (forget === null) {
      const name = "bridge_fa01f5c9523b9d15d205d50469c288d2";
      await session.script(`PREPARE ${name} AS SELECT 1`);
    } else {
      await ask();
      await session.script(forget);
    }

    await expect(ask()).rejects.toMatchObject({ code });

    expect(session.isAlive).toBe(false);
    const next = await admitted();
    for (let time = 0; time < 3; time++) await next.query("SELECT $1::int AS often", [1]);
    expect(await prepared(next)).toEqual([]);
  });
});
