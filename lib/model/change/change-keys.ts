import type { TableShape } from "../mapping/shape.ts";
import type { ClaimedChange } from "./change.ts";

/** A row by its number, a record by its id of 15 characters, an upsert value behind `key `, which no id begins with. */
export type ChangeKey = number | string;

/** By what the changes of a table get in each other's way, in log order. */
export interface ChangeKeys {
  /** Its row, its record, the upsert values that it has and had. */
  of(change: ClaimedChange): readonly ChangeKey[];
  /** A row may name another row of its own table as its parent, by the upsert value: that one goes first. */
  parentsOf(change: ClaimedChange): readonly ChangeKey[];
}

/** The keys of changes by a table's shape, which is looked through once for all of them. */
export function changeKeys({ columns, sfObject, upsertField }: TableShape): ChangeKeys {
  const upsert = columns.find(({ field }) => field === upsertField)?.column;
  const own = columns.filter(({ parent }) => parent?.object === sfObject && parent.field === upsertField);
  const parents = own.map(({ column }) => column);
  return {
    of: ({ recordId, sfid, old, values }) => {
      const keys: ChangeKey[] = [recordId];
      // Ids of 15 and of 18 characters name the same record.
      if (sfid) keys.push(sfid.slice(0, 15));
      if (upsert === undefined) return keys;
      if (old[upsert]) keys.push(keyOf(old[upsert]));
      if (values[upsert]) keys.push(keyOf(values[upsert]));
      return keys;
    },
    parentsOf: ({ values }) => {
      if (parents.length === 0) return NONE;
      return parents.flatMap((column) => (values[column] ? [keyOf(values[column])] : []));
    },
  };
}

const NONE: readonly never[] = [];

/** Salesforce compares external ids without case unless the field says otherwise. */
const keyOf = (value: string) => `key ${value.trim().toLowerCase()}`;
