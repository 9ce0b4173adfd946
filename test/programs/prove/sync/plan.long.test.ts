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
  done: {},
  strikes: [],
  strike: () => true,
  settled: async () => undefined,
  alone: <T>(work: () => Promise<T>) => work(),
};

function incidents(seed: number, extent: Asked["extent"]): string[] {
  const asked: Asked = {
    seed,
    minutes: 1,
    kills: 0,
    changes: 0,
    mappings: 1,
    restores: 0,
    extent,
    say: () => undefined,
  };
  const plan = planOf({ parts, asked });
  return POINTS.flatMap((point) =>
    plan.incidentsAt(point).map(({ when, how, whom }) => `${how} the ${whom} ${when} ${point}`),
  );
}

test("a short run kills a function at every point, stops it between check and send, and kills a part somewhere", () => {
  for (const seed of [1, 2, 3]) {
    const planned = incidents(seed, "usual");

    for (const point of POINTS) {
      expect(planned.filter((one) => one.startsWith("kill the function") && one.endsWith(point))).toHaveLength(1);
    }
    expect(planned).toContain("stop the function before run-cycle | salesforce: update");
    expect(planned.filter((one) => /kill the (host|PostgreSQL|Salesforce)/.test(one))).toHaveLength(1);
  }
});

test("three brief runs in a row kill a function once at every point", () => {
  const planned = [21, 22, 23].flatMap((seed) => incidents(seed, "brief"));

  for (const point of POINTS)
    expect(planned.filter((one) => one.startsWith("kill the function") && one.endsWith(point))).toHaveLength(1);
});

test("four thorough runs in a row do at every point all that can be done there", () => {
  const planned = new Set([11, 12, 13, 14].flatMap((seed) => incidents(seed, "thorough")));

  const part = { postgres: "PostgreSQL", salesforce: "Salesforce", sqs: "host", dynamodb: "host" };
  for (const point of POINTS) {
    const place = /\| (\w+):/.exec(point)?.[1] as keyof typeof part;
    for (const what of ["kill the function", "stop the function", `kill the ${part[place]}`]) {
      expect(planned).toContain(`${what} before ${point}`);
      expect(planned).toContain(`${what} after ${point}`);
    }
  }
});

test("the same seed plans the same, and what carries no change is left alone", () => {
  expect(incidents(5, "usual")).toEqual(incidents(5, "usual"));
  const asked: Asked = {
    seed: 5,
    minutes: 1,
    kills: 0,
    changes: 0,
    restores: 0,
    mappings: 1,
    extent: "thorough",
    say: () => undefined,
  };
  expect(planOf({ parts, asked }).incidentsAt("list-errors | dynamodb: UpdateItem rate-limits")).toEqual([]);
});
