import { randomUUID } from "node:crypto";
import type { Batch, Write } from "../model/fold.ts";
import type { RecordResult } from "../model/record.ts";
import { SalesforceRefusal } from "../model/refusal.ts";
import { errorText, judge } from "../model/row-error.ts";
import type { Cycle } from "./cycle.ts";
import type { PushOutcome } from "./ports.ts";

/** What became so far of the changes that were claimed together. */
export interface Sending {
  /** Changes that are claimed, not sent and not settled. */
  readonly unsent: Set<number>;
  /** Writes to be tried again, and after how many seconds. */
  readonly delayed: Map<Write, number>;
  /** What came of the last call, to be written down while the next one is under way. */
  owed: readonly PushOutcome[];
}

export function startSending(changeIds: readonly number[]): Sending {
  return { unsent: new Set(changeIds), delayed: new Map(), owed: [] };
}

/**
 * One call, marked before; what comes of it is owed, and settled with the next one or by `settleOwed`. What follows a
 * write that is to be tried again waits as long as that one.
 */
export async function sendBatch(cycle: Cycle, sending: Sending, { operation, writes }: Batch): Promise<void> {
  const going: Write[] = [];
  const waiting: PushOutcome[] = [];
  for (const write of writes) {
    const afterSeconds = delayBefore(write, sending);
    if (afterSeconds === null) going.push(write);
    else waiting.push(putOff(sending, write, afterSeconds));
  }
  sending.owed = [...sending.owed, ...waiting];
  if (going.length === 0) return;

  await cycle.hold.maySave();
  await cycle.store.markSent(cycle.lease, randomUUID(), idsOf(going));
  await cycle.hold.stillMaySave();
  const saving = save(cycle, sending, { operation, writes: going });
  // Its own end is awaited below, whatever becomes of the writing down.
  saving.catch(() => undefined);
  await settleOwed(cycle, sending).finally(() => saving.catch(() => undefined));
  sending.owed = await saving;
}

/** Writes down what came of the last call. */
export async function settleOwed(cycle: Cycle, sending: Sending): Promise<void> {
  const { owed } = sending;
  sending.owed = [];
  await settle(cycle, sending, owed);
}

/** Writes down outcomes; their changes are nobody's to give back any more. */
export async function settle(cycle: Cycle, sending: Sending, outcomes: readonly PushOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  await cycle.store.settle(cycle.lease, outcomes);
  for (const outcome of outcomes) {
    for (const id of outcome.changeIds) sending.unsent.delete(id);
    cycle.tally[COUNTED_AS[outcome.kind]] += 1;
  }
}

const COUNTED_AS = { accepted: "accepted", refused: "refused", retry: "retried", settled: "settled" } as const;

function delayBefore({ after }: Write, { delayed }: Sending): number | null {
  const delays = after.flatMap((earlier) => delayed.get(earlier) ?? []);
  return delays.length > 0 ? Math.max(...delays) : null;
}

function putOff({ delayed }: Sending, write: Write, afterSeconds: number): PushOutcome {
  delayed.set(write, afterSeconds);
  const { changeIds, recordId } = write;
  return { changeIds, recordId, kind: "retry", afterSeconds, counts: false, error: "waits for an earlier change" };
}

async function save(cycle: Cycle, sending: Sending, { operation, writes }: Batch): Promise<PushOutcome[]> {
  const { sfObject, upsertField } = cycle.shape;
  const records = writes.map(({ record }) => record);
  for (const id of idsOf(writes)) sending.unsent.delete(id);
  cycle.tally.saves += 1;
  try {
    const { answeredAt, results } = await cycle.hold.during(() =>
      cycle.salesforce.write(operation, sfObject, records, upsertField),
    );
    await bringBack(cycle, writes, results);
    return writes.map((write, index) => outcomeOf(cycle, sending, write, results[index], answeredAt));
  } catch (error) {
    const neverRan = error instanceof SalesforceRefusal && !error.refusal.mayHaveRun;
    // A refused request has judged no record: its changes go back. A lost one stays in doubt for the next cycle.
    if (neverRan) for (const id of idsOf(writes)) sending.unsent.add(id);
    throw error;
  }
}

function outcomeOf(
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
  if (wasBroughtBack(cycle, write, result)) return { ...common, kind: "retry", afterSeconds: 0, counts: true, error };
  const verdict = judge(write.operation, result.errors, write.attempts, cycle.random());
  if (verdict.kind === "accepted") return accepted;
  if (verdict.kind === "refused") return { ...common, kind: "refused", action, error };
  delayed.set(write, verdict.afterSeconds);
  return { ...common, kind: "retry", afterSeconds: verdict.afterSeconds, counts: true, error };
}

/** Under `postgres_wins`, records that Salesforce deleted beneath an update are undeleted; the update then goes again. */
async function bringBack(cycle: Cycle, writes: readonly Write[], results: readonly RecordResult[]): Promise<void> {
  const gone = writes.filter((write, index) => wasBroughtBack(cycle, write, results[index]));
  if (gone.length === 0) return;
  const records = gone.map(({ record }) => ({ id: record.id, values: {} }));
  await cycle.hold.during(() => cycle.salesforce.write("undelete", cycle.shape.sfObject, records, null));
}

function wasBroughtBack({ shape }: Cycle, write: Write, result: RecordResult | undefined): boolean {
  if (shape.conflictPolicy !== "postgres_wins" || write.operation !== "update" || write.attempts > 0) return false;
  return result?.errors.some(({ code }) => code === "ENTITY_IS_DELETED") ?? false;
}

function idsOf(writes: readonly Write[]): number[] {
  return writes.flatMap((write) => write.changeIds);
}
