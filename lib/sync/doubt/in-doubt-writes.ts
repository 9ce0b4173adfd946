import { BATCH_OF_ANOTHER } from "../../model/change/change.ts";
import { fold, type Write } from "../../model/change/fold.ts";
import { decidedAs, isOfRewind } from "../../model/change/rewound.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { Doubt } from "../ports/doubt-ports.ts";
import type { PushOutcome } from "../ports/push-ports.ts";

/** A write in doubt, folded again from its changes. */
export interface InDoubtWrite {
  readonly write: Write;
  readonly sentAt: Date;
  /** It was not sent before: `sentAt` where we know when. */
  readonly since: Date;
  /** Another product sent it, as any user. */
  readonly byAnother: boolean;
  readonly batchId: string;
}

/** The same changes fold into the same write, unless a pull has found the record in the meantime. */
export function refold(cycle: Cycle, { changes, sentAt, batchId }: Doubt): InDoubtWrite | PushOutcome {
  const { batches, refused, recordless } = fold(cycle.shape, changes);
  const write = batches[0]?.writes[0];
  const [first] = changes;
  if (!first) throw new Error(`a write of mapping ${cycle.mapping.id} is in doubt, but no change belongs to it`);

  const ended = { recordId: first.recordId, changeIds: changes.map(({ id }) => id) };
  if (refused[0]) return { ...refused[0], kind: "refused" };
  if (!write) return { ...ended, kind: recordless.length > 0 ? "held" : "settled" };
  const byAnother = batchId === BATCH_OF_ANOTHER;
  const since = byAnother || isOfRewind(batchId) ? first.capturedAt : sentAt;
  if (!hasArrived(write) || hasUpsertValue(cycle, write)) return { write, sentAt, since, byAnother, batchId };
  return { ...ended, kind: "accepted", action: "INSERT", sfid: write.record.id, answeredAt: sentAt };
}

/**
 * Sending it twice comes to the same: a delete, an upsert, and what was an upsert until a pull found its record. What may
 * have been sent long ago is not repeated, unless a person says so.
 */
export function isRepeatable({ write, batchId }: InDoubtWrite): boolean {
  if (isOfRewind(batchId)) return batchId === decidedAs("ours") && write.operation !== "create";
  return write.operation === "upsert" || write.operation === "delete" || hasArrived(write);
}

/** It was an insert when it was sent; the row has its record by now. */
const hasArrived = (write: Write) => write.action === "INSERT" && write.operation === "update";

function hasUpsertValue({ shape }: Cycle, { record }: Write): boolean {
  return shape.upsertField !== null && (record.values[shape.upsertField] ?? null) !== null;
}

/** Sent again, as if for the first time. */
export function retryOutcome({ write: { recordId, changeIds } }: InDoubtWrite): PushOutcome {
  return { recordId, changeIds, kind: "retry", afterSeconds: 0, counts: false, error: "its first answer was lost" };
}
