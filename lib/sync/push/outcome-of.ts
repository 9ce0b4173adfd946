import type { Write } from "../../model/change/fold.ts";
import { mayBeOneRecords, type RequestRefusal, SalesforceRefusal } from "../../model/change/refusal.ts";
import { errorText, judge, orgRefusalIn } from "../../model/change/row-error.ts";
import { BATCH_SIZE } from "../../model/change/ways.ts";
import { sfidOf, stampOf } from "../../model/record/incoming.ts";
import { winnerBy } from "../../model/record/merge.ts";
import type { RecordResult } from "../../model/record/record.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { recordsOf } from "../pull/read-page.ts";
import type { PushOutcome } from "./push-ports.ts";
import { leave, type PushProgress } from "./push-progress.ts";

/**
 * What records' results mean for the changes that they stand for; what is to be tried again delays what follows it. What the
 * org refuses for reasons of its own has no outcome: it is left to a later push.
 */
export async function outcomesOf(
  cycle: Cycle,
  sending: PushProgress,
  writes: readonly Write[],
  results: readonly (RecordResult | undefined)[],
  answeredAt: Date,
): Promise<PushOutcome[]> {
  const undeleted = await bringBack(cycle, writes, results);
  return writes.flatMap((write, index) => {
    const result = results[index];
    if (!result) throw new Error(`no result for the record of change ${write.changeIds[0]}`);
    const brought = undeleted.get(write);
    return brought ? again(sending, write, result, brought) : outcomeOf(cycle, sending, write, result, answeredAt);
  });
}

function again(sending: PushProgress, write: Write, { errors }: RecordResult, brought: RecordResult): PushOutcome[] {
  const { changeIds, recordId } = write;
  const refusal = orgRefusalIn(brought.errors);
  if (refusal) return left(sending, write, refusal);
  sending.delayed.set(write, 0);
  return [{ changeIds, recordId, kind: "retry", afterSeconds: 0, counts: true, error: errorText(errors) }];
}

function left(sending: PushProgress, write: Write, refusal: RequestRefusal): [] {
  leave(sending, write, refusal);
  return [];
}

function outcomeOf(
  cycle: Cycle,
  sending: PushProgress,
  write: Write,
  result: RecordResult,
  answeredAt: Date,
): PushOutcome[] {
  const { action, changeIds, recordId } = write;
  const common = { changeIds, recordId };
  const accepted = { ...common, kind: "accepted", action, sfid: result.id ?? write.record.id, answeredAt } as const;
  if (result.success) return [accepted];

  const error = errorText(result.errors);
  const verdict = judge(write.operation, result.errors, write.attempts, cycle.random());
  if (verdict.kind === "accepted") return [accepted];
  if (verdict.kind === "org") return left(sending, write, verdict.refusal);
  if (verdict.kind === "refused") return [{ ...common, kind: "refused", action, error }];
  sending.delayed.set(write, verdict.afterSeconds);
  return [{ ...common, kind: "retry", afterSeconds: verdict.afterSeconds, counts: true, error }];
}

/**
 * Records that Salesforce deleted beneath an update that wins are undeleted; the update then goes again. Where the
 * undeletion itself is refused, the update ends as Salesforce answered it. Gives the undeletions' results.
 */
async function bringBack(
  cycle: Cycle,
  writes: readonly Write[],
  results: readonly (RecordResult | undefined)[],
): Promise<ReadonlyMap<Write, RecordResult>> {
  const gone = writes.filter((write, index) => isGone(write, results[index]));
  const winning = gone.length === 0 ? [] : await winners(cycle, gone);
  const back = new Map<Write, RecordResult>();
  for (let start = 0; start < winning.length; start += BATCH_SIZE) {
    const some = winning.slice(start, start + BATCH_SIZE);
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

function isGone(write: Write, result: RecordResult | undefined): boolean {
  if (write.operation !== "update" || write.attempts > 0) return false;
  return result?.errors.some(({ code }) => code === "ENTITY_IS_DELETED") ?? false;
}

/** Whether the later one wins only the record's stamp tells, which is that of its deletion. */
async function winners(cycle: Cycle, gone: readonly Write[]): Promise<readonly Write[]> {
  const { conflictPolicy: policy } = cycle.shape;
  if (policy !== "latest_wins") return policy === "postgres_wins" ? gone : [];
  const deletedAt = new Map<string, Date>();
  const ids = gone.flatMap(({ record }) => record.id ?? []);
  for await (const { records } of recordsOf(cycle, ids)) {
    for (const record of records) deletedAt.set(keyOf(sfidOf(record)), stampOf(record));
  }
  return gone.filter((write) => {
    const at = deletedAt.get(keyOf(write.record.id ?? ""));
    return at !== undefined && winnerBy(policy, at, [write]) === "postgres";
  });
}

const keyOf = (sfid: string) => sfid.slice(0, 15);
