import { soapBatches } from "../../model/change/fold.ts";
import { decidedAs, isOfRewind, REWOUND, UNSENT } from "../../model/change/rewound.ts";
import { pulls } from "../../model/mapping/mapping.ts";
import type { Operation } from "../../model/record/record.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import { readAgain } from "../pull/read-page.ts";
import { giveBack, isTaken, type PushProgress, settle, startPushProgress } from "../push/push-progress.ts";
import { removeOutside } from "../push/remove-outside.ts";
import { sendBatch } from "../push/send-batch.ts";
import { type InDoubtWrite, isRepeatable, refold, retryOutcome } from "./in-doubt-writes.ts";
import { matchLostInserts } from "./match-lost-inserts.ts";
import { findSavedUpdates, readBackUpdates } from "./read-back-updates.ts";
import { resumeJob } from "./resume-job.ts";

/** A Salesforce transaction may commit ten minutes after we gave up on it. */
const DOUBT_MILLISECONDS = 11 * 60_000;

/**
 * Settles the writes that an earlier cycle sent without recording their results. Upserts and deletes are sent again as
 * they were. Updates and plain inserts wait until Salesforce cannot commit them any more, and are then looked up; an
 * update whose record already shows it is settled before. All wait while the org's calls run low. Answers the
 * inserts that still wait.
 */
export async function resolveInDoubt(cycle: Cycle, mayCall: boolean): Promise<readonly InDoubtWrite[]> {
  const { doubts, jobs } = await cycle.store.recover(cycle.lease);
  if (!mayCall) {
    cycle.tally.doubtsWaiting += doubts.length;
    cycle.tally.jobsWaiting += jobs.length;
    return [];
  }
  const sending = startPushProgress();
  const writes: InDoubtWrite[] = [];
  const ended: PushOutcome[] = [];
  for (const doubt of doubts) {
    const known = refold(cycle, doubt);
    if ("write" in known) writes.push(known);
    else ended.push(known);
  }
  await settle(cycle, sending, ended);
  await sendOnceMore(cycle, sending, writes.filter(isRepeatable));

  const others = writes.filter((doubt) => !isRepeatable(doubt) && !isOverruled(cycle, doubt));
  const isRipe = ({ sentAt, batchId }: InDoubtWrite) =>
    cycle.clock.now() - sentAt.getTime() >= DOUBT_MILLISECONDS || batchId.startsWith(REWOUND);
  const [ripe, unripe] = [others.filter(isRipe), others.filter((doubt) => !isRipe(doubt))];
  const inserts = unripe.filter(({ write }) => write.operation === "create");
  const readBack = ripe.filter((doubt) => doubt.write.operation === "update" && !isToSend(doubt));
  await settleLookedUp(cycle, sending, await readBackUpdates(cycle, readBack));
  await settle(cycle, sending, ripe.filter(isToSend).map(retryOutcome));
  if (pulls(cycle.mapping.syncDirection)) await readAgain(cycle, idsOf(ripe.filter(isToSend)), "reread");
  const lookedUp = ripe.filter((doubt) => doubt.write.operation === "create" && !isToSend(doubt));
  await settleLookedUp(cycle, sending, await matchLostInserts(cycle, lookedUp, inserts));
  const saved = await findSavedUpdates(
    cycle,
    unripe.filter(({ write }) => write.operation === "update"),
  );
  await settleLookedUp(cycle, sending, saved);
  // At last: while inserts are in doubt, a record that has no row may be one of theirs.
  await keepTheirs(
    cycle,
    sending,
    writes.filter((doubt) => isOverruled(cycle, doubt)),
  );
  cycle.tally.doubtsWaiting += unripe.length - saved.length;
  for (const job of jobs) {
    const ofJob = startPushProgress();
    await resumeJob(cycle, ofJob, job);
    // What the org refused for reasons of its own was not saved: the push tries it again.
    await giveBack(cycle, ofJob);
    await removeOutside(cycle, ofJob);
  }
  await removeOutside(cycle, sending);
  if (sending.refusal) throw sending.refusal;
  return inserts;
}

/** A person has decided for what Salesforce holds. A row without its record meets it first, where that is pulled. */
const isOverruled = ({ mapping }: Cycle, { batchId, write }: InDoubtWrite): boolean =>
  batchId === decidedAs("salesforce") &&
  (write.record.id !== null || (write.operation === "upsert" && !pulls(mapping.syncDirection)));

/** Of a rewound database, and not to be looked up any more: it goes the way of every change. */
const isToSend = ({ batchId, write: { operation } }: InDoubtWrite): boolean =>
  [UNSENT, decidedAs("ours")].includes(batchId) ||
  (isOfRewind(batchId) && (operation === "upsert" || operation === "delete"));

const idsOf = (doubts: readonly InDoubtWrite[]): readonly string[] =>
  doubts.flatMap(({ write }) => write.record.id ?? []);

/** Ends what a person has decided against, and has the rows take what Salesforce holds. */
async function keepTheirs(cycle: Cycle, sending: PushProgress, doubts: readonly InDoubtWrite[]): Promise<void> {
  if (doubts.length === 0) return;
  const message = "Salesforce's values were kept after a restore";
  const outcomes = doubts.map(
    ({ write: { recordId, changeIds, record } }) =>
      ({ recordId, changeIds, kind: "givenUp", message, sfid: record.id }) as const,
  );
  await settle(cycle, sending, outcomes);
  if (pulls(cycle.mapping.syncDirection)) await readAgain(cycle, idsOf(doubts), "reread");
}

/** Settles what was looked up, and reads the records that were found again: until now their rows kept what was sent. */
export async function settleLookedUp(
  cycle: Cycle,
  sending: PushProgress,
  outcomes: readonly PushOutcome[],
): Promise<void> {
  await settle(cycle, sending, outcomes);
  if (!pulls(cycle.mapping.syncDirection)) return;
  const found = outcomes.flatMap((outcome) => (outcome.kind === "accepted" ? (outcome.sfid ?? []) : []));
  await readAgain(cycle, found, "reread");
}

async function sendOnceMore(cycle: Cycle, sending: PushProgress, doubts: readonly InDoubtWrite[]): Promise<void> {
  const operations: readonly Operation[] = ["delete", "upsert", "update"];
  for (const operation of operations) {
    const writes = doubts.map(({ write }) => write).filter((write) => write.operation === operation);
    for (const batch of soapBatches(operation, writes))
      if (isTaken(sending, operation)) await sendBatch(cycle, sending, batch);
  }
}
