import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";
import { type CrashWorld, type Ending, type Story, startCrashWorld } from "../../support/worlds/crash-world.ts";
import { WORKED } from "../../support/worlds/webhook-workers.ts";

const HELP = `npm run prove:webhooks [-- --seed N] [--from EFFECT]

The workers of webhooks are killed before and after each durable effect of a delivery with its whole schedule, and their
messages are doubled, delayed and lost at random. Every event must reach its receiver with the same id and bytes, no
attempt before its time, schedule and history right. Then fifteen receivers are flooded with 1,000 events each (flood.ts):
fourteen that never answer beside one that is well, and one that never answers and a slow one beside thirteen that are well.
Ends with 1 when a promise is broken.

  --seed N       the same disturbances again (chosen and printed unless given)
  --from EFFECT  the first effect to die at, counted from 1`;

const options = readOptions(HELP, { seed: { type: "string" }, from: { type: "string", default: "1" } });

const FAILURES = 4;
const DISTURBED_STORIES = 20;

const seed = Number(options.seed ?? Date.now() % 1_000_000);
const from = Number(options.from);
const world = await startCrashWorld();
let broken = 0;
try {
  const quiet = await tell("no worker dies", { events: 1, failures: FAILURES });
  for (const [at, effect] of quiet.effects.entries()) {
    if (at + 1 < from) continue;
    for (const when of ["before", "after"] as const) {
      const die = { effect: at + 1, when };
      const ending = await tell(`dies ${when} effect ${at + 1}, ${effect}`, { events: 1, failures: FAILURES, die });
      if (!ending.hasDied) fail(`no worker died ${when} effect ${at + 1}`);
    }
  }
  const random = mulberry(seed);
  for (let story = 1; story <= DISTURBED_STORIES; story += 1) {
    const die = { effect: 1 + Math.floor(random() * 60), when: random() < 0.5 ? "before" : "after" } as const;
    await tell(`disturbed ${story}`, { events: 5, failures: 2, die, disturb: () => disturb(world, random) });
  }
} finally {
  await world.close();
}
// Of well receivers the neighbour waits behind the deliveries, too.
const floods = ["--dead=14 --slow=0 --well=1", "--dead=1 --slow=1 --well=13"];
for (const receivers of floods) {
  const program = [join(import.meta.dirname, "flood.ts"), ...receivers.split(" ")];
  if (spawnSync(process.execPath, program, { stdio: "inherit" }).status !== 0) broken += 1;
}
console.log(broken === 0 ? `every promise kept (seed ${seed})` : `${broken} promises broken (seed ${seed})`);
process.exitCode = broken === 0 ? 0 : 1;

async function tell(name: string, story: Story): Promise<Ending> {
  const ending = await world.run(story);
  console.log(`${ending.wrong.length === 0 ? "kept  " : "BROKEN"} ${name}`);
  for (const wrong of ending.wrong) fail(wrong);
  return ending;
}

function fail(wrong: string): void {
  broken += 1;
  console.log(`       ${wrong}`);
}

/** Of the messages that can be seen some are lost, some doubled, some late, and their order changes. */
async function disturb({ take, put }: CrashWorld, random: () => number): Promise<void> {
  for (const queue of WORKED) {
    for (const message of (await take(queue)).sort(() => random() - 0.5)) {
      const copies = [0, 1, 1, 2, 3][Math.floor(random() * 5)] ?? 1;
      for (let copy = 0; copy < copies; copy += 1) put(queue, message, Math.floor(random() * 3) * 45);
    }
  }
}

/** A small generator of random numbers that repeats itself for the same seed. */
function mulberry(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
