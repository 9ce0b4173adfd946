import type { ParentKey } from "../mapping/parent-key.ts";
import type { Column, ColumnValues, TableShape } from "../mapping/shape.ts";
import type { OutgoingParent } from "../record/record.ts";
import { outgoingValue } from "./outgoing.ts";
import { isTooLong, textLimit } from "./text-limit.ts";

interface OutgoingFields {
  readonly values: Readonly<Record<string, string | null>>;
  /** Parents that the row names by their external ids. */
  readonly parents: readonly OutgoingParent[];
  /** Why it cannot travel: `CODE: message [fields]`. */
  readonly error: string | null;
}

/** What of a row travels, by field name; columns that Salesforce does not let us write stay behind. */
export function outgoingFields(shape: TableShape, values: ColumnValues, creates: boolean): OutgoingFields {
  const sent: Record<string, string | null> = {};
  const named: NamedParent[] = [];
  let error: string | null = null;
  for (const column of shape.columns) {
    const text = values[column.column];
    if (text === undefined || !(creates ? column.createable : column.updateable)) continue;
    const value = outgoingValue(column, text);
    if ("reason" in value) error ??= `INVALID_VALUE: ${value.reason} [${column.field}]`;
    else if (isTooLong(column, value.text ?? "")) error ??= tooLong(column);
    else if (column.parent) named.push({ ...column.parent, value: value.text });
    else sent[column.field] = value.text;
  }
  return { ...withParents(sent, named), error };
}

/** The fields of changed columns that Salesforce does not let an update write. */
export const unwritableFields = ({ columns }: Pick<TableShape, "columns">, values: ColumnValues): readonly string[] =>
  columns.flatMap(({ column, field, updateable }) => (column in values && !updateable ? [field] : []));

const tooLong = (column: Column): string =>
  `STRING_TOO_LONG: ${column.field} takes ${textLimit(column)?.toLocaleString("en-US")} characters, and this text has more; shorten it [${column.field}]`;

interface NamedParent extends ParentKey {
  readonly value: string | null;
}

/** Salesforce takes one name of a parent: its id if the row gives it, else the first external id, else none clears it. */
function withParents(values: Readonly<Record<string, string | null>>, named: readonly NamedParent[]) {
  if (named.length === 0) return { values, parents: [] };
  const sent = { ...values };
  const parents: OutgoingParent[] = [];
  for (const { reference, value, ...key } of named) {
    const isNamed = Boolean(sent[reference]) || parents.some((parent) => parent.reference === reference);
    if (isNamed) continue;
    if (value === null) sent[reference] = null;
    else {
      parents.push({ ...key, reference, value });
      delete sent[reference];
    }
  }
  return { values: sent, parents };
}
