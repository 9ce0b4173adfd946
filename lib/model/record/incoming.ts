import { traitsOf, type ValueKind } from "../mapping/field-type.ts";
import type { Column, ColumnValues, TableShape } from "../mapping/shape.ts";
import { type CsvLine, valueIn as valueInLine, valuesIn } from "./csv-line.ts";
import { plainNumber } from "./decimal.ts";
import type { Image } from "./record.ts";

/**
 * A record of a REST answer, its numbers still in their own digits, as an image for the table. A field that the answer
 * lacks is NULL.
 */
export function imageOf(shape: TableShape, record: Readonly<Record<string, unknown>>): Image {
  return { ...identityOf(record), values: valuesOf(shape, record) };
}

/** The same of a line of CSV: its values are read on demand. */
export const imageOfLine = (shape: TableShape, line: CsvLine): Image => new LineImage(shape, line);

class LineImage implements Image {
  readonly sfid: string;
  readonly systemModstamp: Date;
  readonly isDeleted: boolean;
  readonly line: CsvLine;
  readonly #shape: TableShape;
  #values: ColumnValues | null = null;

  constructor(shape: TableShape, line: CsvLine) {
    const identity = identityOf({
      Id: valueInLine(line, "Id"),
      SystemModstamp: valueInLine(line, "SystemModstamp"),
      IsDeleted: valueInLine(line, "IsDeleted"),
    });
    this.sfid = identity.sfid;
    this.systemModstamp = identity.systemModstamp;
    this.isDeleted = identity.isDeleted;
    this.line = line;
    this.#shape = shape;
  }

  get values(): ColumnValues {
    this.#values ??= valuesOfLine(this.#shape, this.line);
    return this.#values;
  }
}

/** By their places in the line, without an object of the record between. */
function valuesOfLine(shape: TableShape, line: CsvLine): ColumnValues {
  const found = valuesIn(line);
  const places = placesOf(shape, line.names);
  const values: Record<string, string | null> = {};
  for (const [index, column] of shape.columns.entries()) {
    values[column.column] = columnText(column, found[places[index] ?? -1]);
  }
  return values;
}

/** The positions of the columns' values in lines of these names; all lines of a file share one list of names. */
function placesOf(shape: TableShape, names: readonly string[]): readonly number[] {
  const known = PLACES.get(names);
  if (known?.shape === shape) return known.places;
  const places = shape.columns.map(({ field, parent }) =>
    names.indexOf(parent ? `${parent.relationship}.${parent.field}` : field),
  );
  PLACES.set(names, { shape, places });
  return places;
}

const PLACES = new WeakMap<readonly string[], { readonly shape: TableShape; readonly places: readonly number[] }>();

function valuesOf(shape: TableShape, record: Readonly<Record<string, unknown>>): ColumnValues {
  const values: Record<string, string | null> = {};
  for (const column of shape.columns) values[column.column] = columnText(column, valueIn(column, record));
  return values;
}

const identityOf = (record: Readonly<Record<string, unknown>>) => ({
  sfid: sfidOf(record),
  systemModstamp: stampOf(record),
  isDeleted: record["IsDeleted"] === true || record["IsDeleted"] === "true",
  ...("MasterRecordId" in record && { mergedInto: (record["MasterRecordId"] || null) as string | null }),
});

/** The message of a change whose record was merged into another one. */
export const mergedInto = (master: string): string =>
  `the record was merged into ${master} in Salesforce; make the change in the row of that record`;

/** The record's id of 18 characters. */
export const sfidOf = (record: Readonly<Record<string, unknown>>): string => String(record["Id"]);

/** When Salesforce last touched the record, to the second. */
export const stampOf = (record: Readonly<Record<string, unknown>>): Date => {
  const stamp = new Date(String(record["SystemModstamp"]));
  if (Number.isNaN(stamp.getTime())) throw new Error(`record ${sfidOf(record)} came without a SystemModstamp`);
  return stamp;
};

/** What a record of a REST answer holds for a column; a parent's key is in the parent. */
export function valueIn({ field, parent }: Column, record: Readonly<Record<string, unknown>>): unknown {
  if (!parent) return record[field];
  const found = record[parent.relationship];
  return typeof found === "object" && found !== null
    ? (found as Readonly<Record<string, unknown>>)[parent.field]
    : undefined;
}

/** A field's value, from JSON or from CSV, in the text form that the column's type reads. Empty is NULL. */
export function columnText(column: Column, value: unknown): string | null {
  if (value === null || value === undefined || value === "") return null;
  const text = typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value);
  return rewriteOf(column)?.(text) ?? text;
}

/** What PostgreSQL reads instead of Salesforce's text of a value; null: the same. */
const REWRITE: Readonly<Record<ValueKind, ((text: string) => string) | null>> = {
  text: null,
  choices: null,
  number: plainNumber,
  boolean: null,
  date: null,
  time: (text) => text.replace(/Z$/, ""),
  instant: null,
};

/** How a column's values are rewritten for PostgreSQL; null: it reads them as Salesforce writes them. */
export const rewriteOf = (column: Column): ((text: string) => string) | null => REWRITE[traitsOf(column.type).kind];
