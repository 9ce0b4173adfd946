import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { WORKERS } from "../../../../lib/model/resources.ts";
import { type BenchServer, run } from "../sync/bench-database.ts";
import { provisionTable } from "../sync/bench-mapping.ts";
import { type BenchOrg, startBenchOrg } from "../sync/bench-org.ts";
import { type Figure, median, type Sizes } from "../sync/figure.ts";
import type { Loaded, LoadOrder } from "./load-ways.ts";

type Outcome = Loaded & { readonly peakMiB: number };

const WAYS = ["engine", "copy", "parts", "pages"] as const;

/** As in the worker that loads: with all of this machine's memory before it, Node would put collecting off. */
const HEAP = `--max-old-space-size=${WORKERS["load-mapping"].memoryMegabytes}`;
const PROCESS = fileURLToPath(new URL("./load-process.ts", import.meta.url));

/**
 * The first load against the same download piped into COPY, and against the loops that a user would write: pages of REST
 * with one upsert each, and parts of a Bulk job by COPY and one upsert each. Each runs in a process of its own with the
 * memory of the worker that loads, on an empty database of its own; all alternate.
 */
export async function measureFirstLoad(
  server: BenchServer,
  { loaded, large, rounds }: Sizes,
  say: (text: string) => void,
): Promise<Figure[]> {
  const org = await startBenchOrg({ Load__c: loaded, Large__c: large });
  try {
    const ways: Record<(typeof WAYS)[number], Outcome[]> = { engine: [], copy: [], parts: [], pages: [] };
    for (let round = 0; round < rounds; round++) {
      for (const way of WAYS) {
        const outcome = await load(server, org, way, "Load__c", loaded);
        ways[way].push(outcome);
        say(`${way}: ${loaded} records in ${outcome.seconds.toFixed(2)} s`);
      }
    }
    const big = await load(server, org, "engine", "Large__c", large);
    say(`engine: ${large} records in ${big.seconds.toFixed(2)} s`);
    const bigCopy = await load(server, org, "copy", "Large__c", large);
    say(`copy: ${large} records in ${bigCopy.seconds.toFixed(2)} s`);

    const seconds = (outcomes: readonly Outcome[]) => median(outcomes.map((outcome) => outcome.seconds));
    const whole = (way: (typeof WAYS)[number]) => median(ways[way].map(({ wholeSeconds }) => wholeSeconds));
    const peak = median(ways.engine.map(({ peakMiB }) => peakMiB));
    const size = `${loaded.toLocaleString("en")} × 20`;
    return [
      { name: `first load of ${size}`, value: seconds(ways.engine), unit: "s" },
      { name: "  the same download piped into COPY", value: seconds(ways.copy), unit: "s" },
      { name: "  times COPY", value: seconds(ways.engine) / seconds(ways.copy), unit: "×", atMost: 2 },
      {
        name: "  times a loop of Bulk, COPY and upserts",
        value: seconds(ways.engine) / seconds(ways.parts),
        unit: "×",
      },
      { name: "  from the very beginning, times a loop of pages", value: whole("engine") / whole("pages"), unit: "×" },
      ...WAYS.map((way) => ({
        name: `  processor time, ${way}`,
        value: median(ways[way].map(({ cpuSeconds }) => cpuSeconds)),
        unit: "s",
      })),
      { name: `first load of ${large.toLocaleString("en")} × 20`, value: big.seconds, unit: "s" },
      { name: "  rows a second", value: large / big.seconds, unit: "" },
      { name: "  rows a second, the same download piped into COPY", value: large / bigCopy.seconds, unit: "" },
      { name: "  times COPY", value: big.seconds / bigCopy.seconds, unit: "×", atMost: 2 },
      // A part of the results is a call, and so is each poll of the job; the org needs seconds for it.
      { name: "  calls", value: big.calls, unit: "", atMost: Math.ceil(large / 50_000) + 20 },
      { name: `  memory at its peak, ${loaded.toLocaleString("en")} records`, value: peak, unit: "MiB" },
      { name: `  memory at its peak, ${large.toLocaleString("en")} records`, value: big.peakMiB, unit: "MiB" },
      { name: "  large against small", value: big.peakMiB / peak, unit: "×", atMost: 1.2 },
    ];
  } finally {
    org.end();
  }
}

async function load(
  server: BenchServer,
  org: BenchOrg,
  way: LoadOrder["way"],
  object: string,
  records: number,
): Promise<Outcome> {
  const url = await server.createDatabase();
  // COPY and the loops write the same table with the same indexes, without capture.
  const shape = await provisionTable(url, org.connection, object, { captured: way === "engine" });
  await run(url, "CHECKPOINT");
  return await loadApart({ way, url, org: org.connection, object, shape }, records);
}

/** One way of loading or sweeping, in a process of its own, which must meet so many records. */
export async function loadApart(order: LoadOrder, records: number): Promise<Outcome> {
  const child = spawn(process.execPath, [HEAP, PROCESS, JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const outcome = JSON.parse(printed) as Outcome;
  if (outcome.rows !== records) throw new Error(`${order.way} brought ${outcome.rows} of ${records} records`);
  return outcome;
}
