import type { Write } from "../../model/change/fold.ts";
import { fieldsIn, parseFilter } from "../../model/mapping/filter.ts";
import { pulls } from "../../model/mapping/mapping.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { withoutOutside } from "../pull/read-page.ts";
import type { PushProgress } from "./push-progress.ts";

/** Which saves may have moved a record out of the mapping's filter: new records, and changes of fields that it names. */
export function leavingFilter({ mapping, shape }: Cycle): (write: Write) => boolean {
  if (shape.filter === null || !pulls(mapping.syncDirection)) return () => false;
  const named = fieldsIn(parseFilter(shape.filter)).map((field) => field.toLowerCase());
  return ({ action, record }) => {
    if (action !== "UPDATE") return action === "INSERT";
    const sent = [...Object.keys(record.values), ...(record.parents ?? []).map(({ reference }) => reference)];
    return sent.some((field) => named.includes(field.toLowerCase()));
  };
}

/**
 * Takes the rows of such records out of the table with the answer to the push. A pull would find most of them, but not those
 * whose change was still waiting for its answer when it passed their stamp: of a job of the Bulk API, or in doubt.
 */
export async function removeOutside(cycle: Cycle, { mayHaveLeft }: PushProgress): Promise<void> {
  const ids = [...mayHaveLeft];
  mayHaveLeft.clear();
  await withoutOutside(cycle, ids);
}
