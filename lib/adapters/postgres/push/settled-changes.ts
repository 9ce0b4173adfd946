import type { Action, LastOperation, State } from "../../../model/change/change.ts";
import { NO_RECORD } from "../../../model/change/no-record.ts";
import type { PushOutcome } from "../../../sync/ports/push-ports.ts";

/** The result of a change; names are those of the statement that settles. What is left out is NULL there. */
interface Ending {
  readonly state: State;
  readonly last_operation?: LastOperation;
  readonly message?: string | null;
  readonly answered_at?: Date;
  readonly due_at?: Date;
  readonly attempt: number;
  readonly accepted: boolean;
  readonly held: boolean;
}

const NOTHING = { attempt: 0, accepted: false, held: false };

/** What a change that Salesforce accepted has done. */
const DONE: Readonly<Record<Action, LastOperation>> = {
  INSERT: "INSERTED",
  UPDATE: "UPDATED",
  DELETE: "DELETED",
};

interface SettledChange extends Ending {
  readonly id: number;
  readonly sfid: string | null;
  /** The last change of a write speaks for the others on the row. */
  readonly speaks: boolean;
  readonly version: string | null;
}

/** Outcomes, change by change. */
export function settledChanges(
  outcomes: readonly PushOutcome[],
  versionOf: (outcome: PushOutcome) => string | null,
  now: Date,
): SettledChange[] {
  const rowOfSfid = new Map<string, number>();
  return outcomes.flatMap((outcome) => {
    const ending = endingOf(outcome, now);
    const last = Math.max(...outcome.changeIds);
    const sfid = outcome.kind === "accepted" ? outcome.sfid : null;
    if (sfid !== null && !rowOfSfid.has(sfid)) rowOfSfid.set(sfid, outcome.recordId);
    // One record for two rows: the second one's result is found out at its write-back.
    const isClear = sfid === null || rowOfSfid.get(sfid) === outcome.recordId;
    return outcome.changeIds.map((id) => {
      const speaks = id === last;
      return { ...ending, id, sfid, speaks, version: isClear && speaks ? versionOf(outcome) : null };
    });
  });
}

function endingOf(outcome: PushOutcome, now: Date): Ending {
  switch (outcome.kind) {
    case "accepted": {
      const { action, answeredAt } = outcome;
      return { ...NOTHING, state: "SUCCESS", last_operation: DONE[action], answered_at: answeredAt, accepted: true };
    }
    case "settled":
    case "givenUp":
      return { ...NOTHING, state: "SUCCESS", last_operation: "SYNCED", message: outcome.message ?? null };
    case "held":
      return { ...NOTHING, state: "NEW", message: NO_RECORD, held: true };
    case "refused":
      return { ...NOTHING, state: "FAILED", last_operation: "FAILED", message: outcome.error };
    case "retry":
      return {
        ...NOTHING,
        state: "NEW",
        message: outcome.error,
        due_at: new Date(now.getTime() + outcome.afterSeconds * 1000),
        attempt: outcome.counts ? 1 : 0,
      };
  }
}
