import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";

const HELP = `npm run bench:cli [-- --check] [--json]

What the command line takes to start, bridge --help and a command that finds no service, beside an empty program
of the same Node.

  --check  ends with 1 when a start takes too long
  --json   the figures as JSON`;

const options = readOptions(HELP, {
  check: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
});

/**
 * Start is promised in 200 ms on a machine whose Node starts in 40 ms. The clock shows what else a machine does, so the
 * bar is set on processor time and as a ratio to Node's own start, measured alternately with it; medians count.
 */
const RUNS = 15;
const MOST_MILLISECONDS = 200;
const NODE_MILLISECONDS = 40;
const MOST_RATIO = MOST_MILLISECONDS / NODE_MILLISECONDS;

interface Run {
  readonly clock: number;
  readonly processor: number;
}

const program = resolve(import.meta.dirname, "../../../bin/bridge.mjs");
const folder = mkdtempSync(join(tmpdir(), "bridge-bench-cli-"));
const teller = join(folder, "teller.cjs");
writeFileSync(
  teller,
  `process.on("exit", () => {
    const { user, system } = process.cpuUsage();
    require("node:fs").writeSync(1, "processor " + (user + system));
  });`,
);
const env = { ...process.env, HOME: folder, BRIDGE_DATA_DIR: folder };

const COMMANDS = {
  "node -e 0": ["-e", "0"],
  "bridge --help": [program, "--help"],
  "bridge mapping list": [program, "mapping", "list"],
} as const;
type Command = keyof typeof COMMANDS;

try {
  for (const args of Object.values(COMMANDS)) run(args); // the first start fills the compile cache
  const runs = Array.from({ length: RUNS }, () =>
    Object.fromEntries(Object.entries(COMMANDS).map(([name, args]) => [name, run(args)])),
  );
  const median = (name: Command, of: keyof Run) => {
    const sorted = runs.map((one) => one[name]?.[of] ?? 0).toSorted((one, other) => one - other);
    return sorted[RUNS >> 1] ?? 0;
  };
  const figures = (Object.keys(COMMANDS) as Command[]).map((name) => ({
    name,
    processor: median(name, "processor"),
    clock: median(name, "clock"),
    ratio: median(name, "processor") / median("node -e 0", "processor"),
  }));
  const slowest = Math.max(...figures.map(({ ratio }) => ratio));
  if (options.json) console.log(JSON.stringify({ figures, slowest, most: MOST_RATIO }, null, 2));
  else {
    console.log("processor    clock   ratio");
    for (const { name, processor, clock, ratio } of figures) {
      const [ofProcessor, ofClock] = [processor, clock].map((value) => `${value.toFixed(0)} ms`);
      console.log(`${ofProcessor?.padStart(9)} ${ofClock?.padStart(8)} ${ratio.toFixed(2).padStart(7)}   ${name}`);
    }
    console.log(`slowest ${slowest.toFixed(2)} of ${MOST_RATIO} times Node's own start`);
  }
  if (options.check && slowest > MOST_RATIO) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** One start; the program itself reports, as it ends, its processor time. */
function run(args: readonly string[]): Run {
  const began = performance.now();
  const { stdout } = spawnSync(process.execPath, ["--require", teller, ...args], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const clock = performance.now() - began;
  const milliseconds = /processor (\d+)$/.exec(stdout)?.[1];
  if (milliseconds === undefined) throw new Error(`${args.join(" ")} did not end on its own`);
  return { clock, processor: Number(milliseconds) / 1000 };
}
