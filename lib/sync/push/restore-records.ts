import { errorText, judge } from "../../model/change/row-error.ts";
import { BATCH_SIZE } from "../../model/change/ways.ts";
import { chunks } from "../../model/chunks.ts";
import { insideWithIds, whichAreDeleted } from "../../model/mapping/soql.ts";
import { sfidOf } from "../../model/record/incoming.ts";
import type { RecordError } from "../../model/record/record.ts";
import { GONE } from "../../model/record/restore-row.ts";
import type { Cycle } from "../cycle/cycle.ts";

/**
 * Undeletes records that an operator has asked for, and puts their rows back where the log has them; the pull gives the
 * others. What Salesforce refuses is kept as the reason why the record is no row; what it refuses in passing, such as a
 * locked record, stays asked for until the next cycle. Answers what is back.
 */
export async function restoreRecords(cycle: Cycle, sfids: readonly string[]): Promise<ReadonlySet<string>> {
  const { hold, salesforce, shape, store, lease } = cycle;
  const all = new Set<string>();
  for (const some of chunks(sfids, BATCH_SIZE)) {
    await hold.mayRead();
    const records = some.map((id) => ({ id, values: {} }));
    const { results } = await hold.during(() => salesforce.write("undelete", shape.sfObject, records, null));
    const errorsOf = new Map(
      some.flatMap((sfid, at) => (results[at]?.success ? [] : ([[sfid, results[at]?.errors ?? []]] as const))),
    );
    const missing = errorsOf.size > 0 ? await findMissing(cycle, errorsOf) : new Map<string, string | null>();
    const back = some.filter((sfid) => !missing.has(sfid));
    for (const sfid of back) all.add(sfid);
    await store.endRestores(lease, {
      back,
      refused: [...missing].flatMap(([sfid, why]) => (why === null ? [] : { sfid, why })),
    });
  }
  return all;
}

/**
 * Why the refused records are not back; null: only in passing. A lost answer, or a person in Salesforce, has brought the
 * others back before. The row of a living record outside of the filter would leave the table.
 */
async function findMissing(
  { salesforce, shape }: Cycle,
  errorsOf: ReadonlyMap<string, readonly RecordError[]>,
): Promise<ReadonlyMap<string, string | null>> {
  const { records } = await salesforce.query(whichAreDeleted(shape.sfObject, [...errorsOf.keys()]));
  const isDeleted = new Map(records.map((record) => [sfidOf(record), record["IsDeleted"] === true]));
  const living = [...isDeleted].flatMap(([sfid, is]) => (is ? [] : [sfid]));
  const inside = living.length === 0 ? [] : (await salesforce.query(insideWithIds(shape, living))).records;
  const missing = new Map([...errorsOf].map(([sfid, errors]) => [sfid, whyOf(errors, isDeleted.get(sfid))]));
  for (const record of inside) missing.delete(sfidOf(record));
  return missing;
}

function whyOf(errors: readonly RecordError[], isDeleted: boolean | undefined): string | null {
  if (isDeleted === false) return "it is not deleted in Salesforce: it has left the mapping's filter";
  const why = errorText(errors);
  if (isDeleted === undefined || /recycle bin/i.test(why)) return GONE;
  return judge("undelete", errors, 0, 0).kind === "refused" ? why : null;
}
