import { parseArgs } from "node:util";
import { runProof } from "./sync/run-proof.ts";
import { summaryOf } from "./sync/summary.ts";

const HELP = `npm run prove:sync [-- options]: changes on both sides while everything is killed, stopped and broken; then both
sides, the trigger log, the outbox and the calls are compared by a judge that knows nothing of the engine.

  --seed N       the same users, faults and plan of incidents again (chosen and printed unless given)
  --minutes N    how long the trouble goes on at least (1)
  --kills N      how many kills there are at least (40)
  --changes N    how many changes both sides make at least (1000)
  --mappings N   how many mappings take part (12)
  --long         1000 kills, 1000000 changes, and every point is stopped at, too
  --json         the summary as one line of JSON
`;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    minutes: { type: "string" },
    kills: { type: "string" },
    changes: { type: "string" },
    mappings: { type: "string" },
    long: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) console.log(HELP);
else if (process.platform === "win32") console.log("the proof stops processes by signals, which Windows has not");
else {
  const proof = await runProof({
    seed: Number(values.seed ?? Date.now() % 1_000_000),
    minutes: Number(values.minutes ?? 1),
    kills: Number(values.kills ?? (values.long ? 1000 : 40)),
    changes: Number(values.changes ?? (values.long ? 1_000_000 : 1000)),
    mappings: Number(values.mappings ?? 12),
    isLong: values.long,
    say: (text) => (values.json ? console.error(text) : console.log(text)),
  });
  console.log(values.json ? JSON.stringify(proof) : summaryOf(proof));
  process.exitCode = proof.findings.length === 0 ? 0 : 1;
}
