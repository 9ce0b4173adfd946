import { expect, test } from "vitest";
import { planOf } from "./plan.ts";
import type { Asked } from "./run.ts";

const POINTS = [
  "load-mapping | postgres: lease of a load",
  "run-cycle | postgres: commit of results",
  "run-cycle | salesforce: update",
  "run-cycle | sqs: SendMessageBatch events",
  "run-cycle | dynamodb: UpdateItem engine",
];

const parts = {
  ...{ done: {}, strikes: [], strike: () => true, settled: async () => undefined },
  alone: <T>(work: () => Promise<T>) => work(),
};

function incidents(seeds: readonly number[], extent: Asked["extent"]): string[] {
  return seeds.flatMap((seed) => {
    const least = { minutes: 1, kills: 0, changes: 0, mappings: 1, restores: 0 };
    const plan = planOf({ parts, asked: { ...least, seed, extent, say: () => undefined } });
    return POINTS.flatMap((point) =>
      plan.incidentsAt(point).map(({ when, how, whom }) => `${how} the ${whom} ${when} ${point}`),
    );
  });
}

test("a usual run, or three brief ones in a row, kill a function once at every point", () => {
  for (const planned of [incidents([1], "usual"), incidents([21, 22, 23], "brief")])
    for (const point of POINTS)
      expect(planned.filter((one) => one.startsWith("kill the function") && one.endsWith(point))).toHaveLength(1);
  expect(incidents([1], "usual")).toContain("stop the function before run-cycle | salesforce: update");
});

test("four thorough runs in a row do at every point all that can be done there", () => {
  expect(new Set(incidents([11, 12, 13, 14], "thorough")).size).toBe(POINTS.length * 3 * 2);
});
