import type { Action, LastOperation, State } from "../../../model/change/change.ts";
import { NO_RECORD } from "../../../model/change/no-record.ts";
import type { PushOutcome } from "../../../sync/ports/push-ports.ts";
import { idArray, numberArray } from "../session/sql.ts";

/** The results of changes; names are those of the statement that settles. Thousands of changes share a few of them. */
interface Ending {
  readonly state: State;
  readonly last_operation: LastOperation | null;
  readonly message: string | null;
  readonly answered_at: Date | null;
  readonly due_at: Date | null;
  readonly attempt: number;
  readonly accepted: boolean;
  readonly held: boolean;
}

const NOTHING = {
  ...{ last_operation: null, message: null, answered_at: null, due_at: null },
  ...{ attempt: 0, accepted: false, held: false },
};

/** What a change that Salesforce accepted has done. */
const DONE: Readonly<Record<Action, LastOperation>> = {
  INSERT: "INSERTED",
  UPDATE: "UPDATED",
  DELETE: "DELETED",
};

/** Outcomes as values of a statement: the endings that there are, and of each change the number of its ending. */
export interface SettledChanges {
  readonly count: number;
  readonly parameters: Readonly<Record<"endings" | "ids" | "kinds" | "sfids" | "speaks" | "versions", unknown>>;
}

/** The last change of a write speaks for the others on the row. */
export function settledChanges(
  outcomes: readonly PushOutcome[],
  versionOf: (outcome: PushOutcome) => string | null,
  now: Date,
): SettledChanges {
  const endings = new Map<string, Ending & { readonly kind: number }>();
  const [ids, kinds]: [number[], number[]] = [[], []];
  const [sfids, speaks, versions]: [(string | null)[], boolean[], string[]] = [[], [], []];
  const rowOfSfid = new Map<string, number>();
  for (const outcome of outcomes) {
    const kind = kindOf(endings, outcome, now);
    const last = Math.max(...outcome.changeIds);
    const sfid = outcome.kind === "accepted" ? outcome.sfid : null;
    if (sfid !== null && !rowOfSfid.has(sfid)) rowOfSfid.set(sfid, outcome.recordId);
    // One record for two rows: the second one's result is found out at its write-back.
    const isClear = sfid === null || rowOfSfid.get(sfid) === outcome.recordId;
    for (const id of outcome.changeIds) {
      ids.push(id);
      kinds.push(kind);
      sfids.push(sfid);
      speaks.push(id === last);
      versions.push((isClear && id === last && versionOf(outcome)) || "NULL");
    }
  }
  const parameters = {
    endings: JSON.stringify([...endings.values()]),
    ids: numberArray(ids),
    kinds: numberArray(kinds),
    sfids: idArray(sfids),
    speaks: `{${speaks.join(",")}}`,
    versions: `{${versions.join(",")}}`,
  };
  return { count: ids.length, parameters };
}

/** The number of an outcome's ending among those that there are. */
function kindOf(endings: Map<string, Ending & { readonly kind: number }>, outcome: PushOutcome, now: Date): number {
  const ending = endingOf(outcome, now);
  const name = JSON.stringify(ending);
  const known = endings.get(name) ?? { ...ending, kind: endings.size };
  endings.set(name, known);
  return known.kind;
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
