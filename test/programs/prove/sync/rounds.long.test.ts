import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { proveInRounds } from "./rounds.ts";
import type { Asked } from "./run.ts";
import type { Proof } from "./run-proof.ts";
import { summaryOfRounds } from "./summary.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bridge-rounds-"));
  file = join(folder, "progress.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const first: Asked = {
  seed: 7,
  minutes: 2,
  kills: 40,
  changes: 1000,
  mappings: 12,
  restores: 0,
  extent: "thorough",
  say: () => undefined,
};

const proof = (seed: number, findings: Proof["findings"] = []): Proof => ({
  seed,
  seconds: 60,
  changes: { application: 900, colleagues: 100 },
  incidents: { host: { kills: 10, stops: 0 }, "before run-cycle | postgres: end of a cycle": { kills: 30, stops: 2 } },
  calls: { engine: {}, wire: {}, org: 0 },
  doorbells: {},
  migrations: {},
  heldSaves: 1,
  lateSavesReported: 1,
  settledByHand: 2,
  restored: [],
  findings,
});

/** Proves nothing, and returns the seeds that it got. */
function prover(answer: (seed: number) => Proof = proof) {
  const seeds: number[] = [];
  const prove = async ({ seed }: Asked) => {
    seeds.push(seed);
    return answer(seed);
  };
  return { seeds, prove };
}

test("rounds continue, each with a seed of its own, until there were enough kills and changes", async () => {
  const { seeds, prove } = prover();

  const rounds = await proveInRounds(first, { kills: 100, changes: 2000, file }, prove);

  expect(seeds).toEqual([7, 8, 9]);
  expect(summaryOfRounds(rounds)).toContain("3 rounds, 120 kills, 3000 changes");
});

test("the next start continues after what was kept, and does a round again that was broken off", async () => {
  const broken = prover((seed) => {
    if (seed === 9) throw new Error("broken off");
    return proof(seed);
  });
  await expect(proveInRounds(first, { kills: 160, changes: 0, file }, broken.prove)).rejects.toThrow("broken off");
  const { seeds, prove } = prover();

  const rounds = await proveInRounds(first, { kills: 160, changes: 0, file }, prove);

  expect(seeds).toEqual([9, 10]);
  expect(rounds.map(({ seed }) => seed)).toEqual([7, 8, 9, 10]);
});

test("a finding ends them, also at the next start, and its seed is shown", async () => {
  const finding = { name: "lost value", table: "keyed1__c", tag: "h1-1", what: "it is gone", story: ["a line"] };
  const { seeds, prove } = prover((seed) => proof(seed, seed === 8 ? [finding] : []));
  const enough = { kills: 1000, changes: 0, file };

  await proveInRounds(first, enough, prove);
  const rounds = await proveInRounds(first, enough, prove);

  expect(seeds).toEqual([7, 8]);
  expect(summaryOfRounds(rounds)).toContain("lost value: keyed1__c h1-1 it is gone (--thorough --seed 8)");
});
