import { mayBeOneRecords, SalesforceRefusal } from "../../model/change/refusal.ts";
import { errorText, isTooMany, judge } from "../../model/change/row-error.ts";
import { BATCH_SIZE } from "../../model/change/ways.ts";
import { chunks } from "../../model/chunks.ts";
import { whichAreDeleted } from "../../model/mapping/soql.ts";
import type { RecordError } from "../../model/record/record.ts";
import type { Cycle } from "../cycle/cycle.ts";

/**
 * Undeletes records that an operator has asked for, and puts their rows back where the log has them; the pull gives the
 * others. What Salesforce refuses is kept as the reason why the record is no row; what it refuses in passing, such as a
 * locked record, is asked for again some minutes later, five times. Answers what is back.
 */
export async function restoreRecords(cycle: Cycle, sfids: readonly string[]): Promise<ReadonlySet<string>> {
  const { hold, salesforce, shape, store, lease } = cycle;
  const all = new Set<string>();
  for (const some of chunks(sfids, BATCH_SIZE)) {
    await hold.mayRead();
    const errorsOf = await undelete(cycle, some);
    // An answer that was lost, or a person in Salesforce, has brought these back before.
    const asked = [...errorsOf.keys()];
    const found = asked.length > 0 ? await salesforce.query(whichAreDeleted(shape.sfObject, asked)) : null;
    for (const { Id, IsDeleted } of found?.records ?? []) if (IsDeleted === false) errorsOf.delete(String(Id));
    const back = some.filter((sfid) => !errorsOf.has(sfid));
    for (const sfid of back) all.add(sfid);
    const left = [...errorsOf].map(([sfid, errors]) => {
      return { sfid, why: errorText(errors), mayPass: judge("undelete", errors, 0, 0).kind !== "refused" };
    });
    await store.endRestores(lease, { back, left });
  }
  return all;
}

/** The errors of the records that were not undeleted; by halves where triggers cannot bear so many at once. */
async function undelete(cycle: Cycle, sfids: readonly string[]): Promise<Map<string, readonly RecordError[]>> {
  const results = await resultsOf(cycle, sfids);
  const errorsOf = new Map(
    sfids.flatMap((sfid, at) => (results[at]?.success ? [] : [[sfid, results[at]?.errors ?? []] as const])),
  );
  const heavy = [...errorsOf].filter(([, errors]) => isTooMany(errors)).map(([sfid]) => sfid);
  if (heavy.length === 0 || sfids.length === 1) return errorsOf;
  for (const half of chunks(heavy, Math.ceil(heavy.length / 2))) {
    for (const sfid of half) errorsOf.delete(sfid);
    for (const [sfid, errors] of await undelete(cycle, half)) errorsOf.set(sfid, errors);
  }
  return errorsOf;
}

async function resultsOf({ hold, salesforce, shape }: Cycle, sfids: readonly string[]) {
  const records = sfids.map((id) => ({ id, values: {} }));
  try {
    return (await hold.during(() => salesforce.write("undelete", shape.sfObject, records, null))).results;
  } catch (error) {
    // A refusal of the call that says nothing of the org must not stop the mapping's pulls and pushes.
    if (!(error instanceof SalesforceRefusal) || !mayBeOneRecords(error.refusal)) throw error;
    const { code, message } = error.refusal;
    return sfids.map(() => ({ id: null, success: false, created: false, errors: [{ code, message, fields: [] }] }));
  }
}
