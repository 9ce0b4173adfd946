import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { occupied, ready, StoppedInstance } from "../support/processes/stopped-instance.ts";
import { longTest } from "../support/run/whole-grid.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const instance = new StoppedInstance();
beforeAll(() => instance.make());
afterAll(() => instance.destroy());

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
  for await (const line of createInterface({ input: child.stderr ?? process.stdin })) {
    if (said.push(line) === 1) child.kill("SIGTERM");
  }

  expect(await gone).toEqual([143, null]);
  expect(said.at(-1)).toBe("  stopped before it was ready; the next start continues from here");
});

test("the death of a part that nothing works without ends it, and the log says which", async () => {
  const child = instance.serve();
  const said = child.stderr ? text(child.stderr) : "";
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
