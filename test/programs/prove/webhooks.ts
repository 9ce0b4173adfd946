import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";
import { createDice, type Dice } from "../../support/doubles/dice.ts";
import { type CrashWorld, type Ending, type Story, startCrashWorld } from "../../support/worlds/crash-world.ts";
import { WORKED } from "../../support/worlds/webhook-workers.ts";

const HELP = `npm run prove:webhooks [-- --seed N]

The workers of webhooks are killed before and after each durable effect of a delivery with its whole schedule, and their
messages are doubled, delayed and lost at random. Every event must reach its receiver with the same id and bytes, no
attempt before its time, schedule and history right. Then fifteen receivers are flooded with 1,000 events each (flood.ts):
fourteen that never answer beside one that is well, and one that never answers and a slow one beside thirteen that are well.
Ends with 1 when a promise is broken.

  --seed N  the same disturbances again (chosen and printed unless given)`;

const options = readOptions(HELP, { seed: { type: "string" } });

const FAILURES = 4;
const DISTURBED_STORIES = 20;

const seed = Number(options.seed ?? Date.now() % 1_000_000);
const world = await startCrashWorld();
let broken = 0;
try {
  const quiet = await tell("no worker dies", { events: 1, failures: FAILURES });
  for (const [at, effect] of quiet.effects.entries()) {
    for (const when of ["before", "after"] as const) {
      const die = { effect: at + 1, when };
      const ending = await tell(`dies ${when} effect ${at + 1}, ${effect}`, { events: 1, failures: FAILURES, die });
      if (!ending.hasDied) fail(`no worker died ${when} effect ${at + 1}`);
    }
  }
  const dice = createDice(seed);
  for (let story = 1; story <= DISTURBED_STORIES; story += 1) {
    const die = { effect: 1 + dice.below(60), when: dice.isUnder(0.5) ? "before" : "after" } as const;
    await tell(`disturbed ${story}`, { events: 5, failures: 2, die, disturb: () => disturb(world, dice) });
  }
} finally {
  await world.close();
}
// Of well receivers the neighbour waits behind the deliveries, too.
for (const receivers of ["14 0 1", "1 1 13"]) {
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
async function disturb({ take, put }: CrashWorld, dice: Dice): Promise<void> {
  for (const queue of WORKED) {
    for (const message of (await take(queue)).sort(() => dice.roll() - 0.5)) {
      const copies = dice.pick([0, 1, 1, 2, 3]) ?? 1;
      for (let copy = 0; copy < copies; copy += 1) put(queue, message, dice.below(3) * 45);
    }
  }
}
