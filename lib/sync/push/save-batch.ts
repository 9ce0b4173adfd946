import { randomUUID } from "node:crypto";
import type { Batch, Write } from "../../model/change/fold.ts";
import { mayBeOneRecords, SalesforceRefusal } from "../../model/change/refusal.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import { outcomesOf } from "./outcome-of.ts";
import type { PushProgress } from "./push-progress.ts";

/** The records of one call. */
export type Saved = Pick<Batch, "operation" | "writes">;

/** From here on a batch is in doubt until it is settled; the lease is renewed with it, and looked at afterwards. */
export async function mark({ hold, store, lease }: Cycle, { writes }: Saved, batchId: string = randomUUID()) {
  await hold.maySave((leaseSeconds) => store.markSent(lease, batchId, idsOf(writes), leaseSeconds));
}

/** One call, marked before. Its records' outcomes; or the refusal of the whole call, where that may be for one record. */
export async function save(
  cycle: Cycle,
  sending: PushProgress,
  batch: Saved,
): Promise<PushOutcome[] | SalesforceRefusal> {
  const { operation, writes } = batch;
  const { sfObject, upsertField } = cycle.shape;
  const records = writes.map(({ record }) => record);
  await mark(cycle, batch);
  for (const id of idsOf(writes)) sending.unsent.delete(id);
  cycle.tally.saves += 1;
  const saved = await cycle.hold
    .during(() => cycle.salesforce.write(operation, sfObject, records, upsertField))
    .catch((error: unknown) => {
      // A lost request stays in doubt for the next cycle. A refused one has judged no record: its changes go back.
      if (!(error instanceof SalesforceRefusal) || error.refusal.mayHaveRun) throw error;
      for (const id of idsOf(writes)) sending.unsent.add(id);
      if (!mayBeOneRecords(error.refusal)) throw error;
      return error;
    });
  if (saved instanceof SalesforceRefusal) return saved;
  return await outcomesOf(cycle, sending, writes, saved.results, saved.answeredAt);
}

export function idsOf(writes: readonly Write[]): number[] {
  return writes.flatMap((write) => write.changeIds);
}
