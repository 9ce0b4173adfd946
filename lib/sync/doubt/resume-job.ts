import { bulkBatchOf, isLookDue } from "../../model/change/bulk-batch.ts";
import type { Write } from "../../model/change/fold.ts";
import { outgoingValue } from "../../model/change/outgoing.ts";
import { SalesforceRefusal } from "../../model/change/refusal.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { Doubt, Recovered } from "../ports/doubt-ports.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import { collectResults, type Job, keyOf } from "../push/collect-results.ts";
import { type PushProgress, settle } from "../push/push-progress.ts";
import { refold } from "./in-doubt-writes.ts";

type AtWork = Recovered["jobs"][number];

/** A job that could not be started for so long is given up. */
const GIVEN_UP_MILLISECONDS = 10 * 60_000;

/**
 * Looks after a job that an earlier cycle left at work. One that its cycle had no time to start is started now: its
 * changes have waited for it, so nothing newer of their records was sent.
 */
export async function resumeJob(
  cycle: Cycle,
  sending: PushProgress,
  { batchId, sentAt, lookedAt }: AtWork,
): Promise<void> {
  const named = bulkBatchOf(batchId);
  if (!named) throw new Error(`changes of mapping ${cycle.mapping.id} name a batch that is no job: ${batchId}`);
  const { hold, salesforce, store, lease, tally, clock } = cycle;
  if (!isLookDue(sentAt, lookedAt, new Date(clock.now()))) {
    tally.jobsWaiting += 1;
    return;
  }
  await hold.mayRead();
  const save = await hold.during(() => salesforce.pollBulkSave(named.jobId));
  if (save.state === "working" || save.state === "open") {
    tally.jobsWaiting += 1;
    if (save.state === "open") await startNow(cycle, named.jobId, clock.now() - sentAt.getTime());
    await store.noteLook(lease, batchId);
    return;
  }
  await settleJob(cycle, sending, { ...named, batchId }, save);
}

/** Salesforce mostly rejects a start because another cycle's came first, which the next poll of the job shows. */
async function startNow({ hold, salesforce, tally }: Cycle, jobId: string, age: number): Promise<void> {
  await hold.maySave();
  try {
    const act = age < GIVEN_UP_MILLISECONDS ? salesforce.startBulkSave : salesforce.abortBulkSave;
    await hold.during(() => act(jobId));
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || error.refusal.kind !== "bug") throw error;
    tally.notes.push(`job ${jobId} could not be started: ${error.message}`);
  }
}

async function settleJob(
  cycle: Cycle,
  sending: PushProgress,
  job: Job,
  save: Parameters<typeof collectResults>[3],
): Promise<void> {
  const doubts = await cycle.store.doubtsIn(cycle.lease, job.batchId);
  const writes = new Map<string, Write>();
  const ended: PushOutcome[] = [];
  for (const doubt of doubts) {
    const known = refold(cycle, doubt);
    if ("write" in known) writes.set(keyIn(cycle, job, doubt, known.write), known.write);
    else ended.push(known);
  }
  await settle(cycle, sending, ended);
  await collectResults(cycle, sending, job, save, writes);
  cycle.tally.doubtsSettled += doubts.length;
}

/** A pull may have found the record of an upsert meanwhile, so that it would be an update now; its value stays. */
function keyIn({ shape }: Cycle, { operation }: Job, { changes }: Doubt, { record }: Write): string {
  if (operation !== "upsert") return keyOf(operation, record.id ?? "");
  const column = shape.columns.find(({ field }) => field === shape.upsertField);
  const sent = changes.map(({ values }) => values[column?.column ?? ""] ?? null).findLast((value) => value !== null);
  const value = column && outgoingValue(column, sent ?? null);
  return keyOf(operation, value && "text" in value ? (value.text ?? "") : "");
}
