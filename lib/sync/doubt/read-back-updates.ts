import type { Column, TableShape } from "../../model/mapping/shape.ts";
import { savedBy, type withIds } from "../../model/mapping/soql.ts";
import { columnText, sfidOf, valueIn } from "../../model/record/incoming.ts";
import { shortId } from "../../model/record/long-id.ts";
import type { OutgoingRecord } from "../../model/record/record.ts";
import { isSameValue } from "../../model/record/same-value.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import { recordsOf } from "../pull/read-page.ts";
import { type InDoubtWrite, retryOutcome } from "./in-doubt-writes.ts";

type Accepted = Extract<PushOutcome, { readonly kind: "accepted" }>;
type Found = Readonly<Record<string, unknown>>;

/** Updates in doubt by what the records hold now: carried out, or to be sent again. */
export async function readBackUpdates(cycle: Cycle, doubts: readonly InDoubtWrite[]): Promise<PushOutcome[]> {
  const known = await carriedOut(cycle, doubts);
  return doubts.map((doubt) => known.get(doubt) ?? retryOutcome(doubt));
}

/** Clocks of two machines differ, and Salesforce gives whole seconds. */
const APART_MILLISECONDS = 1_000;

/**
 * Updates in doubt of which the records say already that they were carried out: they hold what was sent, and our user saved
 * them last, since it was sent. Of the others nothing is known yet, for Salesforce may still commit them. So none is sent
 * again before its time, upsert field or not: the first one, committed late, would undo what was sent after the second.
 */
export async function findSavedUpdates(cycle: Cycle, doubts: readonly InDoubtWrite[]): Promise<PushOutcome[]> {
  const ofOurs = doubts.filter(({ byAnother }) => !byAnother);
  const batches = Map.groupBy(ofOurs, ({ sentAt }) => sentAt.getTime());
  const outcomes: PushOutcome[] = [];
  for (const [sentAt, batch] of batches) {
    const writers = await cycle.writers();
    const since = new Date(sentAt - APART_MILLISECONDS);
    const byUs: typeof withIds = (shape, ids) => savedBy(shape, ids, writers, since);
    // Of what others have changed since, it was not the last word.
    for (const saved of (await carriedOut(cycle, batch, byUs)).values())
      outcomes.push({ ...saved, answeredAt: new Date(sentAt) });
  }
  return outcomes;
}

/** Those whose records a query by id gives, living and holding what was sent. */
async function carriedOut(
  cycle: Cycle,
  doubts: readonly InDoubtWrite[],
  query?: typeof withIds,
): Promise<ReadonlyMap<InDoubtWrite, Accepted>> {
  const ids = doubts.flatMap(({ write }) => write.record.id ?? []);
  const found = new Map<string, { readonly record: Found; readonly readAt: Date }>();
  for await (const { records, readAt } of recordsOf(cycle, ids, query)) {
    for (const record of records) found.set(shortId(sfidOf(record)), { record, readAt });
  }
  const known = new Map<InDoubtWrite, Accepted>();
  for (const doubt of doubts) {
    const { recordId, changeIds, action, record } = doubt.write;
    const now = found.get(shortId(record.id ?? ""));
    if (!now || now.record["IsDeleted"] === true || !holds(cycle.shape, now.record, record)) continue;
    known.set(doubt, { recordId, changeIds, kind: "accepted", action, sfid: record.id, answeredAt: now.readAt });
  }
  return known;
}

/** Whether a record holds every value that was sent. */
export function holds(shape: TableShape, found: Found, sent: OutgoingRecord): boolean {
  return countHeld(shape, found, sent) === columnsOf(shape, sent).length;
}

/** How many of the values that were sent a record holds. */
export function countHeld(shape: TableShape, found: Found, sent: OutgoingRecord): number {
  const isHeld = (column: Column) =>
    isSame(column, columnText(column, valueIn(column, found)), sentIn(column, sent) ?? null);
  return columnsOf(shape, sent).filter(isHeld).length;
}

const columnsOf = ({ columns }: TableShape, sent: OutgoingRecord) =>
  columns.filter((column) => sentIn(column, sent) !== undefined);

/** Clearing a lookup clears what names the parent. */
function sentIn({ field, parent }: Column, { values, parents = [] }: OutgoingRecord): string | null | undefined {
  if (!parent) return values[field];
  const named = parents.find((one) => one.relationship === parent.relationship && one.field === parent.field);
  return named?.value ?? (values[parent.reference] === null ? null : undefined);
}

/** Salesforce finds a parent by its external id in any case, and shows the parent's own. */
function isSame(column: Column, found: string | null, sent: string | null): boolean {
  if (!column.parent) return isSameValue(column, found, sent);
  return isSameValue(column, found?.toLowerCase() ?? null, sent?.toLowerCase() ?? null);
}
