/** How long the org takes to save, so that a machine of one's own waits as it would for Salesforce. Seconds. */
export interface Latency {
  /** For a call with 200 records; fewer take less. */
  readonly saveSeconds: number;
  /** For 10,000 records of a Bulk job. */
  readonly jobSeconds: number;
}

export const NO_LATENCY: Latency = { saveSeconds: 0, jobSeconds: 0 };

/** Reads `SAVE,JOB`, as a command line gives it: `1,30` is about what Salesforce takes. */
export function readLatency(text: string): Latency {
  const [saveSeconds, jobSeconds, ...others] = text
    .split(",")
    .map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  const isRead = isSeconds(saveSeconds) && isSeconds(jobSeconds) && others.length === 0;
  if (!isRead)
    throw new Error(`the latency ${text} is not two numbers of seconds, for a save and for a Bulk job: 1,30`);
  return { saveSeconds, jobSeconds };
}

const isSeconds = (value: number | undefined): value is number =>
  value !== undefined && Number.isFinite(value) && value >= 0;

/** How long the records of one transaction take, in milliseconds. */
export function savingMilliseconds({ saveSeconds, jobSeconds }: Latency, records: number, isJob: boolean): number {
  const perRecord = isJob ? jobSeconds / 10_000 : saveSeconds / 200;
  return Math.round(1000 * perRecord * records);
}
