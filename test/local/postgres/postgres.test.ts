import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startPostgres } from "../../../lib/local/postgres/start-postgres.ts";
import { usePostgres } from "../../../lib/local/postgres/use-postgres.ts";
import { identityOf } from "../../../lib/local/process-identity.ts";
import { canKillGuards, killGuard } from "../../support/processes/kill-guard.ts";
import { runUntilKilled } from "../../support/processes/run-until-killed.ts";
import { createTestDatabase } from "../../support/worlds/postgres.ts";
import { ask, start } from "./start-and-ask.ts";

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
    const { url } = await start({ dataDir });
    const settings = ["fsync", "server_encoding", "listen_addresses", "unix_socket_directories", "TimeZone"];

    const rows = await ask(url, "SELECT name, setting FROM pg_settings WHERE name = ANY($1) ORDER BY name", [settings]);

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

  test("keeps its password in a file that only its owner can read", async () => {
    const { url } = await start({ dataDir });

    expect(statSync(join(dataDir, "password")).mode & 0o777).toBe(0o600);
    expect(url).toContain(readFileSync(join(dataDir, "password"), "utf8").trim());
  });

  test("loses nothing that was committed when its owner is killed, and starts again at once", async () => {
    const victim = await runUntilKilled("hold-postgres.ts", dataDir);
    await ask(String(victim.said["url"]), "CREATE TABLE numbers AS SELECT generate_series(1, 1000) AS n");

    await victim.kill();
    const { url } = await start({ dataDir });

    expect(await ask(url, "SELECT count(*)::int AS n FROM numbers")).toEqual([{ n: 1000 }]);
  });

  test("ends a server that outlived its killed owner and the guard", { skip: !canKillGuards }, async () => {
    const victim = await runUntilKilled("hold-postgres.ts", dataDir);
    const orphan = identityOf(Number.parseInt(readFileSync(join(dataDir, "cluster", "postmaster.pid"), "utf8"), 10));
    killGuard(Number(orphan?.pid));
    await victim.kill();
    expect(identityOf(Number(orphan?.pid))).toEqual(orphan);

    const { url } = await start({ dataDir });

    expect(identityOf(Number(orphan?.pid))).not.toEqual(orphan);
    expect(await ask(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("starts although its stale pid file names another process", async () => {
    writeFileSync(join(dataDir, "cluster", "postmaster.pid"), `${process.pid}\n${join(dataDir, "cluster")}\n`);

    const { url } = await start({ dataDir });

    expect(await ask(url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("says what to do with the databases of another version", async () => {
    const version = join(dataDir, "cluster", "PG_VERSION");
    const present = readFileSync(version, "utf8");
    onTestFinished(() => writeFileSync(version, present));
    writeFileSync(version, "9\n");

    await expect(startPostgres({ dataDir })).rejects.toThrow(
      "are those of another version of PostgreSQL: dump them with the release of Bridge that made them",
    );
  });

  test("says who owns the folder when it is started twice", async () => {
    await start({ dataDir });

    await expect(startPostgres({ dataDir })).rejects.toThrow(`in use by process ${process.pid}`);
  });
});

describe("a PostgreSQL that runs already", () => {
  test("is accepted when it can serve", async () => {
    const database = await createTestDatabase();
    onTestFinished(database.close);

    const postgres = await usePostgres(database.url);

    expect(postgres.url).toBe(database.url);
  });

  test("is refused with the remedy when the role may not create a schema", async () => {
    const database = await createTestDatabase();
    onTestFinished(database.close);
    const role = `weak_${Date.now()}`;
    await ask(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'weak'`);
    const url = new URL(database.url);
    url.username = role;
    url.password = "weak";

    await expect(usePostgres(url.href)).rejects.toThrow(
      `GRANT CREATE ON DATABASE "${url.pathname.slice(1)}" TO "${role}"`,
    );
  });

  test("is refused without showing its password when it cannot be reached", async () => {
    const refusal = await usePostgres("postgresql://someone:hidden@127.0.0.1:1/nothing").catch(String);

    expect(refusal).toContain("ECONNREFUSED");
    expect(refusal).not.toContain("hidden");
  });
});
