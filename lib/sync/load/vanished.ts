import { SalesforceRefusal } from "../../model/change/refusal.ts";
import { viewsAllRecords } from "../../model/mapping/soql.ts";
import { deletedImage } from "../../model/record/record.ts";
import { type Cycle, tallyApplied } from "../cycle/cycle.ts";

/**
 * Deletes rows whose records the org does not return, not even as deleted: gone for good, or hidden from our user. Only
 * a user who may view all records (`isSure`) can distinguish the two; otherwise an operator has to confirm the deletes.
 */
export async function deleteVanished(
  cycle: Cycle,
  sfids: readonly string[],
  readAt: Date,
  isSure: boolean,
): Promise<void> {
  const images = sfids.map((sfid) => deletedImage({ sfid, systemModstamp: readAt }));
  const page = { images, readAt, lane: isSure ? "deleted" : "vanished", marks: {} } as const;
  tallyApplied(cycle.tally, images.length, await cycle.store.apply(cycle.lease, page));
}

/**
 * Whether our user may view all records of the object: by permission sets, of which each profile has one of its own. A
 * user who may not read the permission sets counts as one who may not view all.
 */
export async function viewsAll({ salesforce, hold, shape, writers }: Cycle): Promise<boolean> {
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
