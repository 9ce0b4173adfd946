import type { RecordError } from "../record/record.ts";

/** As Salesforce says it: `duplicate value found: Serial__c duplicates value on record with id: 003…`. */
const HELD = /^duplicate value found: (\w+) duplicates value on record with id: (\w{15})/;

/** The record that has the value for which alone a save was refused, and in which field; null: that is not why. */
export function holderIn(errors: readonly RecordError[]): { readonly field: string; readonly id: string } | null {
  const [first, ...others] = errors;
  const [, field, id] = (first?.code === "DUPLICATE_VALUE" && HELD.exec(first.message)) || [];
  return field !== undefined && id !== undefined && others.length === 0 ? { field, id } : null;
}

/** Which record gives its value up to which: both by their ids of 15 characters, a new one by its row. */
export type Behind = ReadonlyMap<string, string>;

export const placeOf = ({
  record,
  recordId,
}: {
  readonly record: { readonly id: string | null };
  readonly recordId: number;
}): string => record.id?.slice(0, 15) ?? `row ${recordId}`;

/** How many records give their values up before this one; null: they go round, and none can be the first. */
export function depthOf(behind: Behind, place: string): number | null {
  let depth = 0;
  for (let next = behind.get(place); next !== undefined; next = behind.get(next)) {
    depth += 1;
    if (next === place || depth > behind.size) return null;
  }
  return depth;
}

/** What is said of values that records exchange. */
export const EXCHANGED =
  "records exchange this value, of which Salesforce saves neither first: give one of them another value in between";
