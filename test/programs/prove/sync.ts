import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";
import type { Asked } from "./sync/run.ts";
import { type Proof, runProof } from "./sync/run-proof.ts";
import { changesIn, killsIn, summaryOf } from "./sync/summary.ts";

const HELP = `npm run prove:sync [-- options]: changes on both sides while everything is killed, stopped and broken, and doorbells
lie, double and die; then both sides, the trigger log, the outbox and the calls are compared by a judge that knows
nothing of the engine.

  --seed N      the same users, faults and plan of incidents again (chosen and printed unless given)
  --mappings N  how many mappings take part (12; with --brief 6)
  --restores N  PostgreSQL (as a folder, as a dump), DynamoDB or both go back to an earlier time N times, while the rest
                continues without migrations and heaps; a person decides by the plan, and the judge asks whether an old
                value came over a newer one. The proof ends with them: no number of kills and changes must be reached
  --brief       every third point, by the seed, so that three seeds in a row have been at all of them
  --long        rounds of two minutes and more, with this seed and those after it, until there were 1,000 kills and a
                million changes; each does a quarter of everything that can be done at every point, by the seed. What was
                done is kept in the folder for temporary files, and the next start continues
  --json        what was done and found, a proof for each round, as one line of JSON
`;

const values = readOptions(HELP, {
  ...{ seed: { type: "string" }, mappings: { type: "string" }, restores: { type: "string" } },
  ...{ brief: { type: "boolean" }, long: { type: "boolean" }, json: { type: "boolean" } },
});

/** How much the rounds of a long proof do together. */
const ENOUGH = { kills: 1_000, changes: 1_000_000 };

if (process.platform === "win32") console.log("the proof stops processes by signals, which Windows has not");
else {
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const print = values.json ? console.error : console.log;
  const say = (text: string) => print(`${String(Math.round(performance.now() / 1000)).padStart(4)} s  ${text}`);
  // Said first, so that a run that is broken off can be done again.
  say(`seed ${seed}`);
  const asked: Asked = {
    ...{ seed, say, restores: Number(values.restores ?? 0) },
    // In brief each kind of mapping takes part once with each policy.
    mappings: Number(values.mappings ?? (values.brief ? 6 : 12)),
    extent: values.long ? "thorough" : values.brief ? "brief" : "usual",
  };
  const proofs = values.long ? await proveInRounds(asked) : [await runProof(asked)];
  console.log(values.json ? JSON.stringify(proofs) : summaryOf(proofs));
  // All is closed by now, but Node may wait without end for a socket whose other side was killed while it connected: its
  // own cleaning up spins then, seen once in a thousand seconds of trouble.
  process.exit(proofs.every(({ findings }) => findings.length === 0) ? 0 : 1);
}

/**
 * Rounds with one seed after the other, each a proof of its own from the first row to the judge, until they have done
 * enough or one has found something. What is kept of earlier starts counts; a round that was broken off is done again.
 */
async function proveInRounds(first: Asked): Promise<readonly Proof[]> {
  const file = join(tmpdir(), `prove-sync-${first.seed}.jsonl`);
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  const proofs = lines.map((line) => JSON.parse(line) as Proof);
  const isEnough = () => killsIn(proofs) >= ENOUGH.kills && changesIn(proofs) >= ENOUGH.changes;
  while (!isEnough() && proofs.every(({ findings }) => findings.length === 0)) {
    first.say(
      `${proofs.length} rounds, ${killsIn(proofs)} kills, ${changesIn(proofs)} changes are kept in ${file}; one with seed ${first.seed + proofs.length} begins`,
    );
    const proof = await runProof({ ...first, seed: first.seed + proofs.length });
    appendFileSync(file, `${JSON.stringify(proof)}\n`);
    proofs.push(proof);
  }
  return proofs;
}
