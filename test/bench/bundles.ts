import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROUTES } from "../../lib/http/routes.ts";
import { BUNDLES, type Bundle, build } from "../../lib/infra/build.ts";

/**
 * Size and import time of every bundle: what a cold start costs beside Lambda's own. `npm run bench:bundles [-- --check]`
 *
 * Each import runs in a fresh process, ten times; medians count. The time on the clock depends on the machine and on
 * what else it does, so the limit is set on processor time, in units of what Node itself takes to start in the same
 * process: 60 ms is meant on a machine where that is 19 ms.
 */
const RUNS = 10;
const MOST_KIBIBYTES = 500;
const MOST_MILLISECONDS = 60;
const NODE_START_MILLISECONDS = 19;

interface Measured {
  readonly name: string;
  readonly kibibytes: number;
  /** On the clock of this machine. */
  readonly clockMilliseconds: number;
  /** On the machine that the limit is set for. */
  readonly milliseconds: number;
}

interface Run {
  readonly clock: number;
  readonly processor: number;
  readonly start: number;
}

const measured = (await build({ strict: true })).map(measure);
console.log("     size    import   on this clock");
for (const { name, kibibytes, milliseconds, clockMilliseconds } of measured) {
  console.log(`${inUnit(kibibytes, "KiB")} ${inUnit(milliseconds, "ms")} ${inUnit(clockMilliseconds, "ms")}   ${name}`);
}

const endpoints = measured.filter(({ name }) => name in ROUTES || name === "no-such-endpoint");
const over = endpoints.filter((bundle) => bundle.kibibytes > MOST_KIBIBYTES || bundle.milliseconds > MOST_MILLISECONDS);
console.log(
  `endpoints: largest ${largest(({ kibibytes }) => kibibytes)} of ${MOST_KIBIBYTES} KiB, ` +
    `slowest ${largest(({ milliseconds }) => milliseconds)} of ${MOST_MILLISECONDS} ms`,
);
for (const { name } of over) console.log(`over the limit: ${name}`);
if (process.argv.includes("--check") && over.length > 0) process.exitCode = 1;

function measure({ name, bytes }: Bundle): Measured {
  const runs = Array.from({ length: RUNS }, () => importOnce(name));
  return {
    name,
    kibibytes: bytes / 1024,
    clockMilliseconds: median(runs.map(({ clock }) => clock)),
    milliseconds: median(runs.map(({ processor, start }) => processor / start)) * NODE_START_MILLISECONDS,
  };
}

function importOnce(name: string): Run {
  const url = pathToFileURL(join(BUNDLES, name, "index.mjs")).href;
  const program = `
    globalThis.awslambda = { streamifyResponse: (handler) => handler }; // asked for while a module is loaded
    const sum = ({ user, system }) => (user + system) / 1000;
    const began = performance.now();
    const before = process.cpuUsage();
    await import(${JSON.stringify(url)});
    const processor = sum(process.cpuUsage(before));
    console.log(JSON.stringify({ clock: performance.now() - began, processor, start: sum(before) }));
    process.exit();`;
  return JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
  ) as Run;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

function largest(of: (bundle: Measured) => number): number {
  return Math.round(Math.max(...endpoints.map(of)));
}

function inUnit(value: number, unit: string): string {
  return `${Math.round(value)} ${unit}`.padStart(9);
}
