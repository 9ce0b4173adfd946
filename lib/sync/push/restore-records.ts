import { mayBeOneRecords, SalesforceRefusal } from "../../model/change/refusal.ts";
import { errorText, isTooMany, judge, type Verdict } from "../../model/change/row-error.ts";
import { BATCH_SIZE } from "../../model/change/ways.ts";
import { chunks } from "../../model/chunks.ts";
import { whichAreDeleted } from "../../model/mapping/soql.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { EndedRestores } from "../ports/push-ports.ts";

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
    const left = await undelete(cycle, some);
    // An answer that was lost, or a person in Salesforce, has brought these back before.
    const found = left.size > 0 ? await salesforce.query(whichAreDeleted(shape.sfObject, [...left.keys()])) : null;
    for (const { Id, IsDeleted } of found?.records ?? []) if (IsDeleted === false) left.delete(String(Id));
    const back = some.filter((sfid) => !left.has(sfid));
    for (const sfid of back) all.add(sfid);
    await store.endRestores(lease, { back, left: [...left].map(([sfid, reason]) => ({ sfid, ...reason })) });
  }
  return all;
}

/** Ends restores that a mapping was asked for before it was given a direction in which nothing is saved. */
export async function refuseRestores({ store, lease }: Cycle, sfids: readonly string[]): Promise<void> {
  const left = sfids.map((sfid) => ({ sfid, why: "the mapping only reads now", mayPass: false }));
  await store.endRestores(lease, { back: [], left });
}

type Left = Map<string, Pick<EndedRestores["left"][number], "why" | "mayPass">>;

/** Why records were not undeleted; by halves where triggers cannot bear so many at once. */
async function undelete(cycle: Cycle, sfids: readonly string[]): Promise<Left> {
  const answer = await answerOf(cycle, sfids);
  if ("refusal" in answer) return new Map(sfids.map((sfid) => [sfid, answer.refusal]));
  const left: Left = new Map();
  const heavy: string[] = [];
  for (const [at, sfid] of sfids.entries()) {
    const { success = false, errors = [] } = answer.results[at] ?? {};
    if (success) continue;
    if (isTooMany(errors) && sfids.length > 1) heavy.push(sfid);
    else left.set(sfid, { why: errorText(errors), mayPass: PASSING.has(judge("undelete", errors, 0, 0).kind) });
  }
  if (heavy.length === 0) return left;
  const halves = chunks(heavy, Math.ceil(heavy.length / 2));
  for (const half of halves) for (const [sfid, reason] of await undelete(cycle, half)) left.set(sfid, reason);
  return left;
}

const PASSING: ReadonlySet<Verdict["kind"]> = new Set(["retry", "org"]);

/** What has no answer, or a refusal that says nothing of the org, must not stop the mapping's pulls and pushes. */
async function answerOf({ hold, salesforce, shape }: Cycle, sfids: readonly string[]) {
  const records = sfids.map((id) => ({ id, values: {} }));
  try {
    return await hold.during(() => salesforce.write("undelete", shape.sfObject, records, null));
  } catch (error) {
    if (!(error instanceof SalesforceRefusal)) throw error;
    const mayPass = error.refusal.kind === "transient" || error.refusal.kind === "busy";
    if (!mayPass && !mayBeOneRecords(error.refusal)) throw error;
    return { refusal: { why: error.message, mayPass } };
  }
}
