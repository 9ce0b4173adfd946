import type { Write } from "../model/fold.ts";
import type { RecordResult } from "../model/record.ts";
import { errorText, judge } from "../model/row-error.ts";
import { BATCH_SIZE } from "../model/ways.ts";
import type { Cycle } from "./cycle.ts";
import type { PushOutcome } from "./ports.ts";
import type { Sending } from "./sending.ts";

/** What a record's result means for the changes that it stands for; what is to be tried again delays what follows it. */
export function outcomeOf(
  cycle: Cycle,
  { delayed }: Sending,
  write: Write,
  result: RecordResult | undefined,
  answeredAt: Date,
): PushOutcome {
  if (!result) throw new Error(`no result for the record of change ${write.changeIds[0]}`);
  const { action, changeIds, recordId } = write;
  const common = { changeIds, recordId };
  const accepted = { ...common, kind: "accepted", action, sfid: result.id ?? write.record.id, answeredAt } as const;
  if (result.success) return accepted;

  const error = errorText(result.errors);
  if (wasBroughtBack(cycle, write, result)) {
    delayed.set(write, 0);
    return { ...common, kind: "retry", afterSeconds: 0, counts: true, error };
  }
  const verdict = judge(write.operation, result.errors, write.attempts, cycle.random());
  if (verdict.kind === "accepted") return accepted;
  if (verdict.kind === "refused") return { ...common, kind: "refused", action, error };
  delayed.set(write, verdict.afterSeconds);
  return { ...common, kind: "retry", afterSeconds: verdict.afterSeconds, counts: true, error };
}

/** Under `postgres_wins`, records that Salesforce deleted beneath an update are undeleted; the update then goes again. */
export async function bringBack(
  cycle: Cycle,
  writes: readonly Write[],
  results: readonly RecordResult[],
): Promise<void> {
  const gone = writes.filter((write, index) => wasBroughtBack(cycle, write, results[index]));
  if (gone.length === 0) return;
  const records = gone.map(({ record }) => ({ id: record.id, values: {} }));
  for (let start = 0; start < records.length; start += BATCH_SIZE) {
    const some = records.slice(start, start + BATCH_SIZE);
    await cycle.hold.during(() => cycle.salesforce.write("undelete", cycle.shape.sfObject, some, null));
  }
}

function wasBroughtBack({ shape }: Cycle, write: Write, result: RecordResult | undefined): boolean {
  if (shape.conflictPolicy !== "postgres_wins" || write.operation !== "update" || write.attempts > 0) return false;
  return result?.errors.some(({ code }) => code === "ENTITY_IS_DELETED") ?? false;
}
