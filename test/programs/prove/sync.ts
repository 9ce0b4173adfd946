import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";
import { proveInRounds } from "./sync/rounds.ts";
import type { Asked } from "./sync/run.ts";
import { runProof } from "./sync/run-proof.ts";
import { summaryOf, summaryOfRounds } from "./sync/summary.ts";

const HELP = `npm run prove:sync [-- options]: changes on both sides while everything is killed, stopped and broken, and doorbells
lie, double and die; then both sides, the trigger log, the outbox and the calls are compared by a judge that knows
nothing of the engine.

  --seed N      the same users, faults and plan of incidents again (chosen and printed unless given)
  --minutes N   how long the trouble lasts at least (1; with --brief a quarter)
  --kills N     how many kills there are at least (40; with --brief 15, with --long 1000 in all rounds together)
  --changes N   how many changes both sides make at least (1000; with --long 1000000 in all rounds together)
  --mappings N  how many mappings take part (12; with --brief 6)
  --restores N  PostgreSQL (as a folder, as a dump), DynamoDB or both go back to an earlier time N times, while the rest
                continues without migrations and heaps; a person decides by the plan, and the judge asks whether an old
                value came over a newer one. The proof ends with them: no number of kills and changes must be reached
  --brief       every third point, by the seed, so that three seeds in a row have been at all of them
  --thorough    a quarter of everything that can be done at every point, by the seed: killed and stopped, before and
                after, and the host, the database or the org killed there
  --long        thorough rounds of two minutes and more, with this seed and those after it, until there were enough
                kills and changes; what was done is kept in the folder for temporary files, and the next start continues
  --json        the summary as one line of JSON
`;

const values = readOptions(HELP, {
  ...{ seed: { type: "string" }, minutes: { type: "string" }, kills: { type: "string" }, changes: { type: "string" } },
  ...{ mappings: { type: "string" }, restores: { type: "string" } },
  ...{ brief: { type: "boolean" }, thorough: { type: "boolean" }, long: { type: "boolean" } },
  json: { type: "boolean" },
});

if (process.platform === "win32") console.log("the proof stops processes by signals, which Windows has not");
else {
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const print = values.json ? console.error : console.log;
  const say = (text: string) => print(`${String(Math.round(performance.now() / 1000)).padStart(4)} s  ${text}`);
  // Said first, so that a run that is broken off can be done again.
  say(`seed ${seed}`);
  const usual = {
    minutes: 1,
    kills: 40,
    changes: 1000,
    mappings: 12,
    extent: values.thorough ? "thorough" : "usual",
  } as const;
  // In brief each kind of mapping takes part once with each policy.
  const brief = { ...usual, minutes: 0.25, kills: 15, mappings: 6, extent: "brief" } as const;
  const { minutes, kills, changes, mappings, extent } = values.brief ? brief : usual;
  const round: Asked = {
    ...{ seed, extent, say, restores: Number(values.restores ?? 0), mappings: Number(values.mappings ?? mappings) },
    minutes: Number(values.minutes ?? minutes),
    kills: Number(values.kills ?? kills),
    changes: Number(values.changes ?? changes),
  };
  if (values.long) {
    const first: Asked = {
      ...round,
      minutes: Number(values.minutes ?? 2),
      kills: 40,
      changes: 1000,
      extent: "thorough",
    };
    const enough = { kills: Number(values.kills ?? 1000), changes: Number(values.changes ?? 1_000_000) };
    const file = join(tmpdir(), `prove-sync-${seed}.jsonl`);
    const rounds = await proveInRounds(first, { ...enough, file }, runProof);
    console.log(values.json ? JSON.stringify(rounds) : summaryOfRounds(rounds));
    end(rounds.every(({ findings }) => findings.length === 0));
  } else {
    const proof = await runProof(round);
    console.log(values.json ? JSON.stringify(proof) : summaryOf(proof));
    end(proof.findings.length === 0);
  }
}

/**
 * All is closed by now, but Node may wait without end for a socket whose other side was killed while it connected: its
 * own cleaning up spins then, seen once in a thousand seconds of trouble.
 */
function end(isProven: boolean): void {
  process.exit(isProven ? 0 : 1);
}
