import { SalesforceRefusal } from "../../model/change/refusal.ts";
import { viewsAllRecords } from "../../model/mapping/soql.ts";
import { type Cycle, tallyApplied } from "../cycle/cycle.ts";

/** Rows whose records the org told nothing of, at its time; null: it was not asked. */
export interface Vanished {
  readonly sfids: readonly string[];
  readonly readAt: Date | null;
}

/**
 * Rows whose records the org tells nothing of, not even that they are deleted: gone for good, or hidden from our user. Only
 * one who may view all records of the object tells the two apart; otherwise somebody has to confirm the deletes.
 */
export function removingVanished(cycle: Cycle) {
  let isSure: boolean | null = null;
  return {
    take: async ({ sfids, readAt }: Vanished) => {
      if (sfids.length === 0 || readAt === null) return;
      isSure ??= await viewsAll(cycle);
      const images = sfids.map((sfid) => ({ sfid, systemModstamp: readAt, isDeleted: true, values: {} }));
      const page = { images, readAt, lane: isSure ? "deleted" : "vanished", marks: {} } as const;
      tallyApplied(cycle.tally, images.length, await cycle.store.apply(cycle.lease, page));
    },
  };
}

/** By permission sets, of which each profile has one of its own. A user who may not read them is taken for one who does not. */
async function viewsAll({ salesforce, hold, shape, writers }: Cycle): Promise<boolean> {
  const [user] = await writers();
  if (user === undefined) return false;
  await hold.mayRead();
  const answers = await hold.during(() => salesforce.queryTogether(viewsAllRecords(shape.sfObject, user)));
  for (const answer of answers) {
    if (!("kind" in answer)) continue;
    if (answer.kind !== "mapping" && answer.kind !== "bug") throw new SalesforceRefusal(answer);
  }
  return answers.some((answer) => "records" in answer && answer.records.length > 0);
}
