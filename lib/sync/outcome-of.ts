import type { Write } from "../model/fold.ts";
import { sfidOf, stampOf } from "../model/incoming.ts";
import { winnerBy } from "../model/merge.ts";
import type { RecordResult } from "../model/record.ts";
import { mayBeOneRecords, SalesforceRefusal } from "../model/refusal.ts";
import { errorText, judge } from "../model/row-error.ts";
import { BATCH_SIZE } from "../model/ways.ts";
import type { Cycle } from "./cycle.ts";
import type { PushOutcome } from "./ports.ts";
import { recordsOf } from "./read-page.ts";
import type { Sending } from "./sending.ts";

/** What records' results mean for the changes that they stand for; what is to be tried again delays what follows it. */
export async function outcomesOf(
  cycle: Cycle,
  sending: Sending,
  writes: readonly Write[],
  results: readonly (RecordResult | undefined)[],
  answeredAt: Date,
): Promise<PushOutcome[]> {
  const undeleted = await bringBack(cycle, writes, results);
  return writes.map((write, index) => {
    const result = results[index];
    if (!result) throw new Error(`no result for the record of change ${write.changeIds[0]}`);
    return undeleted.has(write) ? again(sending, write, result) : outcomeOf(cycle, sending, write, result, answeredAt);
  });
}

function again({ delayed }: Sending, write: Write, { errors }: RecordResult): PushOutcome {
  const { changeIds, recordId } = write;
  delayed.set(write, 0);
  return { changeIds, recordId, kind: "retry", afterSeconds: 0, counts: true, error: errorText(errors) };
}

function outcomeOf(
  cycle: Cycle,
  { delayed }: Sending,
  write: Write,
  result: RecordResult,
  answeredAt: Date,
): PushOutcome {
  const { action, changeIds, recordId } = write;
  const common = { changeIds, recordId };
  const accepted = { ...common, kind: "accepted", action, sfid: result.id ?? write.record.id, answeredAt } as const;
  if (result.success) return accepted;

  const error = errorText(result.errors);
  const verdict = judge(write.operation, result.errors, write.attempts, cycle.random());
  if (verdict.kind === "accepted") return accepted;
  if (verdict.kind === "refused") return { ...common, kind: "refused", action, error };
  delayed.set(write, verdict.afterSeconds);
  return { ...common, kind: "retry", afterSeconds: verdict.afterSeconds, counts: true, error };
}

/**
 * Records that Salesforce deleted beneath an update that wins are undeleted; the update then goes again. Where the
 * undeletion itself is refused, the update ends as Salesforce answered it.
 */
async function bringBack(
  cycle: Cycle,
  writes: readonly Write[],
  results: readonly (RecordResult | undefined)[],
): Promise<ReadonlySet<Write>> {
  const gone = writes.filter((write, index) => isGone(write, results[index]));
  const winning = gone.length === 0 ? [] : await winners(cycle, gone);
  const back = new Set<Write>();
  for (let start = 0; start < winning.length; start += BATCH_SIZE) {
    const some = winning.slice(start, start + BATCH_SIZE);
    if (await isUndeleted(cycle, some)) for (const write of some) back.add(write);
  }
  return back;
}

async function isUndeleted({ hold, salesforce, shape, tally }: Cycle, writes: readonly Write[]): Promise<boolean> {
  const records = writes.map(({ record }) => ({ id: record.id, values: {} }));
  try {
    await hold.during(() => salesforce.write("undelete", shape.sfObject, records, null));
    return true;
  } catch (error) {
    // Of the saves that were answered before, this refusal says nothing.
    if (!(error instanceof SalesforceRefusal) || !mayBeOneRecords(error.refusal)) throw error;
    tally.notes.push(`${records.length} deleted records could not be brought back (${error.message})`);
    return false;
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
