import type { ClaimedChange } from "./change.ts";
import type { TableShape } from "./shape.ts";

/** By what a change gets in the way of others, in log order: its row, its record, the upsert values that it has and had. */
export function keysOf(shape: TableShape, change: ClaimedChange): string[] {
  const keys = [`row ${change.recordId}`];
  // Ids of 15 and of 18 characters name the same record.
  if (change.sfid) keys.push(`sfid ${change.sfid.slice(0, 15)}`);
  const upsert = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  for (const values of upsert === undefined ? [] : [change.old, change.values]) {
    const value = upsert === undefined ? null : values[upsert];
    // Salesforce compares external ids without case unless the field says otherwise.
    if (value) keys.push(`key ${value.trim().toLowerCase()}`);
  }
  return keys;
}

/** A row may name another row of its own table as its parent, by the upsert value: that one goes first. */
export function parentsInTable(shape: TableShape, change: ClaimedChange): string[] {
  return shape.columns.flatMap(({ column, parent }) => {
    const value = change.values[column];
    const isOwn = parent?.object === shape.sfObject && parent.field === shape.upsertField;
    return isOwn && value ? [`key ${value.trim().toLowerCase()}`] : [];
  });
}

/** Changes that can go beside what is under way, and those that must wait for it, or for one that waits. */
export interface Apart {
  readonly free: readonly ClaimedChange[];
  readonly behind: readonly ClaimedChange[];
}

/** Tells apart, in log order, what shares a key with what is under way; `taken` holds the keys of that, and gains those of what waits. */
export function keepApart(shape: TableShape, taken: Set<string>, changes: readonly ClaimedChange[]): Apart {
  if (taken.size === 0) return { free: changes, behind: [] };
  const [free, behind]: [ClaimedChange[], ClaimedChange[]] = [[], []];
  for (const change of changes) {
    const keys = keysOf(shape, change);
    const waits = [...keys, ...parentsInTable(shape, change)].some((key) => taken.has(key));
    if (waits) for (const key of keys) taken.add(key);
    (waits ? behind : free).push(change);
  }
  return { free, behind };
}
