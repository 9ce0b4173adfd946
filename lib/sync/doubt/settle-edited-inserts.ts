import type { ClaimedChange } from "../../model/change/change.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import type { PushProgress } from "../push/push-progress.ts";
import { type InDoubtWrite, refold } from "./in-doubt-writes.ts";
import { matchLostInserts } from "./match-lost-inserts.ts";
import { settleLookedUp } from "./resolve-in-doubt.ts";

/**
 * Rows whose insert ended in doubt, and that were changed again: the insert is looked up again instead of sent. Where
 * it cannot be determined, the newer changes end as it does, for they have no record to go to; while it is unresolved,
 * they wait for it. Answers the claimed changes of all other rows.
 */
export async function settleEditedInserts(
  cycle: Cycle,
  sending: PushProgress,
  claimed: readonly ClaimedChange[],
  unripe: readonly InDoubtWrite[],
): Promise<readonly ClaimedChange[]> {
  const inDoubt = new Set(claimed.flatMap(({ recordId, sent }) => (sent ? [recordId] : [])));
  const { again = [], others = [] } = Object.groupBy(claimed, ({ recordId }) =>
    inDoubt.has(recordId) ? "again" : "others",
  );
  if (again.length > 0) await settleLookedUp(cycle, sending, await matchEditedInserts(cycle, again, unripe));
  return others;
}

async function matchEditedInserts(
  cycle: Cycle,
  claimed: readonly ClaimedChange[],
  unripe: readonly InDoubtWrite[],
): Promise<PushOutcome[]> {
  const rows = Map.groupBy(claimed, ({ recordId }) => recordId);
  const outcomes: PushOutcome[] = [];
  const doubts: InDoubtWrite[] = [];
  for (const changes of rows.values()) {
    const sent = changes.flatMap((change) => (change.sent ? [{ ...change, sent: change.sent }] : []));
    const [first] = sent;
    if (!first) continue;
    const known = refold(cycle, { changes: sent, sentAt: first.sent.at, batchId: first.sent.batchId });
    if (!("write" in known)) outcomes.push(known);
    else if (known.write.operation === "create") doubts.push(known);
    else outcomes.push(sendTogether(changes));
  }
  outcomes.push(...(await matchLostInserts(cycle, doubts, unripe)));
  return outcomes.map((outcome) => {
    const changes = rows.get(outcome.recordId) ?? [];
    return outcome.kind === "refused" ? { ...outcome, changeIds: changes.map(({ id }) => id) } : outcome;
  });
}

/** It can be repeated by now, as an upsert: the next claim sends it with what came after it. */
function sendTogether(changes: readonly ClaimedChange[]): PushOutcome {
  const changeIds = changes.map(({ id }) => id);
  const recordId = changes[0]?.recordId ?? 0;
  return { recordId, changeIds, kind: "retry", afterSeconds: 0, counts: false, error: "it can be repeated by now" };
}
