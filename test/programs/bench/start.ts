import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { readOptions } from "../../../lib/local/read-options.ts";
import { type Figure, report } from "./figures.ts";

const HELP = `npm run bench:start [-- --json]

Times the first minute of a newcomer with a fresh clone of the present commit: npm install, the first npm start, and a
second one of the same folder, all in a folder that is thrown away. Ends with 1 when the first start takes more than 10 s.

  --json  the figures as JSON`;

const options = readOptions(HELP, { json: { type: "boolean", default: false } });

const PROJECT = resolve(import.meta.dirname, "../../..");
const home = mkdtempSync(join(tmpdir(), "bridge-bench-start-"));
chmodSync(home, 0o711); // so that PostgreSQL, which may run as another user, reaches its programs and data
const clone = join(home, "bridge");
try {
  run(["git", "clone", "--quiet", `file://${PROJECT}`, clone], home);
  const installed = run(["npm", "install", "--no-audit", "--no-fund"], clone);
  if (existsSync(join(clone, "dist"))) throw new Error("npm install has built something: an install script ran");
  const figures: Figure[] = [
    { name: "npm install", value: installed, unit: "s" },
    { name: "npm start, the first", value: await start(), unit: "s", atMost: 10 },
    { name: "npm start, again", value: await start(), unit: "s" },
  ];
  report(figures, options);
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Runs a command to its end; gives its seconds. */
function run([command = "", ...args]: readonly string[], cwd: string): number {
  const began = performance.now();
  const { status } = spawnSync(command, args, { cwd, env: environment(), stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${status}`);
  return (performance.now() - began) / 1000;
}

/** The seconds until npm start says that everything runs; it is then stopped. */
async function start(): Promise<number> {
  const began = performance.now();
  const args = ["start", "--", "--port", "0", "--json"];
  const child = spawn("npm", args, {
    cwd: clone,
    env: environment(),
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const ended = once(child, "close");
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{") || !line.includes('"base_url"')) continue;
    const seconds = (performance.now() - began) / 1000;
    process.kill(-(child.pid ?? 0), "SIGTERM"); // npm's shell would not pass it on
    await ended;
    return seconds;
  }
  throw new Error("npm start ended before everything ran");
}

/** That of a newcomer's shell: nothing of the npm script that this is. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|BRIDGE_|NODE_COMPILE_CACHE)/.test(name));
  return { ...Object.fromEntries(kept), npm_config_prefer_offline: "true" };
}
