import { type ChangeKey, changeKeys, keepApart } from "../../model/change/change-keys.ts";
import { type Batch, type Folded, fold } from "../../model/change/fold.ts";
import { BATCH_SIZE, FIRST_JOB_RECORDS, JOB_RECORDS } from "../../model/change/ways.ts";
import { type Pace, UNKNOWN_PACE } from "../../model/job-looks.ts";
import { waitBriefly } from "../cycle/clock.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { ChangedMeanwhile, type ClaimedChange, type PushOutcome } from "../cycle/ports.ts";
import type { Doubtful } from "../doubt/in-doubt-writes.ts";
import { settleLookedUp } from "../doubt/resolve-in-doubt.ts";
import { giveBack, isTaken, type Sending, settle, settleOwed, startSending } from "../send/push-progress.ts";
import { idsOf } from "../send/save-batch.ts";
import { sendBatch } from "../send/send-batch.ts";
import { awaitJob, sendByBulk, startByBulk } from "../send/send-by-bulk.ts";
import { claimTrouble } from "./held-deletes.ts";
import { lookUpAgain } from "./match-edited-inserts.ts";

/** Changes claimed at a time: enough for a job of the Bulk API, or too few for one while enough of them are at work. */
const CLAIM_LIMIT = JOB_RECORDS;
const SMALL_CLAIM_LIMIT = 2_000;
const JOBS_AT_WORK = 3;

/** A push begins with so many small jobs, each being worked off while others are claimed, uploaded and settled. */
const JOBS_SIDE_BY_SIDE = 4;

/** How long the job before the last one may take to start before more is claimed all the same. */
const START_MILLISECONDS = 100;

/**
 * A job that is opened, uploaded, started and taken up while changes are claimed for others; what its end asks for it
 * finds in `sending`. `isOver` is false where it was left at work.
 */
interface JobBeside {
  readonly sending: Sending;
  readonly isOver: Promise<boolean>;
  /** Resolves once it has been started, or will not be. */
  readonly started: Promise<void>;
}

/** One push: what became of its changes so far, and its jobs. */
interface Run {
  readonly inDoubt: readonly Doubtful[];
  readonly sending: Sending;
  /** Not settled yet, oldest first. */
  readonly jobs: JobBeside[];
  /** The batches of those that are marked as sent. */
  readonly besides: string[];
  /** What a change must not share with those jobs, nor with a change that waits for one of them. */
  readonly taken: Set<ChangeKey>;
  /** The org has refused saves for reasons of its own, and may do so still. */
  readonly probes: boolean;
  /** Jobs that may still be started beside others. */
  sideBySide: number;
  pace: Pace;
}

/**
 * Rows to Salesforce: claim, fold, send in batches, settle, until nothing is due. `inDoubt`: inserts that still wait.
 * `sparesCalls`: the org's calls are scarce, so one large job is better than some small ones, which end sooner. `probes`:
 * the org has refused saves for reasons of its own, so each kind of save begins with one call. Rejects with the org's
 * refusal once all else that was sent is settled.
 */
export async function push(
  cycle: Cycle,
  inDoubt: readonly Doubtful[],
  { sparesCalls, probes }: { readonly sparesCalls: boolean; readonly probes: boolean },
): Promise<void> {
  const isFree = !sparesCalls && !probes && cycle.tally.jobsWaiting === 0;
  const sideBySide = isFree ? JOBS_SIDE_BY_SIDE : 0;
  const run: Run = {
    inDoubt,
    sending: startSending(),
    jobs: [],
    besides: [],
    taken: new Set(),
    probes,
    sideBySide,
    pace: UNKNOWN_PACE,
  };
  try {
    for (let goesOn = true; goesOn; ) {
      goesOn = await pushSome(cycle, run);
      if (run.sending.refusal) throw run.sending.refusal;
    }
  } catch (error) {
    await leaveInOrder(cycle, run).catch((cause: unknown) => {
      // The next holder of the lease finds out what was sent, and gives back the rest.
      cycle.tally.notes.push(`a stopped push could not be left in order: ${String(cause)}`);
    });
    throw error;
  }
}

/** False: nothing more is due, or a job was left at work, and what was to follow it goes back until later. */
async function pushSome(cycle: Cycle, run: Run): Promise<boolean> {
  if (run.sideBySide === 0 && !(await finishJobs(cycle, run))) return false;
  await letStart(cycle, run.jobs.at(-2));
  await cycle.hold.mayRead();
  const claimed = await claim(cycle, run);
  const isFilled = claimed.length >= FIRST_JOB_RECORDS;
  const { free } = keepApart(cycle.shape, run.taken, claimed);
  const goesOn = await claimedAnew(cycle, () =>
    free.length > 0 ? sendClaimed(cycle, run, free, isFilled) : finishSome(cycle, run),
  );
  await settleOwed(cycle, run.sending);
  // What waits for a job of this push, early changes; and when a cycle stops, everything that was not sent.
  await giveBack(cycle, run.sending);
  return goesOn;
}

/**
 * Gives a job a moment to be marked and started before more is claimed: the database does one thing after the other, and
 * Salesforce would have nothing to do while it claims. A start that takes long waits for the network, not for claims.
 */
async function letStart({ clock }: Cycle, job: JobBeside | undefined): Promise<void> {
  if (job) await waitBriefly(clock, START_MILLISECONDS, job.started);
}

/** What was only read may not be what it was: then nothing was sent of it, and it goes back to be claimed anew. */
async function claimedAnew(cycle: Cycle, work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ChangedMeanwhile)) throw error;
    cycle.tally.notes.push(error.message);
    return true;
  }
}

async function claim(cycle: Cycle, { sending, besides, sideBySide }: Run): Promise<readonly ClaimedChange[]> {
  const full = cycle.tally.jobsWaiting < JOBS_AT_WORK ? CLAIM_LIMIT : SMALL_CLAIM_LIMIT;
  const limit = sideBySide > 0 ? FIRST_JOB_RECORDS : full;
  const claimed = await cycle.store.claim(cycle.lease, limit, besides).catch((error: unknown) => {
    throw claimTrouble(error, cycle.tally.heldDeletes);
  });
  // What was sent once and is in doubt is never to be sent by giving it back.
  for (const { id, sent } of claimed) if (!sent) sending.unsent.add(id);
  return claimed;
}

/** False: a job was left at work, or nothing was sent that would let a further claim find more. */
async function sendClaimed(
  cycle: Cycle,
  run: Run,
  free: readonly ClaimedChange[],
  isFilled: boolean,
): Promise<boolean> {
  const { again, others } = apart(free);
  const folded = fold(cycle.shape, others);
  const job = run.sideBySide > 0 && again.length === 0 ? onlyJob(folded) : null;
  if (job) return await sendBeside(cycle, run, { folded, job, changes: others });
  const isPiece = run.sideBySide > 0 && isFilled;
  run.sideBySide = 0;
  // Changes of many kinds fill jobs only where more of them are claimed together: these go back, for a larger claim.
  if (isPiece) return true;
  if (!(await finishJobs(cycle, run)) || !(await send(cycle, run, folded, again))) return false;
  // Early changes need what another one creates; when nothing was sent, they would be claimed in vain again.
  return folded.batches.length > 0 || folded.early.length === 0;
}

/** The job that is all there is to send. */
function onlyJob({ batches: [first, ...others] }: Folded): Batch | null {
  return first?.way === "bulk" && others.length === 0 ? first : null;
}

interface Piece {
  readonly folded: Folded;
  readonly job: Batch;
  readonly changes: readonly ClaimedChange[];
}

/** Begins a job that nothing waits for but its end: what is claimed meanwhile shares no key with it. */
async function sendBeside(cycle: Cycle, run: Run, { folded, job, changes }: Piece): Promise<true> {
  await settle(cycle, run.sending, withoutSending(folded));
  const sending = startSending();
  for (const id of idsOf(job.writes)) if (run.sending.unsent.delete(id)) sending.unsent.add(id);
  const starting = startByBulk(cycle, sending, job, ({ batchId }) => run.besides.push(batchId));
  const isOver = followBeside(cycle, run, sending, starting);
  const met = () => undefined; // trouble is met where its end is awaited
  isOver.catch(met);
  run.jobs.push({ sending, isOver, started: starting.then(met, met) });
  // Where there is no Bulk API, which the first one may have found out by now, none is left.
  run.sideBySide = Math.max(0, run.sideBySide - 1);
  if (run.sideBySide > 0) take(cycle.shape, run, changes);
  return true;
}

/** What is claimed from now on shares no key with these. */
function take(shape: Cycle["shape"], { taken }: Run, changes: readonly ClaimedChange[]): void {
  const keys = changeKeys(shape);
  for (const change of changes) for (const key of keys.of(change)) taken.add(key);
}

/**
 * Takes up the results of a job once it was started, after those of the one before: Salesforce ends them in that order, so
 * most looks find one.
 */
async function followBeside(
  cycle: Cycle,
  run: Run,
  sending: Sending,
  starting: ReturnType<typeof startByBulk>,
): Promise<boolean> {
  const before = run.jobs.at(-1)?.isOver;
  const job = await starting;
  // There is no Bulk API here, which the next ones need not find out by themselves.
  if (job === null) run.sideBySide = 0;
  await before?.catch(() => undefined);
  if (job === null || (await awaitJob(cycle, sending, job, run))) return true;
  cycle.tally.jobsWaiting += 1;
  return false;
}

/** Waits for the jobs of this push to be settled. False: some are left at work. */
async function finishJobs(cycle: Cycle, run: Run): Promise<boolean> {
  let allOver = true;
  for (const { isOver } of run.jobs) {
    await claimedAnew(cycle, async () => {
      allOver = (await isOver) && allOver;
      return true;
    });
  }
  for (const { sending } of run.jobs) await endOf(cycle, run, sending);
  for (const list of [run.jobs, run.besides]) list.length = 0;
  run.taken.clear();
  return allOver;
}

/** What was not sent of a job's changes is the push's to give back. */
async function endOf(cycle: Cycle, run: Run, sending: Sending): Promise<void> {
  await sending.writing;
  await settleOwed(cycle, sending);
  for (const id of sending.unsent) run.sending.unsent.add(id);
  run.sending.refusal ??= sending.refusal;
}

/** The same where there are any: what could not go beside them can be claimed after them. */
const finishSome = async (cycle: Cycle, run: Run): Promise<boolean> =>
  run.jobs.length > 0 && (await finishJobs(cycle, run));

/** Rows whose insert ended in doubt and that were changed since are looked up again, the others go. */
function apart(claimed: readonly ClaimedChange[]) {
  const inDoubt = new Set(claimed.flatMap(({ recordId, sent }) => (sent ? [recordId] : [])));
  const { again = [], others = [] } = Object.groupBy(claimed, ({ recordId }) =>
    inDoubt.has(recordId) ? "again" : "others",
  );
  return { again, others };
}

/** One batch after the other. False: a job was left at work. */
async function send(
  cycle: Cycle,
  { sending, inDoubt, probes }: Run,
  folded: Folded,
  again: readonly ClaimedChange[],
): Promise<boolean> {
  if (again.length > 0) await settleLookedUp(cycle, sending, await lookUpAgain(cycle, again, inDoubt));
  await settle(cycle, sending, withoutSending(folded));
  for (const { way, operation, writes } of folded.batches) {
    // What the org refuses a call's worth of, it is not sent a whole job of.
    const first = way === "soap" ? writes : writes.slice(0, probes ? BATCH_SIZE : 0);
    const others = writes.slice(first.length);
    if (first.length > 0 && isTaken(sending, operation)) await sendBatch(cycle, sending, { operation, writes: first });
    if (others.length === 0 || !isTaken(sending, operation)) continue;
    if (!(await sendByBulk(cycle, sending, { operation, writes: others }))) return false;
  }
  return true;
}

function withoutSending({ settled, refused }: Folded): PushOutcome[] {
  return [
    ...settled.map((ended) => ({ ...ended, kind: "settled" }) as const),
    ...refused.map((ended) => ({ ...ended, kind: "refused" }) as const),
  ];
}

async function leaveInOrder(cycle: Cycle, run: Run): Promise<void> {
  await Promise.allSettled(run.jobs.map(({ isOver }) => isOver));
  await Promise.allSettled(run.jobs.map(({ sending }) => endOf(cycle, run, sending)));
  await settleOwed(cycle, run.sending);
  await giveBack(cycle, run.sending);
}
