import { setTimeout as pause } from "node:timers/promises";
import { createDice, type Dice } from "../../../support/doubles/dice.ts";
import { type DoubleWrite, offsetOf } from "./judge.ts";
import { HEAP_FIELDS, type Lane } from "./lanes.ts";
import { type Stage, until } from "./stage.ts";

/** A double write of a lane. */
export interface Written extends DoubleWrite {
  readonly lane: Lane;
}

/** Single double writes a second, in all lanes together. */
const RATE = 12;
const LEAST_SECONDS = 25;

/** Pushes that no pull comes before begin at times of their own beside those of the beat, so far apart on average. */
const NUDGE_SECONDS = 20;

/** In so many double writes one is of the same value on both sides. */
const SAME = 20;

/** Writes all double writes of all lanes, singles first, then heaps; each is added as soon as it is begun. */
export async function writeDoubly(
  stage: Stage,
  lanes: readonly Lane[],
  seed: number,
  written: Written[],
): Promise<void> {
  const ended = new AbortController();
  const dice = createDice(seed);
  const nudging = Promise.all(lanes.map((lane) => nudge(stage, lane, createDice(dice.below(1e9)), ended.signal)));
  try {
    const singles = lanes.filter(({ way }) => way === "single");
    const count = singles.reduce((sum, { doubleWrites }) => sum + doubleWrites, 0);
    const seconds = Math.max(LEAST_SECONDS, count / RATE);
    await Promise.all(singles.map((lane) => writeSingly(stage, lane, createDice(dice.below(1e9)), seconds, written)));
    const heaps = lanes.filter(({ way }) => way === "heap");
    await Promise.all(heaps.map((lane) => writeHeaps(stage, lane, createDice(dice.below(1e9)), written)));
    for (const lane of lanes) await untilNothingWaits(stage, lane);
  } finally {
    ended.abort();
    await nudging;
  }
}

async function nudge(stage: Stage, lane: Lane, dice: Dice, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(1000 * NUDGE_SECONDS * (0.5 + dice.roll()), null, { signal }).catch(() => undefined);
    if (!signal.aborted) await stage.nudge(lane);
  }
}

async function writeSingly(stage: Stage, lane: Lane, dice: Dice, seconds: number, written: Written[]): Promise<void> {
  const [field] = HEAP_FIELDS;
  await Promise.all(
    stage.idsOf(lane).map(async (sfid) => {
      const values = valuesOf(`${lane.object.slice(0, 3)} ${sfid.slice(-6)}`, dice);
      const write = { ...values, lane, policy: lane.policy, sfid, field };
      const [at, offset] = [1000 + dice.roll() * seconds * 1000, offsetOf(dice)];
      await Promise.all([
        pause(at).then(() => {
          written.push(write);
          const text = `UPDATE salesforce.${lane.object} SET ${field} = $1 WHERE sfid = $2`;
          return stage.database.query(text, [write.ours, sfid]);
        }),
        pause(at + offset).then(() => stage.save(lane, sfid, { [field]: write.theirs })),
      ]);
    }),
  );
}

/** A heap in each field: the application writes all rows in one transaction, colleagues some of their records. */
async function writeHeaps(stage: Stage, lane: Lane, dice: Dice, written: Written[]): Promise<void> {
  const ids = stage.idsOf(lane);
  const share = Math.ceil(lane.doubleWrites / lane.heaps);
  for (const [heap, field] of HEAP_FIELDS.slice(0, lane.heaps).entries()) {
    await pause(dice.roll() * 10_000);
    const first = dice.below(ids.length - share);
    const ours = `ours ${heap}`;
    const writes = ids.slice(first, first + share).map((sfid): Written => {
      return { ...valuesOf(String(heap), dice), lane, policy: lane.policy, sfid, field };
    });
    written.push(...writes);
    await Promise.all([
      pause(1000).then(() => stage.database.query(`UPDATE salesforce.${lane.object} SET ${field} = $1`, [ours])),
      ...writes.map(({ sfid, theirs }) =>
        pause(1000 + offsetOf(dice)).then(() => stage.save(lane, sfid, { [field]: theirs })),
      ),
    ]);
    await untilNothingWaits(stage, lane);
  }
}

/** What both sides write under a name. */
function valuesOf(name: string, dice: Dice): Pick<DoubleWrite, "ours" | "theirs"> {
  const isSame = dice.below(SAME) === 0;
  return { ours: `ours ${name}`, theirs: `${isSame ? "ours" : "theirs"} ${name}` };
}

/** Until everything that the application wrote in a lane was answered. */
const untilNothingWaits = ({ database }: Stage, { object }: Lane) =>
  until(`all changes of ${object} are answered`, async () => {
    const { rows } = await database.query(
      "SELECT FROM salesforce._trigger_log WHERE table_name = $1 AND processed_at IS NULL LIMIT 1",
      [object],
    );
    return rows.length === 0;
  });
