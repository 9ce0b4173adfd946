import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { readOptions } from "../../../lib/local/read-options.ts";
import { type Figure, report, say } from "./figures.ts";
import { measureFirstLoad } from "./load/first-load.ts";
import { measureBeats } from "./sync/beats.ts";
import { startBenchServer } from "./sync/bench-database.ts";
import { measureCapture } from "./sync/capture.ts";
import { measureClaims } from "./sync/claims.ts";
import { measureCycles } from "./sync/cycles.ts";
import { measureDoorbells } from "./sync/doorbells.ts";
import { measureLatency } from "./sync/latency.ts";
import { measurePush } from "./sync/push.ts";
import { measureRetention } from "./sync/retention.ts";
import { FULL, type Measure, QUICK } from "./sync/sizes.ts";
import { measureSweep } from "./sync/sweep.ts";

const PARTS: Readonly<Record<string, Measure>> = {
  load: measureFirstLoad,
  sweep: measureSweep,
  push: measurePush,
  cycles: measureCycles,
  capture: measureCapture,
  beats: measureBeats,
  claims: measureClaims,
  retention: measureRetention,
  latency: measureLatency,
  doorbells: measureDoorbells,
};

const HELP = `npm run bench:sync [-- --quick] [--only load,push] [--json]

How fast the sync engine is, as ratios within one run: on the same machine, against the same PostgreSQL, and against an
org in a process of its own.

  --quick  small sizes, to see that it works; ratios of little work say little
  --only   some of the parts: ${Object.keys(PARTS).join(", ")}
           (the last takes three to eight minutes with --quick as well, until the death of the doorbells is noticed)
  --json   the figures as JSON

Prints each figure with its bar and a verdict, and ends with 1 when one is missed. Progress goes to stderr.`;

const options = readOptions(HELP, {
  quick: { type: "boolean", default: false },
  only: { type: "string", default: Object.keys(PARTS).join(",") },
  json: { type: "boolean", default: false },
});

const names = options.only.split(",");
const unknown = names.find((name) => !(name in PARTS));
if (unknown !== undefined) throw new Error(`there is no part ${unknown}; choose of ${Object.keys(PARTS).join(", ")}`);
const figures: Figure[] = [];
for (const name of names) figures.push(...(await (names.length === 1 ? measure(name) : measureApart(name))));
report(figures, options);

/** In a process of its own: what one part leaves behind, in memory or as an open connection, is not the next one's. */
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
  const server = await startBenchServer();
  try {
    say(name);
    return (await PARTS[name]?.(server, options.quick ? QUICK : FULL)) ?? [];
  } finally {
    await server.close();
  }
}
