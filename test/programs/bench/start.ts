import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { readOptions } from "../../../lib/local/read-options.ts";
import { type Figure, report } from "./figures.ts";

const HELP = `npm run bench:start [-- --json]

Times the first minute of a newcomer: git clone of the present commit, npm install, the first npm start, and a second one
of the same folder, all in a folder that is thrown away. Ends with 1 when the first start takes more than 10 s, or is
silent for more than 5.

  --json  the figures as JSON`;

const options = readOptions(HELP, { json: { type: "boolean", default: false } });

interface Timed {
  readonly seconds: number;
  /** The longest time without a line, from the beginning on. */
  readonly silentSeconds: number;
}

const PROJECT = resolve(import.meta.dirname, "../../..");
const home = mkdtempSync(join(tmpdir(), "bridge-bench-start-"));
chmodSync(home, 0o711); // so that PostgreSQL, which may run as another user, reaches its programs and data
const clone = join(home, "bridge");
try {
  const cloned = await timed(home, ["git", "clone", "--quiet", `file://${PROJECT}`, clone]);
  const installed = await timed(clone, ["npm", "install", "--no-audit", "--no-fund"]);
  if (existsSync(join(clone, "dist"))) throw new Error("npm install has built something: an install script ran");
  const start = ["npm", "start", "--", "--port", "0", "--json"];
  const [first, again] = [await timed(clone, start, isReady), await timed(clone, start, isReady)];
  const figures: Figure[] = [
    { name: "git clone", value: cloned.seconds, unit: "s" },
    { name: "npm install", value: installed.seconds, unit: "s" },
    { name: "npm start, the first", value: first.seconds, unit: "s", atMost: 10 },
    { name: "  without a line for at most", value: first.silentSeconds, unit: "s", atMost: 5 },
    { name: "npm start, again", value: again.seconds, unit: "s" },
  ];
  report(figures, options);
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Runs a command until it ends, or says that it is ready and is then stopped. */
async function timed(
  cwd: string,
  [command = "", ...args]: readonly string[],
  isEnough: (line: string) => boolean = () => false,
): Promise<Timed> {
  const began = performance.now();
  const child = spawn(command, args, { cwd, env: environment(), stdio: ["ignore", "pipe", "pipe"], detached: true });
  const ended = new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
  const lines: string[] = [];
  let [last, silent, ready] = [began, 0, false];
  const seconds = await new Promise<number>((done) => {
    const finish = () => done((performance.now() - began) / 1000);
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on("line", (text) => {
        if (ready) return;
        silent = Math.max(silent, performance.now() - last);
        last = performance.now();
        lines.push(text);
        ready = isEnough(text);
        if (ready) finish();
      });
    void ended.then(finish, finish);
  });
  if (ready && child.pid) process.kill(-child.pid, "SIGTERM"); // npm's shell would not pass it on
  const code = await ended;
  if (!ready && code !== 0)
    throw new Error(`${command} ${args[0]} ended with ${code}:\n${lines.slice(-20).join("\n")}`);
  return { seconds, silentSeconds: silent / 1000 };
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
