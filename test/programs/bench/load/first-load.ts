import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { WORKERS } from "../../../../lib/model/resources.ts";
import { median, say } from "../figures.ts";
import { run } from "../sync/bench-database.ts";
import { provisionTable } from "../sync/bench-mapping.ts";
import { startBenchOrg } from "../sync/bench-org.ts";
import type { Measure } from "../sync/sizes.ts";
import type { Loaded, LoadOrder } from "./load-ways.ts";

type Outcome = Loaded & { readonly peakMiB: number };

/** As in the worker that loads: with all of this machine's memory before it, Node would put collecting off. */
const HEAP = `--max-old-space-size=${WORKERS["load-mapping"].memoryMegabytes}`;
const PROCESS = fileURLToPath(new URL("./load-process.ts", import.meta.url));

/**
 * The first load against the same download piped into COPY. Each runs in a process of its own with the memory of the
 * worker that loads, on an empty database of its own; both alternate.
 */
export const measureFirstLoad: Measure = async (server, { loaded, large, rounds }) => {
  const org = await startBenchOrg({ Load__c: loaded, Large__c: large });
  const load = async (way: "engine" | "copy", object: string, records: number): Promise<Outcome> => {
    const url = await server.createDatabase();
    // COPY writes the same table with the same indexes, without capture.
    const shape = await provisionTable(url, org.connection, object, { captured: way === "engine" });
    await run(url, "CHECKPOINT");
    const outcome = await loadApart({ way, url, org: org.connection, object, shape }, records);
    say(`${way}: ${records} records in ${outcome.seconds.toFixed(2)} s`);
    return outcome;
  };
  try {
    const [engine, copy]: [Outcome[], Outcome[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      engine.push(await load("engine", "Load__c", loaded));
      copy.push(await load("copy", "Load__c", loaded));
    }
    const [big, bigCopy] = [await load("engine", "Large__c", large), await load("copy", "Large__c", large)];
    const seconds = median(engine.map((one) => one.seconds));
    const ofCopy = median(copy.map((one) => one.seconds));
    const peak = median(engine.map(({ peakMiB }) => peakMiB));
    return [
      { name: `first load of ${loaded.toLocaleString("en")} × 20`, value: seconds, unit: "s" },
      { name: "  times the same download piped into COPY", value: seconds / ofCopy, unit: "×", atMost: 2 },
      { name: "  memory at its peak", value: peak, unit: "MiB" },
      { name: `first load of ${large.toLocaleString("en")} × 20`, value: big.seconds, unit: "s" },
      { name: "  times COPY", value: big.seconds / bigCopy.seconds, unit: "×", atMost: 2 },
      // A part of the results is a call, and so is each poll of the job; the org needs seconds for it.
      { name: "  calls", value: big.calls, unit: "", atMost: Math.ceil(large / 50_000) + 20 },
      { name: "  memory at its peak", value: big.peakMiB, unit: "MiB" },
      { name: "  times that of the smaller load", value: big.peakMiB / peak, unit: "×", atMost: 1.2 },
    ];
  } finally {
    org.end();
  }
};

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
