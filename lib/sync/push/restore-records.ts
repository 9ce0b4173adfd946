import { errorText } from "../../model/change/row-error.ts";
import { BATCH_SIZE } from "../../model/change/ways.ts";
import { chunks } from "../../model/chunks.ts";
import { insideWithIds, whichAreDeleted } from "../../model/mapping/soql.ts";
import { sfidOf } from "../../model/record/incoming.ts";
import { GONE } from "../../model/record/restore-row.ts";
import type { Cycle } from "../cycle/cycle.ts";

/**
 * Undeletes records that an operator has asked for, and puts their rows back where the log has them; the pull gives the
 * others. What Salesforce refuses is kept as the reason why the record is no row. Answers what is back.
 */
export async function restoreRecords(cycle: Cycle, sfids: readonly string[]): Promise<ReadonlySet<string>> {
  const { hold, salesforce, shape, store, lease } = cycle;
  const all = new Set<string>();
  for (const some of chunks(sfids, BATCH_SIZE)) {
    await hold.mayRead();
    const records = some.map((id) => ({ id, values: {} }));
    const { results } = await hold.during(() => salesforce.write("undelete", shape.sfObject, records, null));
    const refused = new Map(
      some.flatMap((sfid, at) => (results[at]?.success ? [] : [[sfid, errorText(results[at]?.errors ?? [])]])),
    );
    if (refused.size > 0) await findLiving(cycle, refused);
    const back = some.filter((sfid) => !refused.has(sfid));
    for (const sfid of back) all.add(sfid);
    await store.endRestores(lease, {
      back,
      refused: [...refused].map(([sfid, why]) => ({ sfid, why })),
    });
  }
  return all;
}

/**
 * Gives the reasons of those in `refused` that are not back, and takes the others out: a lost answer, or a person in
 * Salesforce, has brought them back before. The row of one outside of the filter would leave the table.
 */
async function findLiving({ salesforce, shape }: Cycle, refused: Map<string, string>): Promise<void> {
  const { records } = await salesforce.query(whichAreDeleted(shape.sfObject, [...refused.keys()]));
  const isDeleted = new Map(records.map((record) => [sfidOf(record), record["IsDeleted"] === true]));
  for (const [sfid, why] of refused) if (!isDeleted.has(sfid) || /recycle bin/i.test(why)) refused.set(sfid, GONE);
  const living = [...isDeleted].flatMap(([sfid, is]) => (is ? [] : [sfid]));
  for (const sfid of living) refused.set(sfid, "it is not deleted in Salesforce: it has left the mapping's filter");
  const inside = living.length === 0 ? [] : (await salesforce.query(insideWithIds(shape, living))).records;
  for (const record of inside) refused.delete(sfidOf(record));
}
