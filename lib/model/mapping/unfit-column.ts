import { columnType } from "./column-type.ts";
import { traitsOf, type ValueKind } from "./field-type.ts";

type Field = Parameters<typeof columnType>[0];

const NUMBERS = ["smallint", "integer", "bigint", "numeric", "real", "double precision", "money"];
const TIMES = ["time without time zone", "time with time zone"];
const INSTANTS = ["timestamp without time zone", "timestamp with time zone"];
const DOCUMENTS = ["json", "jsonb", "xml"];
const OTHERS = ["bytea", "inet", "cidr", "point", "tsvector"];
const IDS = ["uuid", ...OTHERS];

/**
 * Types of columns that no value of such a field goes through as it is: PostgreSQL refuses it, or gives back a text that
 * Salesforce refuses or never had. An array holds none.
 */
const NEVER: Readonly<Record<ValueKind, readonly string[]>> = {
  text: ["character", "boolean", "money", "date", "interval", ...TIMES, ...INSTANTS, ...DOCUMENTS, ...OTHERS],
  choices: ["character", "boolean", "date", "interval", ...NUMBERS, ...TIMES, ...INSTANTS, ...DOCUMENTS, ...IDS],
  number: ["money", "boolean", "date", "interval", "xml", ...TIMES, ...INSTANTS, ...IDS],
  boolean: ["date", "interval", "xml", ...NUMBERS, ...TIMES, ...INSTANTS, ...IDS],
  date: ["boolean", "interval", ...NUMBERS, ...TIMES, ...INSTANTS, ...DOCUMENTS, ...IDS],
  time: ["boolean", "date", ...NUMBERS, ...INSTANTS, ...DOCUMENTS, ...IDS],
  instant: ["boolean", "date", "interval", ...NUMBERS, ...TIMES, ...DOCUMENTS, ...IDS],
};

/** A type without its length and precision. */
const bare = (type: string): string => type.replace(/\(\d+(?:,\d+)?\)/, "");

/** Ids fill a column of a fixed length. */
const isWholeId = ({ type }: Field, is: string): boolean =>
  (type === "id" || type === "reference") && is === "character(18)";

/** The type that a column should have whose present one can never hold its field; null: that is as may be. */
export const typeInstead = (field: Field, is: string): string | null =>
  (is.endsWith("[]") || NEVER[traitsOf(field.type).kind].includes(bare(is))) && !isWholeId(field, is)
    ? columnType(field)
    : null;

interface Unfit {
  readonly column: string;
  readonly is: string;
  readonly should: string;
}

/** What a person is warned of, with the remedy. */
export const reportUnfit = (table: string, { column, is, should }: Unfit) => ({
  message: `the column ${column} is ${is}, which can never hold its field`,
  remedy: `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${should} USING …`,
});
