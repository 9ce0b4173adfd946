import { setTimeout as pause } from "node:timers/promises";
import type { Proved } from "./mapped-objects.ts";
import type { Run } from "./run.ts";
import type { RingFault } from "./stage/door.ts";

/** A silence that no pull may end yet. */
const SILENT_SECONDS = 150;

/** The safety net is four minutes wide, and a beat of a busy machine may miss it. */
const NET_SECONDS = 900;

/** By how much time advances with each check, five a second. */
const LOOK_SECONDS = 5;
const LOOK_MILLISECONDS = 200;

/** So long before the next ring one is lost. */
const LOST_SECONDS = 20;

/** A ring has its pull after two seconds, and another one after two more. */
const PULLED_MILLISECONDS = 1_500;
const LATEST_MILLISECONDS = 40_000;

/** Records that are created in each object. */
const RECORDS = 3;

/**
 * The last word, for which nothing is polled by hand. While every doorbell is believed to be alive, the org's rings are
 * lost, and records are created: only the safety net can find them. Then records are created whose rings are lost, and
 * others whose rings come, twice; time does not advance, so that the pulls of these have to find both. What did not come is the judge's to find. False: the doorbells did not come to life.
 */
export async function fallSilent(run: Run): Promise<boolean> {
  const { stage, asked, mappings } = run;
  const { clock, door } = stage;
  const rung = mappings.filter(({ rings }) => rings);
  if (!(await comeToLife(run, rung))) return false;
  const silentSince = clock.now();
  const unheard = await add(run, rung, "lost");
  clock.advance(SILENT_SECONDS);
  const isFound = await within(run, NET_SECONDS, unheard);
  const seconds = Math.round((clock.now() - silentSince) / 1000);
  asked.say(`${isFound ? "found" : "nothing found"} after ${seconds} s without a ring`);
  // A ring would bring it.
  if (!isFound) return true;

  door.force(null);
  if (!(await comeToLife(run, rung))) return false;
  const missed = await add(run, rung, "lost");
  clock.advance(LOST_SECONDS);
  const heard = await add(run, rung, "doubled");
  const since = clock.now();
  const latest = Date.now() + LATEST_MILLISECONDS;
  const isOver = async () => ((await missed()) && (await heard())) || (await arePulled(run, rung, since));
  while (!(await isOver()) && Date.now() < latest) await pause(LOOK_MILLISECONDS);
  // A ring may get lost on our own side as well, and costs time then.
  if (!(await isOver()) && (await within(run, NET_SECONDS, isOver))) asked.say("some rings brought no pull");
  return true;
}

/** Whether all these mappings were pulled since then. */
async function arePulled({ queries }: Run, rung: readonly Proved[], since: number): Promise<boolean> {
  const late = await queries.query(
    `SELECT FROM salesforce._bridge_state WHERE last_pull_at <= '${new Date(since).toISOString()}'
     AND table_name IN (${rung.map(({ table }) => `'${table}'`).join(", ")})`,
  );
  return late.length === 0;
}

/** Rings until Bridge believes in all doorbells, and their pulls are over. */
async function comeToLife(run: Run, rung: readonly Proved[]): Promise<boolean> {
  const { stage, doorbell } = run;
  const areAlive = async () => {
    const { mappings } = (await stage.api("GET", "/doorbell")) as {
      readonly mappings: readonly { readonly sf_object: string; readonly state: string }[];
    };
    const dumb = rung.filter(({ object }) => mappings.find((bell) => bell.sf_object === object)?.state !== "alive");
    for (const mapping of dumb) await doorbell.ring(mapping);
    return dumb.length === 0;
  };
  if (!(await within(run, NET_SECONDS, areAlive))) return false;
  stage.clock.advance(LOOK_SECONDS);
  await pause(PULLED_MILLISECONDS);
  return true;
}

/** False: it did not come true while so much time passed. */
async function within({ stage: { clock } }: Run, seconds: number, look: () => Promise<boolean>): Promise<boolean> {
  const latest = clock.now() + seconds * 1000;
  for (; !(await look()); await pause(LOOK_MILLISECONDS)) {
    if (clock.now() > latest) return false;
    clock.advance(LOOK_SECONDS);
  }
  return true;
}

/** Creates records of each while this happens to all rings; gives whether all have rows. */
async function add(
  { stage, colleagues, queries }: Run,
  rung: readonly Proved[],
  fault: RingFault,
): Promise<() => Promise<boolean>> {
  stage.door.force(fault);
  const found: string[] = [];
  for (const mapping of rung) {
    const there = await colleagues.add(mapping, RECORDS);
    found.push(`(SELECT count(*) FROM salesforce.${mapping.table} WHERE there__c = '${there}')`);
  }
  return async () => {
    const [row] = await queries.query(`SELECT ${found.join(" + ")} AS rows`);
    return Number(row?.["rows"]) === rung.length * RECORDS;
  };
}
