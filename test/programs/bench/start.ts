import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { readOptions } from "../../../lib/local/read-options.ts";

const HELP = `npm run bench:start [-- --check] [--json]

Times the first minute of a newcomer: git clone of the present commit, npm install, the first npm start with each of its
steps, and a second npm start of the same folder, all in a folder that is thrown away.

  --check  ends with 1 when the first start takes more than 10 s, or is silent for more than 5
  --json   the figures as JSON`;

const options = readOptions(HELP, {
  check: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
});

const MOST_SECONDS = 10;
const MOST_SILENT_SECONDS = 5;

interface Timed {
  readonly name: string;
  readonly seconds: number;
  /** The longest time without a line, from the beginning on. */
  readonly silentSeconds: number;
  readonly lines: readonly string[];
}

const PROJECT = resolve(import.meta.dirname, "../../..");
const home = mkdtempSync(join(tmpdir(), "bridge-bench-start-"));
chmodSync(home, 0o711); // so that PostgreSQL, which may run as another user, reaches its programs and data
const clone = join(home, "bridge");
try {
  const load = loadavg()[0] ?? 0;
  const steps = [
    await timed("git clone", home, ["git", "clone", "--quiet", `file://${PROJECT}`, clone]),
    await timed("npm install", clone, ["npm", "install", "--no-audit", "--no-fund"]),
  ];
  if (existsSync(join(clone, "dist"))) throw new Error("npm install has built something: an install script ran");
  const start = ["npm", "start", "--", "--port", "0", "--json"];
  const first = await timed("npm start, the first", clone, start, isReady);
  steps.push(first, await timed("npm start, again", clone, start, isReady));
  tell(steps, load);
  if (options.check && (first.seconds > MOST_SECONDS || first.silentSeconds > MOST_SILENT_SECONDS))
    process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Runs a command until it ends, or says that it is ready and is then stopped. */
async function timed(
  name: string,
  folder: string,
  [command = "", ...args]: readonly string[],
  isEnough: (line: string) => boolean = () => false,
): Promise<Timed> {
  const began = performance.now();
  const child = spawn(command, args, {
    cwd: folder,
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const ended = new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
  const lines: string[] = [];
  let [last, silent, ready] = [began, 0, false];
  const seconds = await new Promise<number>((done) => {
    const finish = () => done((performance.now() - began) / 1000);
    for (const line of linesOf(child))
      line.on("line", (text) => {
        if (ready) return;
        silent = Math.max(silent, performance.now() - last);
        last = performance.now();
        ready = isEnough(text);
        if (ready) finish();
        else lines.push(text);
      });
    void ended.then(finish, finish);
  });
  if (ready && child.pid) process.kill(-child.pid, "SIGTERM"); // npm's shell would not pass it on
  const code = await ended;
  if (!ready && code !== 0) throw new Error(`${name} ended with ${code}:\n${lines.slice(-20).join("\n")}`);
  return { name, seconds, silentSeconds: silent / 1000, lines };
}

function linesOf({ stdout, stderr }: ChildProcess) {
  return [stdout, stderr].flatMap((input) => (input === null ? [] : [createInterface({ input })]));
}

/** What `npm start --json` prints when everything runs. */
function isReady(line: string): boolean {
  return line.startsWith("{") && line.includes('"base_url"');
}

/** That of a newcomer's shell: nothing of the npm script that this is. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|BRIDGE_|NODE_COMPILE_CACHE)/.test(name));
  return { ...Object.fromEntries(kept), npm_config_prefer_offline: "true" };
}

function tell(steps: readonly Timed[], load: number): void {
  const processors = availableParallelism();
  if (options.json) {
    console.log(JSON.stringify({ load, processors, steps }, null, 2));
    return;
  }
  console.log(`${processors} processors, load ${load.toFixed(1)} before\n`);
  for (const { name, seconds, silentSeconds, lines } of steps) {
    const silence = name.startsWith("npm start") ? `, at most ${silentSeconds.toFixed(1)} s without a line` : "";
    console.log(`${seconds.toFixed(1).padStart(6)} s  ${name}${silence}`);
    if (name.startsWith("npm start"))
      for (const line of lines.filter((text) => / s {2}/.test(text))) console.log(`          ${line.trim()}`);
  }
}
