import { parseArgs } from "node:util";
import { measureBeats } from "./sync/beats.ts";
import { type BenchServer, startBenchServer } from "./sync/bench-database.ts";
import { measureCapture } from "./sync/capture.ts";
import { type Figure, FULL, QUICK, type Sizes } from "./sync/figure.ts";
import { measureFirstLoad } from "./sync/first-load.ts";
import { measureLatency } from "./sync/latency.ts";
import { measurePush } from "./sync/push.ts";
import { report } from "./sync/report.ts";

const HELP = `npm run bench:sync [-- --quick] [--only load,push] [--json]

How fast the sync engine is, as ratios within one run: on the same machine, against the same PostgreSQL, and against an
org in a process of its own.

  --quick  small sizes, to see that it works; ratios of little work say little
  --only   some of the parts: load, push, capture, beats, latency
  --json   the figures as JSON

Prints each figure with its bar and a verdict, and ends with 1 when one is missed. Progress goes to stderr.`;

type Part = (server: BenchServer, sizes: Sizes, say: (text: string) => void) => Promise<Figure[]>;

const PARTS: Readonly<Record<string, Part>> = {
  load: measureFirstLoad,
  push: measurePush,
  capture: measureCapture,
  beats: measureBeats,
  latency: measureLatency,
};

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: Object.keys(PARTS).join(",") },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (options.help) console.log(HELP);
else report(await measureAll(), options);

async function measureAll(): Promise<Figure[]> {
  const figures: Figure[] = [];
  const began = performance.now();
  const say = (text: string) =>
    console.error(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${text}`);
  const server = await startBenchServer();
  try {
    for (const name of options.only.split(",")) {
      const part = PARTS[name];
      if (!part) throw new Error(`there is no part ${name}; choose of ${Object.keys(PARTS).join(", ")}`);
      say(name);
      figures.push(...(await part(server, options.quick ? QUICK : FULL, say)));
    }
  } finally {
    await server.close();
  }
  return figures;
}
