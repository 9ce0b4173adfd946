import type { Column, TableShape } from "../../model/mapping/shape.ts";
import { columnText, sfidOf, valueIn } from "../../model/record/incoming.ts";
import type { OutgoingRecord } from "../../model/record/record.ts";
import { isSameValue } from "../../model/record/same-value.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { recordsOf } from "../pull/read-page.ts";
import type { PushOutcome } from "../push/push-ports.ts";
import type { InDoubtWrite } from "./in-doubt-writes.ts";

type Found = Readonly<Record<string, unknown>>;

/** Updates in doubt by what the records hold now: carried out, or to be sent again. */
export async function readBackUpdates(cycle: Cycle, doubts: readonly InDoubtWrite[]): Promise<PushOutcome[]> {
  const ids = doubts.flatMap(({ write }) => write.record.id ?? []);
  const found = new Map<string, { readonly record: Found; readonly readAt: Date }>();
  for await (const { records, readAt } of recordsOf(cycle, ids)) {
    for (const record of records) found.set(keyOf(sfidOf(record)), { record, readAt });
  }
  return doubts.map(({ write }) => {
    const { recordId, changeIds, action, record } = write;
    const now = found.get(keyOf(record.id ?? ""));
    if (now && now.record["IsDeleted"] !== true && holds(cycle.shape, now.record, record)) {
      return { recordId, changeIds, kind: "accepted", action, sfid: record.id, answeredAt: now.readAt };
    }
    return { recordId, changeIds, kind: "retry", afterSeconds: 0, counts: false, error: "its first answer was lost" };
  });
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

const keyOf = (sfid: string) => sfid.slice(0, 15);
