import { bulkBatchId } from "../../model/change/bulk-batch.ts";
import { soapBatches, type Write } from "../../model/change/fold.ts";
import { SalesforceRefusal } from "../../model/change/refusal.ts";
import { firstLook, nextLook, type Pace, paceAfter, UNKNOWN_PACE } from "../../model/job-looks.ts";
import { pause } from "../cycle/clock.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { type Job, takeResults, writesByKey } from "./collect-results.ts";
import { ready, type Sending, settleOwed } from "./push-progress.ts";
import { idsOf, mark, type Saved } from "./save-batch.ts";
import { sendBatch } from "./send-batch.ts";

/** A job that takes longer is left to the cycles that follow, so that the mapping's pulls go on. */
const WAITED_MILLISECONDS = 20_000;

/** A job that was started, and what it is to save. */
interface StartedJob {
  readonly job: Job;
  readonly writes: readonly Write[];
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** One job, started and waited for. False: it is at work still, and later cycles take up what comes of it. */
export async function sendByBulk(cycle: Cycle, sending: Sending, batch: Saved): Promise<boolean> {
  const started = await startByBulk(cycle, sending, batch);
  const isOver = started === null || (await awaitJob(cycle, sending, started, { pace: UNKNOWN_PACE }));
  await sending.writing;
  if (isOver) return true;
  cycle.tally.jobsWaiting += 1;
  return false;
}

/**
 * One job of the Bulk API, named by its changes before it is started: whoever comes later finds it by that name, and a
 * job is started once however often it is asked. Null: there is none, for nothing is ready or all of it went by SOAP.
 */
export async function startByBulk(
  cycle: Cycle,
  sending: Sending,
  { operation, writes }: Saved,
  marked: (job: Job) => void = () => undefined,
): Promise<StartedJob | null> {
  const going = ready(sending, writes);
  await settleOwed(cycle, sending);
  if (going.length === 0) return null;
  const batch = { operation, writes: going };
  const jobId = await open(cycle, batch);
  if (jobId === null) {
    for (const part of soapBatches(operation, going)) await sendBatch(cycle, sending, part);
    return null;
  }
  const job: Job = { operation, jobId, batchId: bulkBatchId({ operation, jobId }) };
  marked(job);
  await start(cycle, sending, job, batch);
  return { job, writes: going, startedAt: cycle.clock.now() };
}

/** A job with its records uploaded, nothing saved yet. Null: this org, or this object, has no Bulk API. */
async function open(cycle: Cycle, { operation, writes }: Saved): Promise<string | null> {
  const { salesforce, shape, hold } = cycle;
  await hold.mayRead();
  try {
    const jobId = await hold.during(() => salesforce.openBulkSave(operation, shape.sfObject, shape.upsertField));
    const records = writes.map(({ record }) => record);
    await orAbandon(cycle, jobId, () => hold.during(() => salesforce.uploadBulkSave(jobId, records)));
    return jobId;
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || !UNSUPPORTED.has(error.refusal.kind)) throw error;
    cycle.tally.notes.push(`the Bulk API refused (${error.message}); sent by SOAP instead`);
    return null;
  }
}

const UNSUPPORTED: ReadonlySet<string> = new Set(["bug", "mapping"]);

async function start(cycle: Cycle, sending: Sending, { jobId, batchId }: Job, batch: Saved): Promise<void> {
  const { salesforce, hold, tally } = cycle;
  await orAbandon(cycle, jobId, () => mark(cycle, batch, batchId));
  for (const id of idsOf(batch.writes)) sending.unsent.delete(id);
  tally.saves += 1;
  try {
    await hold.during(() => salesforce.startBulkSave(jobId));
  } catch (error) {
    // Whether it was started is for the next cycle to see. Refused, it was not, and nobody may start it any more.
    if (error instanceof SalesforceRefusal && !error.refusal.mayHaveRun) {
      for (const id of idsOf(batch.writes)) sending.unsent.add(id);
      await abandon(cycle, jobId);
    }
    throw error;
  }
}

async function orAbandon<Answer>(cycle: Cycle, jobId: string, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    await abandon(cycle, jobId);
    throw error;
  }
}

/** A job that was never started saves nothing; Salesforce forgets it after seven days, or now. */
async function abandon({ salesforce, tally }: Cycle, jobId: string): Promise<void> {
  await salesforce.abortBulkSave(jobId).catch((error: unknown) => {
    tally.notes.push(`job ${jobId} was not started and could not be aborted: ${String(error)}`);
  });
}

/**
 * Looks after a job until it is over, and settles what came of it: `sending.writing`. False: it has been at work for too
 * long to wait on. `seen` is how fast jobs that were started beside each other are worked off.
 */
export async function awaitJob(
  cycle: Cycle,
  sending: Sending,
  { job, writes, startedAt }: StartedJob,
  seen: { pace: Pace },
): Promise<boolean> {
  const { hold, salesforce, clock } = cycle;
  const records = writes.length;
  let wasAtWork = false;
  let before = 0;
  // Other work may have taken up the first pause.
  for (let look = firstLook(startedAt); look - startedAt <= WAITED_MILLISECONDS; ) {
    await hold.during(() => pause(clock, look - clock.now()));
    await hold.mayRead();
    const save = await hold.during(() => salesforce.lookAtBulkSave(job.jobId));
    if (save.state !== "working" && save.state !== "open") {
      const tellsPace = wasAtWork && save.state === "complete";
      seen.pace = paceAfter({ startedAt, records }, seen.pace, clock.now(), tellsPace);
      await takeResults(cycle, sending, job, save, writesByKey(cycle.shape, job, writes));
      return true;
    }
    wasAtWork = true;
    look = nextLook({ startedAt, records, processed: save.processed, before }, seen.pace, clock.now());
    before = save.processed;
  }
  return false;
}
