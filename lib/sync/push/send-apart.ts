import type { Write } from "../../model/change/fold.ts";
import { type RequestRefusal, SalesforceRefusal } from "../../model/change/refusal.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import { type PushProgress, settle } from "./push-progress.ts";
import { type Saved, save } from "./save-batch.ts";

/** Calls that one refused batch may cost beyond its own; a record among 200 is found by sixteen. */
const MAX_CALLS = 32;

/** So many refused alone, and not one let through: then it is not the records. */
const SUSPECTS = 3;

/** The results of the halves so far. */
interface Search {
  calls: number;
  /** Salesforce has judged some record, so it is not the whole request that it refuses. */
  hasPassed: boolean;
  readonly alone: { readonly write: Write; readonly refusal: SalesforceRefusal }[];
}

/**
 * Sends a batch that was refused as a whole by halves, and the refused half by halves again: a record that is refused
 * alone ends FAILED with what Salesforce said, the rest is sent. When nothing at all is accepted, no record is to
 * blame: then everything stays as it was, and the refusal is the cycle's.
 */
export async function sendApart(
  cycle: Cycle,
  sending: PushProgress,
  batch: Saved,
  refusal: SalesforceRefusal,
): Promise<void> {
  const search: Search = { calls: 0, hasPassed: false, alone: [] };
  const stoppedBy = await divide(cycle, sending, batch, refusal, search).then(
    () => null,
    (error: unknown) => error,
  );
  const guilty = search.hasPassed || isBlameable(search, batch) ? search.alone : [];
  await settle(
    cycle,
    sending,
    guilty.map(({ write, refusal: said }) => refused(write, said.refusal)),
  );
  if (stoppedBy !== null) throw stoppedBy;
  if (guilty.length < search.alone.length) throw refusal;
}

async function divide(
  cycle: Cycle,
  sending: PushProgress,
  { operation, writes }: Saved,
  refusal: SalesforceRefusal,
  search: Search,
): Promise<void> {
  const [only, ...others] = writes;
  if (only && others.length === 0) {
    search.alone.push({ write: only, refusal });
    return;
  }
  const middle = Math.ceil(writes.length / 2);
  for (const half of [writes.slice(0, middle), writes.slice(middle)]) {
    if (search.calls >= MAX_CALLS || (!search.hasPassed && search.alone.length >= SUSPECTS)) throw refusal;
    search.calls += 1;
    const saved = { operation, writes: half };
    const outcomes = await save(cycle, sending, saved);
    if (outcomes instanceof SalesforceRefusal) await divide(cycle, sending, saved, outcomes, search);
    else {
      search.hasPassed = true;
      await settle(cycle, sending, outcomes);
    }
  }
}

/** A few records with nothing beside them: a field that is missing concerns them all, anything else is their own. */
function isBlameable({ alone }: Search, { writes }: Saved): boolean {
  return writes.length <= SUSPECTS && alone.every(({ refusal: { refusal } }) => refusal.kind === "bug");
}

function refused({ changeIds, recordId, action }: Write, { code, message }: RequestRefusal): PushOutcome {
  return { changeIds, recordId, kind: "refused", action, error: `${code}: ${message}` };
}
