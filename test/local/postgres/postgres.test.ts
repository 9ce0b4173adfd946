import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type EmbeddedPostgres, startPostgres } from "../../../lib/local/postgres/start-postgres.ts";
import { usePostgres } from "../../../lib/local/postgres/use-postgres.ts";
import { identityOf } from "../../../lib/local/process-identity.ts";
import { canKillGuards, killGuard } from "../../support/processes/kill-guard.ts";
import { runUntilKilled } from "../../support/processes/run-until-killed.ts";
import { temporaryFolder } from "../../support/run/temporary-folder.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { createTestDatabase } from "../../support/worlds/postgres.ts";

/** Databases that were created once, and that each test leaves stopped: making them takes longer than all the rest. */
let dataDir: string;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "bridge-test-"));
  await (await startPostgres({ dataDir })).close();
});

afterAll(() => rmSync(dataDir, { recursive: true }));

describe("the embedded PostgreSQL", () => {
  test("keeps its data, its port and its password over a restart", async () => {
    const first = await startPostgres({ dataDir });
    await ask(first.url, "CREATE TABLE kept AS SELECT 'grüße 🎉' AS words");
    await first.close();

    const second = await start({ dataDir });

    expect(second.url).toBe(first.url);
    expect(await ask(second.url, "SELECT words FROM kept")).toEqual([{ words: "grüße 🎉" }]);
  });

  test("is durable, speaks UTF-8, and can be reached from this machine alone, with the password", async () => {
    const { url, superuserUrl } = await start({ dataDir });
    const settings = ["fsync", "server_encoding", "listen_addresses", "unix_socket_directories", "TimeZone"];

    const rows = await ask(superuserUrl, "SELECT name, setting FROM pg_settings WHERE name = ANY($1) ORDER BY name", [
      settings,
    ]);

    expect(rows).toEqual([
      { name: "TimeZone", setting: "UTC" },
      { name: "fsync", setting: "on" },
      { name: "listen_addresses", setting: "127.0.0.1" },
      { name: "server_encoding", setting: "UTF8" },
      { name: "unix_socket_directories", setting: "" },
    ]);
    const wrong = new URL(url);
    wrong.password = "wrong";
    await expect(ask(wrong.href, "SELECT 1")).rejects.toThrow("password authentication failed");
  });

  test("is entered as an ordinary role, as a customer's would be, by passwords that only their owner can read", async () => {
    const { url, superuserUrl } = await start({ dataDir });

    const rights = `SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
        (SELECT array_agg(datname::text) FROM pg_database WHERE datdba = r.oid) AS owns
      FROM pg_roles r WHERE rolname = current_user`;
    const ordinary = { rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolreplication: false };
    expect(await ask(url, rights)).toEqual([{ ...ordinary, rolname: "bridge", rolbypassrls: false, owns: ["bridge"] }]);
    expect(await ask(superuserUrl, rights)).toMatchObject([{ rolname: "postgres", rolsuper: true }]);
    await ask(url, "CREATE SCHEMA ours");
    await expect(ask(url, "SELECT pg_reload_conf()")).rejects.toThrow("permission denied");
    for (const [file, opens] of [
      ["password", url],
      ["superuser-password", superuserUrl],
    ] as const) {
      expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
      expect(opens).toContain(readFileSync(join(dataDir, file), "utf8").trim());
    }
  });

  longTest("makes its role and database although the first start was killed before they were there", async () => {
    const first = await startPostgres({ dataDir });
    const beside = Object.assign(new URL(first.superuserUrl), { pathname: "/postgres" }).href;
    for (const sql of ["DROP DATABASE bridge", "DROP ROLE bridge"]) await ask(beside, sql);
    await first.close();

    const { url } = await start({ dataDir });

    expect(await ask(url, "SELECT current_user AS us, current_database() AS here")).toEqual([
      { us: "bridge", here: "bridge" },
    ]);
  });

  test("loses nothing that was committed when its owner is killed, and starts again at once", async () => {
    const victim = await runUntilKilled("hold-postgres.ts", dataDir);
    await ask(String(victim.said["url"]), "CREATE TABLE numbers AS SELECT generate_series(1, 1000) AS n");

    await victim.kill();
    const { url } = await start({ dataDir });

    expect(await ask(url, "SELECT count(*)::int AS n FROM numbers")).toEqual([{ n: 1000 }]);
  });

  longTest("ends a server that outlived its killed owner and the guard", { skip: !canKillGuards }, async () => {
    const victim = await runUntilKilled("hold-postgres.ts", dataDir);
    const orphan = identityOf(Number.parseInt(readFileSync(join(dataDir, "cluster", "postmaster.pid"), "utf8"), 10));
    killGuard(Number(orphan?.pid));
    await victim.kill();
    expect(identityOf(Number(orphan?.pid))).toEqual(orphan);

    const { url } = await start({ dataDir });

    expect(identityOf(Number(orphan?.pid))).not.toEqual(orphan);
    expect(await ask(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  longTest("starts although its stale pid file names another process", async () => {
    writeFileSync(join(dataDir, "cluster", "postmaster.pid"), `${process.pid}\n${join(dataDir, "cluster")}\n`);

    const { url } = await start({ dataDir });

    expect(await ask(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  longTest(
    "begins again when its creation was cut short, below /var/tmp where only root may enter its folder",
    async () => {
      const closed = join(temporaryFolder(), "closed");
      mkdirSync(closed, { mode: 0o700 });
      const folder = join(closed, "postgres");
      mkdirSync(join(folder, "cluster.part", "base"), { recursive: true });

      const home = () => (process.getuid?.() === 0 ? readFileSync(join(folder, "moved-to"), "utf8").trim() : folder);
      onTestFinished(() => rmSync(home(), { recursive: true }));

      const { url } = await start({ dataDir: folder });

      expect(await ask(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
      if (home() !== folder) expect(home()).toMatch(/^\/var\/tmp\/bridge-postgres-/);
    },
  );

  test("says what to do with the databases of another version", async () => {
    const version = join(dataDir, "cluster", "PG_VERSION");
    const present = readFileSync(version, "utf8");
    onTestFinished(() => writeFileSync(version, present));
    writeFileSync(version, "9\n");

    await expect(startPostgres({ dataDir })).rejects.toThrow(
      "are those of another version of PostgreSQL: dump them with the release of Bridge that made them",
    );
  });
});

/** An embedded PostgreSQL that ends with the test. */
async function start(settings: { readonly dataDir: string }): Promise<EmbeddedPostgres> {
  const postgres = await startPostgres(settings);
  onTestFinished(() => postgres.close());
  return postgres;
}

async function ask<Row extends object>(url: string, sql: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

test("a PostgreSQL that runs already is refused with the remedy when the role may not create a schema", async () => {
  const database = await createTestDatabase();
  onTestFinished(database.close);
  const role = `weak_${Date.now()}`;
  await database.asSuperuser(`CREATE ROLE ${role} LOGIN PASSWORD 'weak'`);
  const weak = Object.assign(new URL(database.url), { username: role, password: "weak" });

  expect((await usePostgres(database.url)).url).toBe(database.url);
  await expect(usePostgres(weak.href)).rejects.toThrow(
    `GRANT CREATE ON DATABASE "${weak.pathname.slice(1)}" TO "${role}"`,
  );
});

test("a PostgreSQL that cannot be reached is refused without showing its password", async () => {
  const refusal = await usePostgres("postgresql://someone:hidden@127.0.0.1:1/nothing").catch(String);

  expect(refusal).toContain("ECONNREFUSED");
  expect(refusal).not.toContain("hidden");
});
