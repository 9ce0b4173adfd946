import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createTestDatabase } from "../support/worlds/postgres.ts";
import { fencesIn, PROJECT, textOf } from "./blocks.ts";

const [SETTINGS = {}, UNIT = {}] = fencesIn(textOf("lib/docs/one-machine.md"))
  .filter(({ words }) => words === "ini")
  .map(({ content }) =>
    Object.fromEntries([...content.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value])),
  );

const dataDir = mkdtempSync(join(tmpdir(), "bridge-service-"));
chmodSync(dataDir, 0o711);
let service: ChildProcess | null = null;
afterEach(() => {
  service?.kill("SIGKILL");
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

test("the unit of the page starts Bridge on a database of one's own, and its stop signal ends it in order", async () => {
  const { url } = await createTestDatabase();
  const [program = "", ...args] = String(UNIT["ExecStart"])
    .replace(String(UNIT["WorkingDirectory"]), PROJECT)
    .split(" ");
  const settings = { ...SETTINGS, PORT: "0", BRIDGE_DATA_DIR: dataDir, DATABASE_URL: url };
  service = spawn(program, args, { cwd: PROJECT, env: { PATH: process.env["PATH"], ...settings } });
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const hear = (data: unknown) => {
      said += String(data);
      if (said.includes("Bridge is running")) resolve();
    };
    for (const stream of [service?.stdout, service?.stderr]) stream?.on("data", hear);
    service?.once("exit", (code) => reject(new Error(`it ended with ${code}: ${said}`)));
  });
  const ended = new Promise((resolve) => service?.removeAllListeners("exit").once("exit", resolve));
  service.kill("SIGTERM");

  expect(await ended).toBe(0);
  expect(said).not.toContain("Bridge stops");
});

test("the settings of the page are those that the page about npm start has", () => {
  const page = textOf("lib/docs/npm-start.md");

  expect(Object.keys(SETTINGS).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
