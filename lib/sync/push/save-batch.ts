import { randomUUID } from "node:crypto";
import type { Batch, Write } from "../../model/change/fold.ts";
import { SalesforceRefusal } from "../../model/change/refusal.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { outcomesOf } from "./outcome-of.ts";
import type { PushOutcome } from "./push-ports.ts";
import type { PushProgress } from "./push-progress.ts";

/** The records of one call. */
export type Saved = Pick<Batch, "operation" | "writes">;

/** From here on a batch is in doubt until it is settled; the lease is renewed with it, and looked at afterwards. */
export async function mark({ hold, store, lease }: Cycle, { writes }: Saved, batchId: string = randomUUID()) {
  await hold.maySave((leaseSeconds) => store.markSent(lease, batchId, idsOf(writes), leaseSeconds));
}

/** One call for a batch that is marked. */
export async function save(cycle: Cycle, sending: PushProgress, { operation, writes }: Saved): Promise<PushOutcome[]> {
  const { sfObject, upsertField } = cycle.shape;
  const records = writes.map(({ record }) => record);
  for (const id of idsOf(writes)) sending.unsent.delete(id);
  cycle.tally.saves += 1;
  const { answeredAt, results } = await answered(sending, writes, () =>
    cycle.hold.during(() => cycle.salesforce.write(operation, sfObject, records, upsertField)),
  );
  return await outcomesOf(cycle, sending, writes, results, answeredAt);
}

/** A refused request has judged no record: its changes go back. A lost one stays in doubt for the next cycle. */
async function answered<Answer>(
  sending: PushProgress,
  writes: readonly Write[],
  write: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await write();
  } catch (error) {
    const neverRan = error instanceof SalesforceRefusal && !error.refusal.mayHaveRun;
    if (neverRan) for (const id of idsOf(writes)) sending.unsent.add(id);
    throw error;
  }
}

export function idsOf(writes: readonly Write[]): number[] {
  return writes.flatMap((write) => write.changeIds);
}
