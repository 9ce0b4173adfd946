import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";
import { median, report } from "./figures.ts";

const HELP = `npm run bench:cli [-- --json]

What the command line takes to start, bridge --help and a command that finds no service, as a multiple of an empty
program of the same Node. Ends with 1 when a start takes too long.

  --json  the figures as JSON`;

const options = readOptions(HELP, { json: { type: "boolean", default: false } });

/**
 * Start is promised in 200 ms on a machine whose Node starts in 40 ms. The clock shows what else a machine does, so the
 * bar is set on processor time and as a ratio to Node's own start, measured alternately with it; medians count.
 */
const RUNS = 15;
const MOST_RATIO = 200 / 40;

const program = resolve(import.meta.dirname, "../../../bin/bridge.mjs");
const folder = mkdtempSync(join(tmpdir(), "bridge-bench-cli-"));
/** As the program ends it reports its processor time itself. */
const teller = join(folder, "teller.cjs");
writeFileSync(
  teller,
  `process.on("exit", () => {
    const { user, system } = process.cpuUsage();
    require("node:fs").writeSync(1, "processor " + (user + system));
  });`,
);

const COMMANDS = { "bridge --help": [program, "--help"], "bridge mapping list": [program, "mapping", "list"] };

try {
  const starts = Object.entries({ "an empty program": ["-e", "0"], ...COMMANDS });
  for (const [, args] of starts) run(args); // the first start fills the compile cache
  const runs = Array.from({ length: RUNS }, () => starts.map(([, args]) => run(args)));
  const [nothing = 0, ...took] = starts.map((_, at) => median(runs.map((one) => one[at] ?? 0)));
  const figures = Object.keys(COMMANDS).flatMap((name, at) => {
    const value = took[at] ?? 0;
    return [
      { name, value, unit: "ms" },
      { name: "  times an empty program", value: value / nothing, unit: "×", atMost: MOST_RATIO },
    ];
  });
  report([{ name: "an empty program", value: nothing, unit: "ms" }, ...figures], options);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Processor time of one start, in milliseconds. */
function run(args: readonly string[]): number {
  const { stdout } = spawnSync(process.execPath, ["--require", teller, ...args], {
    env: { ...process.env, HOME: folder, BRIDGE_DATA_DIR: folder },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const microseconds = /processor (\d+)$/.exec(stdout)?.[1];
  if (microseconds === undefined) throw new Error(`${args.join(" ")} did not end on its own`);
  return Number(microseconds) / 1000;
}
