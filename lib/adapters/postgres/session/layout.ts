import type { TableShape } from "../../../model/mapping/shape.ts";
import { name } from "./sql.ts";

/** What the catalog says about a mapped table: kept in `_bridge_state`, so that a cycle asks no catalog. */
export interface Layout {
  /** The table's integer key; `id` in tables of our making. */
  readonly key: string;
  /** Type of each column without its length, as a cast may name it: an explicit cast with a length would cut silently. */
  readonly types: Readonly<Record<string, string>>;
  /** The same with length, precision and scale, for telling how the column would hold a value. */
  readonly exactTypes: Readonly<Record<string, string>>;
  /** Columns that PostgreSQL computes: read and captured, never written. */
  readonly generated: readonly string[];
  /** Whether rows may come by COPY. */
  readonly takesCopies: boolean;
}

/** A mapped table as a cycle sees it. */
export interface MappedTable {
  readonly shape: TableShape;
  readonly layout: Layout;
}

/** Columns of every mapped table beside its mapped fields, with the types they have in tables of our making. */
export const OWN_COLUMNS = {
  sfid: "varchar(18)",
  systemmodstamp: "timestamptz",
  isdeleted: "boolean",
  _ab_lastop: "varchar(10)",
  _ab_err: "text",
} as const;

/** Text as a value of the column's own type. */
export const typed = (layout: Layout, column: string, text: string): string =>
  cast(text, layout.types[column] ?? "text");

function cast(text: string, type: string): string {
  // Read as an instant first, or the zone that the text names would be dropped.
  if (type.startsWith("timestamp") && type.endsWith(WITHOUT_ZONE)) return `((${text})::timestamptz)::${type}`;
  return `(${text})::${type}`;
}

const WITHOUT_ZONE = " without time zone";

/** A column's value as exact text, instants always with their zone. */
export const textOf = (layout: Layout, column: string, alias: string): string =>
  exactText(layout, column, `${alias}.${name(column)}`);

/** Text as the column would give it back, `5` as `5.00`: what two values must look like to be compared as texts. */
export const heldText = (layout: Layout, column: string, text: string): string =>
  exactText(layout, column, cast(text, layout.exactTypes[column] ?? "text"));

function exactText(layout: Layout, column: string, value: string): string {
  // Columns that Heroku Connect made hold UTC without saying so.
  if (isZoneless(layout, column)) return `(${value} AT TIME ZONE 'UTC')::text`;
  return `${value}::text`;
}

/** Whether a column holds instants without saying that they are UTC, as Heroku Connect's do. */
export const isZoneless = (layout: Layout, column: string): boolean =>
  layout.types[column] === `timestamp${WITHOUT_ZONE}`;

const WITHOUT_EQUALITY = ["json", "xml", "point", "polygon", "circle", "box", "path", "line", "lseg"];

/** An expression in which two values can be compared, whatever the column's type. */
export function comparable(layout: Layout, column: string, value: string): string {
  return WITHOUT_EQUALITY.includes(layout.types[column] ?? "text") ? `(${value})::text` : value;
}

/** Whether any of these columns differs between two rows, as an SQL condition. */
export function differs(layout: Layout, columns: readonly string[], left: string, right: string): string {
  if (columns.length === 0) return "false";
  const side = (alias: string) =>
    columns.map((column) => comparable(layout, column, `${alias}.${name(column)}`)).join(", ");
  return `(ROW(${side(left)}) IS DISTINCT FROM ROW(${side(right)}))`;
}
