import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { readOptions } from "../../../lib/local/read-options.ts";
import { measureFirstLoad } from "./load/first-load.ts";
import { measureBeats } from "./sync/beats.ts";
import { type BenchServer, startBenchServer } from "./sync/bench-database.ts";
import { measureCapture } from "./sync/capture.ts";
import { measureClaims } from "./sync/claims.ts";
import { measureCycles } from "./sync/cycles.ts";
import { measureDoorbells } from "./sync/doorbells.ts";
import { type Figure, FULL, QUICK, type Sizes } from "./sync/figure.ts";
import { measureIdle } from "./sync/idle.ts";
import { measureLatency } from "./sync/latency.ts";
import { measurePush } from "./sync/push.ts";
import { report } from "./sync/report.ts";
import { measureRetention } from "./sync/retention.ts";
import { measureSweep } from "./sync/sweep.ts";

const HELP = `npm run bench:sync [-- --quick] [--only load,push] [--json]

How fast the sync engine is, as ratios within one run: on the same machine, against the same PostgreSQL, and against an
org in a process of its own.

  --quick  small sizes, to see that it works; ratios of little work say little
  --only   some of the parts: load, sweep, push, cycles, capture, beats, idle, claims, retention, latency, doorbells (three to eight
           minutes with --quick as well, most of it the wait until the death of the doorbells is noticed)
  --json   the figures as JSON

Prints each figure with its bar and a verdict, and ends with 1 when one is missed. Progress goes to stderr.`;

type Part = (server: BenchServer, sizes: Sizes, say: (text: string) => void) => Promise<Figure[]>;

const PARTS: Readonly<Record<string, Part>> = {
  load: measureFirstLoad,
  sweep: measureSweep,
  push: measurePush,
  cycles: measureCycles,
  capture: measureCapture,
  beats: measureBeats,
  idle: measureIdle,
  claims: measureClaims,
  retention: measureRetention,
  latency: measureLatency,
  doorbells: measureDoorbells,
};

const options = readOptions(HELP, {
  quick: { type: "boolean", default: false },
  only: { type: "string", default: Object.keys(PARTS).join(",") },
  json: { type: "boolean", default: false },
});

report(await measureAll(options.only.split(",")), options);

/** Each part in a process of its own: what one leaves behind, in memory or as an open connection, is not the next one's. */
async function measureAll(names: readonly string[]): Promise<Figure[]> {
  const unknown = names.find((name) => !(name in PARTS));
  if (unknown !== undefined) throw new Error(`there is no part ${unknown}; choose of ${Object.keys(PARTS).join(", ")}`);
  const [only] = names;
  if (only !== undefined && names.length === 1) return measure(only);
  const figures: Figure[] = [];
  for (const name of names) figures.push(...(await measureApart(name)));
  return figures;
}

async function measureApart(name: string): Promise<readonly Figure[]> {
  const flags = ["--json", "--only", name, ...(options.quick ? ["--quick"] : [])];
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said = text(child.stdout);
  await once(child, "close");
  try {
    return JSON.parse(await said) as Figure[];
  } catch {
    // What it died of is above; the other parts can still be measured.
    return [{ name: `${name}: not measured`, value: 1, unit: "", atMost: 0 }];
  }
}

async function measure(name: string): Promise<Figure[]> {
  const began = performance.now();
  const say = (words: string) =>
    console.error(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${words}`);
  const server = await startBenchServer();
  try {
    say(name);
    return (await PARTS[name]?.(server, options.quick ? QUICK : FULL, say)) ?? [];
  } finally {
    await server.close();
  }
}
