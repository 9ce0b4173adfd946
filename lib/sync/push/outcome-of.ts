import type { Write } from "../../model/change/fold.ts";
import { asNamed, type MissingParent, sentAgainAfterSeconds, waitsFor } from "../../model/change/missing-parent.ts";
import { depthOf, EXCHANGED, holderIn, placeOf } from "../../model/change/moved-values.ts";
import { mayBeOneRecords, type RequestRefusal, SalesforceRefusal } from "../../model/change/refusal.ts";
import { errorText, isTooMany, judge, MAX_RETRIES } from "../../model/change/row-error.ts";
import { BATCH_SIZE } from "../../model/change/ways.ts";
import { chunks } from "../../model/chunks.ts";
import { imageOf, mergedInto } from "../../model/record/incoming.ts";
import { shortId } from "../../model/record/long-id.ts";
import { winnerBy } from "../../model/record/merge.ts";
import type { Image, RecordError, RecordResult } from "../../model/record/record.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import { recordsOf } from "../pull/read-page.ts";
import { leave, type PushProgress, putOff } from "./push-progress.ts";
import { leavingFilter } from "./remove-outside.ts";

/**
 * What records' results mean for the changes in them; a retry delays what follows it. What the org refuses for reasons
 * of its own has no outcome: it is left to a later push.
 */
export async function outcomesOf(
  cycle: Cycle,
  sending: PushProgress,
  writes: readonly Write[],
  results: readonly (RecordResult | undefined)[],
  answeredAt: Date,
): Promise<PushOutcome[]> {
  const gone = writes.filter((write, index) => isGone(write, results[index]));
  const found = await lookUpGone(cycle, gone);
  const winning = gone.filter((write) => mayComeBack(cycle, write, found.get(write)));
  const undeleted = await bringBack(cycle, winning);
  const judged = { answeredAt, goesSmaller: adjustCallSize(cycle, results), mayLeave: leavingFilter(cycle) };
  return writes.flatMap((write, index) => {
    const result = results[index];
    if (!result) throw new Error(`no result for the record of change ${write.changeIds[0]}`);
    const brought = undeleted.get(write);
    const back = brought && again(cycle, sending, write, result, brought);
    return back ?? outcomeOf(cycle, sending, write, namingMaster(result, found.get(write)), judged);
  });
}

/** Notes from one call's results how many records the org can bear; true where the rest goes in smaller calls. */
function adjustCallSize({ callSize }: Cycle, results: readonly (RecordResult | undefined)[]): boolean {
  if (results.some((result) => result?.success)) callSize.accept();
  return results.some((result) => result && isTooMany(result.errors)) && callSize.halve(results.length);
}

/**
 * What was undeleted goes again at once; what only a lock or the like kept in the recycle bin is met there again later, for
 * a month at most. Null: Salesforce refuses to undelete it.
 */
function again(
  { clock, random }: Cycle,
  sending: PushProgress,
  write: Write,
  { errors }: RecordResult,
  brought: RecordResult,
): PushOutcome[] | null {
  if (brought.success) return [putOff(sending, write, 0, errorText(errors), { counts: true })];
  const verdict = judge("undelete", brought.errors, 0, random());
  if (verdict.kind === "org") return left(sending, write, verdict.refusal);
  const afterSeconds = sentAgainAfterSeconds(clock.now() - write.capturedAt.getTime());
  if (verdict.kind !== "retry" || afterSeconds === null) return null;
  return [putOff(sending, write, afterSeconds, errorText(brought.errors))];
}

function left(sending: PushProgress, write: Write, refusal: RequestRefusal): [] {
  leave(sending, write, refusal);
  return [];
}

/** What the results of one call have in common. */
interface Judged {
  readonly answeredAt: Date;
  /** What was too much at once goes in smaller calls. */
  readonly goesSmaller: boolean;
  readonly mayLeave: (write: Write) => boolean;
}

function outcomeOf(
  cycle: Cycle,
  sending: PushProgress,
  write: Write,
  result: RecordResult,
  { answeredAt, goesSmaller, mayLeave }: Judged,
): PushOutcome[] {
  const { action, changeIds, recordId } = write;
  const common = { changeIds, recordId };
  const accepted = { ...common, kind: "accepted", action, sfid: result.id ?? write.record.id, answeredAt } as const;
  if (result.success) {
    if (accepted.sfid !== null && mayLeave(write)) sending.mayHaveLeft.add(accepted.sfid);
    return [accepted];
  }

  const error = errorText(result.errors);
  const verdict = judge(write.operation, result.errors, write.attempts, cycle.random());
  if (verdict.kind === "accepted") return [accepted];
  if (verdict.kind === "org") return left(sending, write, verdict.refusal);
  if (verdict.kind === "tooMany" && goesSmaller) return [putOff(sending, write, 0, error)];
  if (verdict.kind === "parentMissing") return [waitingOutcome(cycle, sending, write, verdict.parent, error)];
  if (verdict.kind === "refused" && givesWay(sending, write, result.errors)) {
    const isExchanged = depthOf(sending.behind, placeOf(write)) === null;
    if (isExchanged) return [{ ...common, kind: "refused", action, error: `${error}; ${EXCHANGED}` }];
    return [putOff(sending, write, 0, error, { counts: true })];
  }
  if (verdict.kind !== "retry") return [{ ...common, kind: "refused", action, error }];
  return [putOff(sending, write, verdict.afterSeconds, error, { counts: true })];
}

/** Whether the record that has the value of a unique field is getting another one itself: then this one goes behind it. */
function givesWay({ batches, behind }: PushProgress, write: Write, errors: readonly RecordError[]): boolean {
  const holder = write.attempts < MAX_RETRIES ? holderIn(errors) : null;
  if (holder === null) return false;
  const place = placeOf(write);
  const isMoving = batches.some(({ writes }) =>
    writes.some((other) => placeOf(other) === holder.id && holder.field in other.record.values),
  );
  if (isMoving) behind.set(place, holder.id);
  return isMoving || (behind.get(place) === holder.id && depthOf(behind, place) === null);
}

/** Back to NEW until the parent is there, however often that takes; after a month it ends FAILED. */
function waitingOutcome(
  { clock }: Cycle,
  sending: PushProgress,
  write: Write,
  missing: MissingParent,
  error: string,
): PushOutcome {
  const { changeIds, recordId, action, capturedAt } = write;
  const afterSeconds = sentAgainAfterSeconds(clock.now() - capturedAt.getTime());
  if (afterSeconds === null) return { changeIds, recordId, kind: "refused", action, error };
  return putOff(sending, write, afterSeconds, waitsFor(asNamed(write, missing)));
}

/** Records that Salesforce deleted beneath updates, by the updates, as far as it still knows them. */
async function lookUpGone(cycle: Cycle, gone: readonly Write[]): Promise<ReadonlyMap<Write, Image>> {
  const byId = Map.groupBy(gone, ({ record }) => shortId(record.id ?? ""));
  const found = new Map<Write, Image>();
  for await (const { records } of recordsOf(cycle, [...byId.keys()])) {
    for (const record of records) {
      const image = imageOf(cycle.shape, record);
      for (const write of byId.get(shortId(image.sfid)) ?? []) found.set(write, image);
    }
  }
  return found;
}

/** A change whose record was merged away ends with the id of the one that it belongs to now. */
function namingMaster(result: RecordResult, gone: Image | undefined): RecordResult {
  if (!gone?.mergedInto) return result;
  return { ...result, errors: [{ code: GONE, message: mergedInto(gone.mergedInto), fields: [] }] };
}

/**
 * Records that Salesforce deleted beneath an update that wins are undeleted; the update then goes again. Where the
 * undeletion itself is refused, the update ends as Salesforce answered it. Gives the undeletions' results.
 */
async function bringBack(cycle: Cycle, winning: readonly Write[]): Promise<ReadonlyMap<Write, RecordResult>> {
  const back = new Map<Write, RecordResult>();
  for (const some of chunks(winning, BATCH_SIZE)) {
    for (const [index, result] of (await undelete(cycle, some)).entries()) {
      const write = some[index];
      if (write) back.set(write, result);
    }
  }
  return back;
}

async function undelete(
  { hold, salesforce, shape, tally }: Cycle,
  writes: readonly Write[],
): Promise<readonly RecordResult[]> {
  const records = writes.map(({ record }) => ({ id: record.id, values: {} }));
  try {
    return (await hold.during(() => salesforce.write("undelete", shape.sfObject, records, null))).results;
  } catch (error) {
    // Of the saves that were answered before, this refusal says nothing.
    if (!(error instanceof SalesforceRefusal) || !mayBeOneRecords(error.refusal)) throw error;
    tally.notes.push(`${records.length} deleted records could not be brought back (${error.message})`);
    return [];
  }
}

const GONE = "ENTITY_IS_DELETED";

function isGone({ operation }: Write, result: RecordResult | undefined): boolean {
  return operation === "update" && (result?.errors.some(({ code }) => code === GONE) ?? false);
}

/** The loser of a merge never does. Only the record's stamp, that of its deletion, shows whether the later one wins. */
function mayComeBack({ shape }: Cycle, write: Write, gone: Image | undefined): boolean {
  if (write.attempts > 0 || !gone || gone.mergedInto) return false;
  return winnerBy(shape.conflictPolicy, gone.systemModstamp, [write]) === "postgres";
}
