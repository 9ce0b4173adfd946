import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { afterAll, expect } from "vitest";

/** What this process had used when the file before ended, in milliseconds of processor time. */
const USED = Symbol.for("bridge.tests.used");

/** Linux counts time in /proc in ticks of which there are 100 a second. */
const MILLISECONDS_A_TICK = 10;

/** The file to which each test file adds its cost, which `npm test` sums up. */
const costs = process.env["TEST_COSTS"] || undefined;

afterAll(() => {
  if (costs === undefined) return;
  const before = (Reflect.get(globalThis, USED) as number | undefined) ?? 0;
  const { user, system } = process.cpuUsage();
  const used = (user + system) / 1000 + ofEndedChildren();
  Reflect.set(globalThis, USED, used);
  const file = relative(process.cwd(), expect.getState().testPath ?? "");
  appendFileSync(costs, `${JSON.stringify({ file, milliseconds: Math.round(used - before) })}\n`);
});

/** Processor time of the processes that this one started and that have ended; 0 where the system has no /proc. */
function ofEndedChildren(): number {
  if (!existsSync("/proc/self/stat")) return 0;
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * MILLISECONDS_A_TICK;
}
