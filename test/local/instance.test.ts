import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { hasWriter } from "../../lib/local/demo/demo-writer.ts";
import { RunningInstance, ready } from "../support/processes/instance.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { createTestDatabase } from "../support/worlds/postgres.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** A data folder with a demo; each test leaves it stopped. */
const instance = new RunningInstance();
beforeAll(async () => {
  await instance.start();
  await instance.stop();
});
afterAll(() => instance.destroy());

/** A port that another program has until the test ends. */
async function occupied(port = 0): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    await once(server, "close");
  });
  return (server.address() as { port: number }).port;
}

const portOf = (url: string): number => Number(new URL(url).port);

longTest("a data folder that cannot be created is named, with the remedy", async () => {
  const folder = join(instance.dataDir, "instance.json", "below");

  const { said, code } = await instance.refused("--data-dir", folder);

  expect(code).toBe(1);
  expect(said).toContain(`the data folder ${folder} cannot be written (ENOTDIR`);
});

test("an unknown option is named, and nothing starts", async () => {
  const { said, code } = await instance.refused("--prot", "8081");

  expect([said, code]).toEqual(["Unknown option '--prot': --help names the options\n", 1]);
});

longTest("a port that is in use is named, with the way to choose another; an empty HOST is none", async () => {
  vi.stubEnv("HOST", "");
  const port = await occupied();

  const { said, code } = await instance.refused("--port", String(port));

  expect(code).toBe(1);
  expect(said).toContain(
    `the service cannot listen on 127.0.0.1:${port}: another program has it; choose another with --port`,
  );
});

longTest("a signal that comes while it starts ends it with a word", async () => {
  const child = instance.serve();
  const gone = once(child, "exit");
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    if (said.push(line) === 1) child.kill("SIGTERM");
  }

  expect(await gone).toEqual([143, null]);
  expect(said.at(-1)).toBe("  stopped before it was ready; the next start continues from here");
});

longTest("a start without a demo keeps the one that is there, for the next one to continue with", async () => {
  const { workspace_id, api_token } = instance.file;
  const without = new RunningInstance({ dataDir: instance.dataDir, demo: ["--no-demo"] });
  const starts: object[] = [];
  for (const one of [without, instance]) {
    starts.push(await one.start());
    await one.stop();
  }

  expect(api_token).toMatch(/^brg_/);
  expect(starts).toMatchObject([0, 1].map(() => ({ workspace_id, api_token })));
});

longTest("a port that the workspace's connections name is neither waited for nor replaced", async () => {
  const [database, org] = [portOf(instance.file.database_url), portOf(instance.file.salesforce.url)];
  await occupied(database);
  const withoutDatabase = await instance.refused();
  await occupied(org);
  const withoutOrg = await instance.refused();

  expect(withoutDatabase.said).toContain(`the embedded PostgreSQL cannot listen on 127.0.0.1:${database}`);
  expect(withoutOrg.said).toMatch(/cannot listen on 127\.0\.0\.1:\d+: another program has it/);
});

longTest("another database than that in which the demo's tables lie is refused", async () => {
  const database = await createTestDatabase();
  onTestFinished(database.close);

  const { said } = await instance.refused("--database-url", database.url);

  expect(said).toContain(
    `the demo of this data folder has its tables in 127.0.0.1:${portOf(instance.file.database_url)}/bridge`,
  );
});

test("a database of the user's own gets the demo's tables, and neither sample rows nor a writer", async () => {
  const database = await createTestDatabase();
  const theirs = new RunningInstance({ live: true, flags: ["--database-url", database.url] });
  onTestFinished(() => theirs.destroy().finally(database.close));
  await theirs.start();
  const client = new Client(database.url);
  await client.connect();
  const { rows } = await client.query("SELECT name FROM salesforce.account").finally(() => client.end());

  const ways = [theirs.file.base_url, theirs.file.salesforce.url].map((url) => url.replace("127.0.0.1", "127.0.0.2"));
  const beside = await Promise.allSettled(ways.map((url) => fetch(url)));

  expect(rows).toEqual([]);
  expect(
    beside.map(({ status }) => status),
    "it listens on 127.0.0.1 alone",
  ).toEqual(["rejected", "rejected"]);
  expect(hasWriter(theirs.dataDir)).toBe(false);
});

longTest("an instance.json that a user has changed is named, with what is wrong in it", async () => {
  const path = join(instance.dataDir, "instance.json");
  const whole = readFileSync(path);
  onTestFinished(() => writeFileSync(path, whole));
  writeFileSync(path, JSON.stringify({ ...instance.file, database_url: 5 }));

  const { said } = await instance.refused();

  expect(said).toContain(`${path} is not as a start writes it: correct it, or choose another data folder`);
  expect(said).toContain("at database_url");
});

longTest("a data folder whose instance.json was lost gets no second demo beside the first", async () => {
  const path = join(instance.dataDir, "instance.json");
  const whole = readFileSync(path);
  onTestFinished(() => writeFileSync(path, whole));
  rmSync(path);

  const { said } = await instance.refused();

  expect(said).toContain(
    `holds the workspace ${instance.file.workspace_id}, but no instance.json, which had its token`,
  );
});

test("the death of a part that nothing works without ends it, and the log says which", async () => {
  const child = instance.serve();
  const said = text(child.stderr);
  const gone = once(child, "exit");
  await ready(child);

  process.kill(postmasterOf(instance.dataDir), "SIGKILL");

  expect(await gone).toEqual([1, null]);
  expect(await said).toMatch(
    /Bridge stops: the embedded PostgreSQL has ended; its last words are in .+\/postgres\.log/,
  );
  const { level, event } = JSON.parse(
    readFileSync(join(instance.dataDir, "bridge.log"), "utf8").trim().split("\n").at(-1) ?? "",
  );
  expect([level, event]).toEqual(["error", "lost"]);
});

function postmasterOf(folder: string): number {
  const home = readdirSync(join(folder, "postgres")).includes("moved-to")
    ? readFileSync(join(folder, "postgres/moved-to"), "utf8").trim()
    : join(folder, "postgres");
  return Number.parseInt(readFileSync(join(home, "cluster/postmaster.pid"), "utf8"), 10);
}
