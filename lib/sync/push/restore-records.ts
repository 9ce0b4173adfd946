import { errorText, judge } from "../../model/change/row-error.ts";
import { BATCH_SIZE } from "../../model/change/ways.ts";
import { chunks } from "../../model/chunks.ts";
import { whichAreDeleted } from "../../model/mapping/soql.ts";
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
    // An answer that was lost, or a person in Salesforce, has brought these back before.
    const asked = [...errorsOf.keys()];
    const found = asked.length > 0 ? await salesforce.query(whichAreDeleted(shape.sfObject, asked)) : null;
    for (const { Id, IsDeleted } of found?.records ?? []) if (IsDeleted === false) errorsOf.delete(String(Id));
    const back = some.filter((sfid) => !errorsOf.has(sfid));
    const refused = [...errorsOf].filter(([, errors]) => judge("undelete", errors, 0, 0).kind === "refused");
    for (const sfid of back) all.add(sfid);
    await store.endRestores(lease, {
      back,
      refused: refused.map(([sfid, errors]) => ({ sfid, why: errorText(errors) })),
    });
  }
  return all;
}
