/** How soon a job is first looked after, and how near and how far apart the looks become while a cycle waits. */
const FIRST_LOOK_MILLISECONDS = 100;
const NEAREST_LOOK_MILLISECONDS = 10;
const LAST_LOOK_MILLISECONDS = 8_000;

/**
 * No look comes sooner than after such a part of what the job has worked for: one that moves on is believed to be over when
 * it says, and one that stands still is asked ever more rarely.
 */
const PART_WHILE_MOVING = 1 / 16;
const PART_WHILE_STILL = 1 / 4;

/** What is known of how fast Salesforce works off the jobs of a push, instants in epoch milliseconds. */
export interface Pace {
  /** When the last one was seen to be over. */
  readonly freeSince: number;
  /** The least milliseconds that a record took, of jobs that were seen at work and then done; 0 while there was none. */
  readonly perRecord: number;
}

export const UNKNOWN_PACE: Pace = { freeSince: 0, perRecord: 0 };

/** A job that was started, and what a look has told of it: how many of its records are done. */
export interface LookedAt {
  readonly startedAt: number;
  readonly records: number;
  readonly processed: number;
  /** How many the look before has told; 0 when there was none. */
  readonly before: number;
}

export const firstLook = (startedAt: number): number => startedAt + FIRST_LOOK_MILLISECONDS;

/**
 * When to look after a job again. Jobs are worked off one after the other, so the turn of one begins with the end of
 * another, and what it waited before says nothing of its pace.
 */
export function nextLook(job: LookedAt, pace: Pace, now: number): number {
  const worked = now - turnOf(job.startedAt, pace);
  const apart = worked * (job.processed > job.before ? PART_WHILE_MOVING : PART_WHILE_STILL);
  const wait = Math.max(untilOver(job, pace, worked), apart, NEAREST_LOOK_MILLISECONDS);
  return now + Math.min(wait, LAST_LOOK_MILLISECONDS);
}

/**
 * As long as the rest takes, or as often as calls are worth where nobody knows. The more of its records a job has done, the
 * more its own pace counts against that of the jobs before it: what it did first may have waited for something else.
 */
function untilOver({ records, processed }: LookedAt, { perRecord }: Pace, worked: number): number {
  const rest = records - processed;
  if (perRecord === 0) return processed > 0 ? (worked * rest) / processed : 2 * worked;
  if (processed === 0) return perRecord * records > worked ? perRecord * records - worked : worked;
  // Its share of the records times what the rest takes at its own pace, and the other share of what it takes at theirs.
  return (worked * rest + rest * perRecord * rest) / records;
}

/**
 * The pace once a job was seen to be over. What was over when its turn was noticed, or was broken off, tells nothing of how
 * long records take: `tellsPace` is false.
 */
export function paceAfter(
  { startedAt, records }: Pick<LookedAt, "startedAt" | "records">,
  pace: Pace,
  now: number,
  tellsPace: boolean,
): Pace {
  if (!tellsPace) return { ...pace, freeSince: now };
  const perRecord = (now - turnOf(startedAt, pace)) / records;
  return { freeSince: now, perRecord: pace.perRecord > 0 ? Math.min(pace.perRecord, perRecord) : perRecord };
}

const turnOf = (startedAt: number, { freeSince }: Pace): number => Math.max(startedAt, freeSince);
