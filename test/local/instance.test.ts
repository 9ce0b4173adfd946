import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { InstanceFile } from "../../lib/local/instance-file.ts";
import { createTestDatabase } from "../support/worlds/postgres.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const PROJECT = resolve(import.meta.dirname, "../..");

/** A data folder with a demo, made once; each test leaves it stopped. */
let dataDir: string;
let made: InstanceFile;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "bridge-test-"));
  chmodSync(dataDir, 0o711); // else PostgreSQL, which may run as another user, has its data elsewhere
  made = await ended(serve(), readyThenStopped);
});

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

function serve(...flags: string[]): ChildProcess {
  const order = ["bin/serve.ts", "--json", "--data-dir", dataDir, ...(flags.includes("--port") ? [] : ["--port", "0"])];
  return spawn(process.execPath, [...order, ...flags], { cwd: PROJECT, stdio: ["ignore", "pipe", "pipe"] });
}

/** What came of a process until it is gone. */
async function ended<Found>(child: ChildProcess, work: (child: ChildProcess) => Promise<Found>): Promise<Found> {
  const gone = once(child, "exit");
  const found = await work(child);
  await gone;
  return found;
}

/** What it says of itself when it is ready. */
async function ready({ stdout }: ChildProcess): Promise<InstanceFile> {
  if (!stdout) throw new Error("the process has no output");
  const [line] = await Promise.race([
    once(createInterface({ input: stdout }), "line"),
    once(stdout, "close").then(() => Promise.reject(new Error("it ended before it was ready"))),
  ]);
  return JSON.parse(String(line)) as InstanceFile;
}

async function readyThenStopped(child: ChildProcess): Promise<InstanceFile> {
  const file = await ready(child);
  child.kill("SIGTERM");
  return file;
}

/** All that a start says that does not come to be ready, and its exit code. */
async function refused(...flags: string[]): Promise<{ said: string; code: number | null }> {
  const child = serve(...flags);
  const [said, [code]] = await Promise.all([child.stderr ? text(child.stderr) : "", once(child, "exit")]);
  return { said, code };
}

async function occupied(port = 0): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    await once(server, "close");
  });
  return (server.address() as { port: number }).port;
}

const portOf = (url: string) => Number(new URL(url).port);

test("a start without a demo keeps the one that is there, for the next one to go on with", async () => {
  const without = await ended(serve("--no-demo"), readyThenStopped);
  const after = await ended(serve(), readyThenStopped);

  const demo = { workspace_id: made.workspace_id, api_token: made.api_token };
  expect(made.api_token).toMatch(/^brg_/);
  expect([without, after]).toMatchObject([demo, demo]);
});

test("a data folder that cannot be made is named, with the remedy", async () => {
  const folder = join(dataDir, "instance.json", "below");

  const { said, code } = await refused("--data-dir", folder);

  expect(code).toBe(1);
  expect(said).toContain(`the data folder ${folder} cannot be written (ENOTDIR`);
});

test("a port that is taken is named, with the way to choose another", async () => {
  const port = await occupied();

  const { said, code } = await refused("--port", String(port));

  expect(code).toBe(1);
  expect(said).toContain(
    `the service cannot listen on 127.0.0.1:${port}: another program has it; choose another with --port`,
  );
});

test("a port that the workspace's connections name is waited for by nobody and replaced by none", async () => {
  const [database, org] = [portOf(made.database_url), portOf(made.salesforce.url)];
  await occupied(database);
  const withoutDatabase = await refused();
  await occupied(org);
  const withoutOrg = await refused();

  expect(withoutDatabase.said).toContain(`the embedded PostgreSQL cannot listen on 127.0.0.1:${database}`);
  expect(withoutOrg.said).toMatch(/cannot listen on 127\.0\.0\.1:\d+: another program has it/);
});

test("another database than that in which the demo's tables lie is refused", async () => {
  const database = await createTestDatabase();
  onTestFinished(database.close);

  const { said } = await refused("--database-url", database.url);

  expect(said).toContain(
    `the demo of this data folder has its tables in 127.0.0.1:${portOf(made.database_url)}/bridge`,
  );
});

test("an instance.json that somebody has changed is named, with what is wrong in it", async () => {
  const path = join(dataDir, "instance.json");
  const whole = readFileSync(path);
  onTestFinished(() => writeFileSync(path, whole));
  writeFileSync(path, JSON.stringify({ ...made, database_url: 5 }));

  const { said } = await refused();

  expect(said).toContain(`${path} is not as a start writes it: mend it, or choose another data folder`);
  expect(said).toContain("at database_url");
});

test("a data folder whose instance.json was lost gets no second demo beside the first", async () => {
  const path = join(dataDir, "instance.json");
  const whole = readFileSync(path);
  onTestFinished(() => writeFileSync(path, whole));
  rmSync(path);

  const { said } = await refused();

  expect(said).toContain(`holds the workspace ${made.workspace_id}, but no instance.json, which had its token`);
});

test("a signal that comes while it starts ends it with a word", async () => {
  const child = serve();
  const gone = once(child, "exit");
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr ?? process.stdin })) {
    if (said.push(line) === 1) child.kill("SIGTERM");
  }

  expect(await gone).toEqual([143, null]);
  expect(said.at(-1)).toBe("  stopped before it was ready; the next start goes on from here");
});

test("the death of a part that nothing works without ends it, and the log says which", async () => {
  const child = serve();
  const said = child.stderr ? text(child.stderr) : "";
  const gone = once(child, "exit");
  await ready(child);

  process.kill(postmasterOf(dataDir), "SIGKILL");

  expect(await gone).toEqual([1, null]);
  expect(await said).toMatch(
    /Bridge stops: the embedded PostgreSQL has ended; its last words are in .+\/postgres\.log/,
  );
  const { level, event } = JSON.parse(
    readFileSync(join(dataDir, "bridge.log"), "utf8").trim().split("\n").at(-1) ?? "",
  );
  expect([level, event]).toEqual(["error", "lost"]);
});

function postmasterOf(folder: string): number {
  const home = readdirSync(join(folder, "postgres")).includes("moved-to")
    ? readFileSync(join(folder, "postgres/moved-to"), "utf8").trim()
    : join(folder, "postgres");
  return Number.parseInt(readFileSync(join(home, "cluster/postmaster.pid"), "utf8"), 10);
}
