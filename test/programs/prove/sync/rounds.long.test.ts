import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { proveInRounds } from "./rounds.ts";
import type { Asked } from "./run.ts";
import type { Proof } from "./run-proof.ts";
import { summaryOfRounds } from "./summary.ts";

const FIRST: Asked = {
  ...{ seed: 7, minutes: 2, kills: 40, changes: 1000, mappings: 12, restores: 0, extent: "thorough" },
  say: () => undefined,
};

const proof = (seed: number, findings: Proof["findings"] = []): Proof => ({
  ...{ seed, seconds: 60, heldSaves: 1, lateSavesReported: 1, settledByHand: 2, restored: [], findings },
  changes: { application: 900, colleagues: 100 },
  incidents: { host: { kills: 10, stops: 0 }, "before run-cycle | postgres: end of a cycle": { kills: 30, stops: 2 } },
  ...{ calls: { engine: {}, wire: {}, org: 0 }, doorbells: {}, migrations: {} },
});

/** Rounds that prove nothing, until so many kills; `answer` is what a round with a seed comes to. */
async function rounds(file: string, kills: number, answer: (seed: number) => Proof = proof) {
  const seeds: number[] = [];
  const prove = async ({ seed }: Asked) => {
    seeds.push(seed);
    return answer(seed);
  };
  const done = await proveInRounds(FIRST, { kills, changes: 0, file }, prove);
  return { seeds, summary: summaryOfRounds(done) };
}

const newFile = () => join(mkdtempSync(join(tmpdir(), "bridge-rounds-")), "progress.jsonl");

test("the next start continues after what was kept, and does a round again that was broken off", async () => {
  const file = newFile();
  const broken = (seed: number) => {
    if (seed === 9) throw new Error("broken off");
    return proof(seed);
  };
  await expect(rounds(file, 160, broken)).rejects.toThrow("broken off");

  const { seeds, summary } = await rounds(file, 160);

  expect(seeds).toEqual([9, 10]);
  expect(summary).toContain("4 rounds, 160 kills, 4000 changes");
});

test("a finding ends the rounds, also at the next start, and its seed is shown", async () => {
  const finding = { name: "lost value", table: "keyed1__c", tag: "h1-1", what: "it is gone", story: ["a line"] };
  const file = newFile();

  expect((await rounds(file, 1000, (seed) => proof(seed, seed === 8 ? [finding] : []))).seeds).toEqual([7, 8]);
  const { seeds, summary } = await rounds(file, 1000);

  expect(seeds).toEqual([]);
  expect(summary).toContain("lost value: keyed1__c h1-1 it is gone (--thorough --seed 8)");
});
