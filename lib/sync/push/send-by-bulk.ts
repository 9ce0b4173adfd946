import { bulkBatchId } from "../../model/change/bulk-batch.ts";
import { soapBatches } from "../../model/change/fold.ts";
import { isUnsupported, SalesforceRefusal } from "../../model/change/refusal.ts";
import { BATCH_SIZE } from "../../model/change/ways.ts";
import { type Cycle, pause } from "../cycle/cycle.ts";
import { collectResults, type Job, writesByKey } from "./collect-results.ts";
import { type PushProgress, ready } from "./push-progress.ts";
import { idsOf, mark, type Saved } from "./save-batch.ts";
import { sendBatch } from "./send-batch.ts";

/**
 * When a job is looked after, in milliseconds since its start. One that is not over by then is left, so that the mapping's
 * next cycle pulls in time, and looks after it again.
 */
const LOOKS_MILLISECONDS = [250, 750, 1_750, 3_750];

/**
 * One job of the Bulk API, named by its changes before it is started: a later cycle finds it by that name, and a job is
 * started once however often that is tried. False: it is still running, and later cycles collect its results.
 */
export async function sendByBulk(cycle: Cycle, sending: PushProgress, { operation, writes }: Saved): Promise<boolean> {
  const going = await ready(cycle, sending, writes);
  if (going.length === 0) return true;
  const batch = { operation, writes: going };
  // A job saves 200 records at a time, whatever the org can bear.
  const jobId = cycle.callSize.size < BATCH_SIZE ? null : await open(cycle, batch);
  if (jobId === null) {
    for (const part of soapBatches(operation, going)) await sendBatch(cycle, sending, part);
    return true;
  }
  const job: Job = { operation, jobId, batchId: bulkBatchId({ operation, jobId }) };
  await start(cycle, sending, job, batch);
  return await awaitJob(cycle, sending, job, batch);
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
    if (!isUnsupported(error)) throw error;
    cycle.tally.notes.push(`the Bulk API refused (${error.message}); sent by SOAP instead`);
    return null;
  }
}

async function start(cycle: Cycle, sending: PushProgress, { jobId, batchId }: Job, batch: Saved): Promise<void> {
  const { salesforce, hold, tally } = cycle;
  await orAbandon(cycle, jobId, () => mark(cycle, batch, batchId));
  for (const id of idsOf(batch.writes)) sending.unsent.delete(id);
  tally.saves += 1;
  try {
    await hold.during(() => salesforce.startBulkSave(jobId));
  } catch (error) {
    // Whether it was started is for the next cycle to see. Refused, it was not, and must not be started any more.
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

/** Polls a job until it is over, and settles its results. False: it is left running. */
async function awaitJob(cycle: Cycle, sending: PushProgress, job: Job, { writes }: Saved): Promise<boolean> {
  const { hold, salesforce, clock, tally } = cycle;
  const startedAt = clock.now();
  for (const milliseconds of LOOKS_MILLISECONDS) {
    await hold.during(() => pause(clock, startedAt + milliseconds - clock.now()));
    await hold.mayRead();
    const save = await hold.during(() => salesforce.pollBulkSave(job.jobId));
    if (save.state === "working" || save.state === "open") continue;
    await collectResults(cycle, sending, job, save, writesByKey(cycle.shape, job, writes));
    return true;
  }
  tally.jobsWaiting += 1;
  return false;
}
