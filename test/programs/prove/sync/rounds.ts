import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { Asked } from "./run.ts";
import type { Proof } from "./run-proof.ts";

/** How much all rounds together are to do, and where they are kept. */
interface Enough {
  readonly kills: number;
  readonly changes: number;
  readonly file: string;
}

/** What one round came to, as it is kept; its seed repeats it. */
export type Round = Pick<
  Proof,
  "seed" | "seconds" | "changes" | "incidents" | "heldSaves" | "lateSavesReported" | "settledByHand"
> & {
  readonly findings: readonly Pick<Proof["findings"][number], "name" | "table" | "tag" | "what">[];
};

/**
 * Rounds with one seed after the other, each a proof of its own from the first row to the judge, until they have done
 * enough or one has found something. What is kept of earlier starts counts; a round that was broken off is done again.
 */
export async function proveInRounds(
  first: Asked,
  { kills, changes, file }: Enough,
  prove: (asked: Asked) => Promise<Proof>,
): Promise<readonly Round[]> {
  const rounds: Round[] = existsSync(file) ? readRounds(file) : [];
  const { say } = first;
  if (rounds.length > 0) say(`continues after ${totalsOf(rounds)}, kept in ${file}`);
  else say(`what is done is kept in ${file}`);
  while (killsIn(rounds) < kills || changesIn(rounds) < changes) {
    if (rounds.some(({ findings }) => findings.length > 0)) return rounds;
    const seed = first.seed + rounds.length;
    say(`round ${rounds.length + 1} (seed ${seed})`);
    const { findings, calls: _, ...proof } = await prove({ ...first, seed });
    const round = { ...proof, findings: findings.map(({ story: __, ...finding }) => finding) };
    appendFileSync(file, `${JSON.stringify(round)}\n`);
    rounds.push(round);
    say(`${totalsOf(rounds)} of ${kills} kills and ${changes} changes`);
  }
  return rounds;
}

function readRounds(file: string): Round[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Round);
}

export const totalsOf = (rounds: readonly Round[]): string =>
  `${rounds.length} rounds, ${killsIn(rounds)} kills, ${changesIn(rounds)} changes`;

const killsIn = (rounds: readonly Round[]) =>
  rounds.flatMap(({ incidents }) => Object.values(incidents)).reduce((all, { kills }) => all + kills, 0);

const changesIn = (rounds: readonly Round[]) =>
  rounds.reduce((all, { changes }) => all + changes.application + changes.colleagues, 0);
