import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { RunningInstance } from "../support/processes/instance.ts";

/**
 * The data folder of each released version, made by that version's own code from the repository, is started by this one
 * and then by the released one again.
 */
const RELEASES = [
  { version: "0.2.0", commit: "8703ccfe", schema: 8, flags: [] },
  { version: "0.3.0", commit: "8d0ca8b9", schema: 9, flags: ["--quiet-demo"] },
] as const;

const PROJECT = resolve(import.meta.dirname, "../..");
const MINUTE = 60_000;
const ROWS = 200;

test.for(RELEASES)("a data folder of $version is continued by this version, and by $version again", async (release) => {
  const project = releasedProject(release);
  const old = new RunningInstance({ project, demo: release.flags });
  onTestFinished(() => old.stop());
  await old.start();
  const { dataDir } = old;
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  await insert(old, "Before", ROWS);
  await reachesOrg(old, "Before", ROWS);
  await fromOrg(old, "From the org before");

  // A power cut in the middle of a push leaves changes that are claimed or sent, and some that were never claimed. What
  // has an upsert value is sent again at once; of any other change the answer is looked for during eleven minutes.
  const holder = await holdResults(old);
  await insert(old, "Cut", ROWS);
  await expect.poll(() => waiting(old, "PENDING")).toBeGreaterThan(0);
  await insert(old, "Waiting", 3);
  await old.kill();
  await holder.end().catch(() => undefined);

  const now = new RunningInstance({ dataDir });
  onTestFinished(() => now.stop());
  await now.start();
  const ready = performance.now();
  const left = { NEW: await waiting(now, "NEW"), PENDING: await waiting(now, "PENDING") };
  const found = await versionOf(now);
  await insert(now, "After", 3);
  await Promise.all([reachesOrg(now, "After", 3), fromOrg(now, "From the org after")]);
  const bothWays = performance.now() - ready;
  await reachesOrg(now, "Waiting", 3);
  await reachesOrg(now, "Cut", ROWS);
  await expect.poll(() => versionOf(now)).toBe(9);
  await settled(now);
  const log = readFileSync(join(dataDir, "bridge.log"), "utf8");
  await now.stop();

  const again = new RunningInstance({ project, dataDir, demo: release.flags });
  onTestFinished(() => again.stop());
  await again.start();
  await insert(again, "Back", 3);
  await Promise.all([reachesOrg(again, "Back", 3), fromOrg(again, "From the org, back")]);
  await settled(again);

  expect(left.NEW + left.PENDING).toBeGreaterThan(3);
  expect(found).toBe(release.schema);
  expect(bothWays).toBeLessThan(MINUTE);
  expect(log.includes("is being upgraded from version 8 to 9")).toBe(release.schema === 8);
  expect(log).not.toMatch(/does not exist/);
  for (const [name, rows] of [
    ["Before", ROWS],
    ["Cut", ROWS],
    ["Waiting", 3],
    ["After", 3],
    ["Back", 3],
  ] as const)
    expect(await records(again, name)).toEqual(names(name, rows));
});

/** The released version's files in a folder of their own, with the packages of this one, which are the same. */
function releasedProject({ version, commit }: (typeof RELEASES)[number]): string {
  const folder = mkdtempSync(join(tmpdir(), `bridge-${version}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const archive = execFileSync("git", ["archive", commit], { cwd: PROJECT, maxBuffer: 2 ** 30 });
  execFileSync("tar", ["--extract"], { cwd: folder, input: archive });
  const packages = join(PROJECT, "node_modules");
  mkdirSync(join(folder, "node_modules"));
  for (const entry of readdirSync(packages, { withFileTypes: true })) {
    const from = join(packages, entry.name);
    // The project's own workspaces are linked by relative paths: each version has its own.
    symlinkSync(entry.isSymbolicLink() ? readlinkSync(from) : from, join(folder, "node_modules", entry.name));
  }
  return folder;
}

const names = (name: string, rows: number) => Array.from({ length: rows }, (_, at) => `${name} ${at + 1}`).toSorted();

const insert = (on: RunningInstance, name: string, rows: number) =>
  on.sql(
    "INSERT INTO salesforce.contact (lastname, external_id__c) SELECT $1 || ' ' || n, $1 || ' ' || n FROM generate_series(1, $2::int) n",
    [name, rows],
  );

/** Once each, however often it is looked. */
const records = async (on: RunningInstance, name: string) =>
  (await on.soql(`SELECT LastName FROM Contact WHERE LastName LIKE '${name} %' ORDER BY LastName LIMIT 2000`))
    .map(({ LastName }) => String(LastName))
    .filter((found) => /^\w+ \d+$/.test(found))
    .toSorted();

const reachesOrg = (on: RunningInstance, name: string, rows: number) =>
  expect.poll(() => records(on, name)).toEqual(names(name, rows));

/** Until the client ends, no change is settled: another transaction has locked the totals. */
async function holdResults(on: RunningInstance): Promise<Client> {
  const holder = new Client({ connectionString: on.file.database_url });
  holder.on("error", () => undefined); // its server goes first
  await holder.connect();
  await holder.query("BEGIN");
  await holder.query("SELECT FROM salesforce._bridge_totals FOR UPDATE");
  return holder;
}

async function fromOrg(on: RunningInstance, lastName: string): Promise<void> {
  await on.org("POST", "/sobjects/Contact", { LastName: lastName });
  const rows = () => on.sql("SELECT lastname FROM salesforce.contact WHERE lastname = $1", [lastName]);
  await expect.poll(rows).toEqual([{ lastname: lastName }]);
}

async function waiting(on: RunningInstance, state: string): Promise<number> {
  const [row] = await on.sql<{ n: number }>(
    "SELECT count(*)::int AS n FROM salesforce._trigger_log WHERE processed_at IS NULL AND state = $1",
    [state],
  );
  return row?.n ?? 0;
}

const settled = (on: RunningInstance) =>
  expect
    .poll(() => on.sql("SELECT DISTINCT state, sf_message FROM salesforce._trigger_log"))
    .toEqual([{ state: "SUCCESS", sf_message: null }]);

const versionOf = async (on: RunningInstance) =>
  (await on.sql<{ schema_version: number }>("SELECT schema_version FROM salesforce._bridge_meta"))[0]?.schema_version;
