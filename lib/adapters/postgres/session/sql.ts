import { escapeIdentifier, escapeLiteral } from "pg";
import type { TableShape } from "../../../model/mapping/shape.ts";
import type { Retention } from "../../../model/workspace/workspace.ts";
import type { Lease } from "../../../sync/ports/lease-ports.ts";

/*
 * What the statements of all parts need: the session that runs them, names and values as their text has them, the
 * tables of a schema, and the mapped table with its columns.
 */

export type Row = Record<string, unknown>;

/** The values of a statement, in their order or by their names. */
export type Values = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Asks one statement; a schema without our tables answers no rows. */
export type Ask = (text: string, values?: Values) => Promise<readonly Row[]>;

/** One connection; statements run one after the other. Every wait ends within the deadline of 15 s. */
export interface Session {
  /** One statement, one round trip. Its values are a list, `$1`, `$2` …, or have names, as `named` reads them. */
  query<R extends object = Row>(text: string, values?: Values): Promise<readonly R[]>;
  /** Several statements without parameters, one round trip; the rows of each. */
  script(text: string): Promise<readonly (readonly Row[])[]>;
  /** Prepares statements from now on, unless a pooler is between: then the backend (its process id) is not the one we know. */
  prepareOn?(backend: number): void;
  /** Rows by `COPY … FROM STDIN`, in pieces of its text format. */
  copy(text: string, pieces: Iterable<string>): Promise<void>;
  /**
   * A READ COMMITTED transaction whose settings end with it. `first`, one statement or several, is sent in the opening
   * round trip; the rows of the last one go to `work`, and those of all. Rolled back when `work` throws.
   */
  transaction<T>(
    settings: TransactionSettings,
    first: string,
    work: (rows: readonly Row[], all: readonly (readonly Row[])[]) => Promise<T>,
  ): Promise<T>;
  /** False once the connection is of no use any more. */
  readonly isAlive: boolean;
  /** Whether the connection keeps the process from ending, as it does from the start. */
  holdProcess(holds: boolean): void;
  close(): Promise<void>;
}

export interface TransactionSettings {
  /** What waits longer for a lock ends with SQLSTATE 55P03. */
  readonly lockMilliseconds?: number;
  /** The mapped table whose capture ignores our own statements. */
  readonly silence?: string;
  /** The commit is not waited for to be on disk: should the server crash, this and what came after it never was. */
  readonly commitsLater?: boolean;
}

/** A name for use in a statement, always quoted. */
export const name = (text: string): string => escapeIdentifier(text);

/** PostgreSQL cuts longer names silently (NAMEDATALEN). */
export const LONGEST_NAME_BYTES = 63;

/** A text for use in a statement that takes no parameters. */
export const literal = (text: string): string => escapeLiteral(text);

/** Ids of records as a parameter of type `text[]`: they need no quotes, and thousands are parsed faster without. */
export const idArray = (ids: readonly (string | null)[]): readonly (string | null)[] | string =>
  ids.every((id) => id === null || RECORD_ID.test(id)) ? `{${ids.map((id) => id ?? "NULL").join(",")}}` : ids;

const RECORD_ID = /^[A-Za-z0-9]{15,18}$/;

/** Numbers as a parameter of an array type, without quotes. */
export const numberArray = (numbers: readonly number[]): string => `{${numbers.join(",")}}`;

/** `"schema"."table"`. */
export const qualified = (schema: string, table: string): string => `${name(schema)}.${name(table)}`;

/**
 * A text as it is shown: one of more than 8 KB, which versions before have kept, as its beginning. PostgreSQL knows the
 * length of a text, and reads its beginning, without reading the whole.
 */
export const cut = (text: string): string =>
  `CASE WHEN octet_length(${text}) > 8192
    THEN left(${text}, 2000) || '... (truncated, ' || to_char(octet_length(${text}), 'FM999,999,999,999') || ' bytes)' ELSE ${text} END`;

/** What a row is called, by the fields that Salesforce names the records of most objects by. `row` is its JSON. */
export const nameOf = (row: string): string =>
  `coalesce(${row} ->> 'name', nullif(concat_ws(' ', ${row} ->> 'firstname', ${row} ->> 'lastname'), ''), ${row} ->> 'subject', ${row} ->> 'title')`;

/** All time that every reader knows, in any zone: what a customer's database holds may be before year 1, after 9999 or infinite. */
const [FIRST, LAST] = ["0001-01-02T00:00:00Z", "9999-12-30T00:00:00Z"] as const;

/** An instant as SQL, not before the first and not after the last. */
export const within = (instant: string): string =>
  `CASE WHEN ${instant} < '${FIRST}'::timestamptz THEN '${FIRST}' WHEN ${instant} > '${LAST}'::timestamptz THEN '${LAST}' ELSE ${instant} END`;

/** The same as a `Date`, from PostgreSQL's text. */
export function readInstant(text: Date | string): Date {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? new Date(/^-|BC$/.test(String(text)) ? FIRST : LAST) : at;
}

/** An instant as ISO 8601 text whatever the session's date style; `instant` reads it back. */
export const iso = (expression: string): string => `to_json(${within(expression)}) #>> '{}'`;

export const instant = (row: Row, column: string): Date | null => {
  const text = row[column];
  return typeof text === "string" ? readInstant(text) : null;
};

/** The metadata tables of one workspace's schema, quoted and qualified; `their…`: what Heroku Connect left; `unsent`:
 * what a workspace that was deleted there had not sent. */
export const metadata = (schema: string) => ({
  log: qualified(schema, "_trigger_log"),
  archive: qualified(schema, "_trigger_log_archive"),
  totals: qualified(schema, "_bridge_totals"),
  state: qualified(schema, "_bridge_state"),
  loads: qualified(schema, "_bridge_loads"),
  aborts: qualified(schema, "_bridge_aborts"),
  outbox: qualified(schema, "_bridge_outbox"),
  outboxAside: qualified(schema, "_bridge_outbox_aside"),
  pushed: qualified(schema, "_bridge_pushed"),
  inboundErrors: qualified(schema, "_bridge_inbound_errors"),
  tombstones: qualified(schema, "_bridge_tombstones"),
  pendingRegistry: qualified(schema, "_bridge_in_hand"),
  heldDeletes: qualified(schema, "_bridge_held_deletes"),
  dryRuns: qualified(schema, "_bridge_dry_runs"),
  conflicts: qualified(schema, "_bridge_conflicts"),
  history: qualified(schema, "_bridge_history"),
  cycles: qualified(schema, "_bridge_cycles"),
  meta: qualified(schema, "_bridge_meta"),
  theirLog: qualified(schema, "_hc_trigger_log"),
  theirArchive: qualified(schema, "_hc_trigger_log_archive"),
  theirTriggers: qualified(schema, "_bridge_hc_triggers"),
  unsent: qualified(schema, "_bridge_trigger_log"),
});

export type Metadata = ReturnType<typeof metadata>;

/** What the catalog says about a mapped table: kept in `_bridge_state`, so that a cycle asks no catalog. */
export interface Layout {
  /** The table's integer key; `id` in tables of our making. */
  readonly key: string;
  /** Type of each column without its length: an explicit cast to one with a length would cut a text silently. */
  readonly types: Readonly<Record<string, string>>;
  /** The same with length, precision and scale: how the column would hold a value. */
  readonly exactTypes: Readonly<Record<string, string>>;
  /** `CatalogColumn.attribute` of each column; versions up to 0.2 kept none. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Columns that PostgreSQL computes: read and captured, never written. */
  readonly generated: readonly string[];
  /** Columns of types that are not PostgreSQL's own, whose operators a function with a fixed search path may not find. */
  readonly foreign?: readonly string[];
  /** The operators by which such types are equal, as `"public".=`, where they have one of their own; versions up to 0.3 kept none. */
  readonly equality?: Readonly<Record<string, string>>;
  /** Whether rows may come by COPY. */
  readonly takesCopies: boolean;
  /** What a cycle compares to see that the application has changed the table; versions up to 0.2 kept none. */
  readonly digest?: string;
  /** The version of the triggers and functions that it was created with. */
  readonly captureVersion?: number;
}

/** A mapped table as a cycle sees it. */
export interface MappedTable {
  readonly shape: TableShape;
  readonly layout: Layout;
  /** What a page changes in rows is written down. */
  readonly keepsHistory?: boolean;
  /** Up to this stamp every record was read again after its second; null: a first load or a backfill runs. */
  readonly settledUntil?: Date | null;
}

/** The mapped table as `_bridge_state` holds it, by the columns `shape` and `layout`. */
export const mappedOf = (row: Row): MappedTable => ({
  shape: row["shape"] as TableShape,
  layout: row["layout"] as Layout,
});

/** Columns of every mapped table beside its mapped fields, with the types they have in tables of our making. */
export const OWN_COLUMNS = {
  sfid: "varchar(18)",
  systemmodstamp: "timestamptz",
  isdeleted: "boolean",
  _ab_lastop: "varchar(10)",
  _ab_err: "text",
} as const;

/** Text as a value of the column's own type: a number or a time as the column holds it, any other text uncut. */
export function typed(layout: Layout, column: string, text: string): string {
  const exact = layout.exactTypes[column] ?? "text";
  return cast(text, ROUNDED.test(exact) ? exact : (layout.types[column] ?? "text"));
}

/** Types of which a column with fewer places rounds, in an explicit cast as in an assignment. */
const ROUNDED = /^(numeric|time|interval)/;

function cast(text: string, type: string): string {
  // Read as an instant first, or the zone that the text names would be dropped.
  if (type.startsWith("timestamp") && type.endsWith(WITHOUT_ZONE)) return `((${text})::timestamptz)::${type}`;
  return `(${text})::${type}`;
}

const WITHOUT_ZONE = " without time zone";

/** A column's value as exact text, instants always with their zone. */
export const textOf = (layout: Layout, column: string, alias: string): string =>
  exactText(layout, column, `${alias}.${name(column)}`);

/**
 * Text as the column would give it back, `5` as `5.00`: what two values must look like to be compared as texts. One that
 * is too long stays whole: the column refuses it, where a cast would cut it.
 */
export function heldText(layout: Layout, column: string, text: string): string {
  const type = layout.exactTypes[column] ?? "text";
  const held = exactText(layout, column, cast(text, type));
  const [, length] = /^character(?: varying)?\((\d+)\)$/.exec(type) ?? [];
  return length === undefined ? held : `CASE WHEN length(${text}) > ${length} THEN ${text} ELSE ${held} END`;
}

/** A value of a column as exact text. */
export function exactText(layout: Layout, column: string, value: string): string {
  // Columns that Heroku Connect made hold UTC without saying so.
  if (isZoneless(layout, column)) return `(${value} AT TIME ZONE 'UTC')::text`;
  return `${value}::text`;
}

/** Whether a column holds instants without saying that they are UTC, as Heroku Connect's do. */
export const isZoneless = (layout: Layout, column: string): boolean =>
  layout.types[column] === `timestamp${WITHOUT_ZONE}`;

/** The types of which two values can be compared by an operator of PostgreSQL's for exactly these. */
const WITH_EQUALITY = new Set([
  ...["boolean", "smallint", "integer", "bigint", "real", "double precision", "numeric", "money", "text", "bpchar"],
  ...["date", "time without time zone", "time with time zone", "timestamp without time zone", "interval", "uuid"],
  ...["timestamp with time zone", "bytea", "jsonb", "inet", "macaddr", "macaddr8", '"bit"', "bit varying", "tsvector"],
]);

/** An expression in which two values can be compared, whatever the column's type. */
function comparable(layout: Layout, column: string, value: string): string {
  const isOwn = WITH_EQUALITY.has(layout.types[column] ?? "text") && !layout.foreign?.includes(column);
  return isOwn ? value : `(${value})::text`;
}

/** A condition: two values of the column's type are equal, as the indexes of that type have it (citext: whatever their case). */
export function equal(layout: Layout, column: string, left: string, right: string): string {
  const isUnknown = layout.equality === undefined && layout.foreign?.includes(column);
  return `${left} ${isUnknown ? "=" : `OPERATOR(${layout.equality?.[column] ?? "pg_catalog.="})`} ${right}`;
}

/** The alias of a row, or the value of each column. */
type Side = string | ((column: string, index: number) => string);

/** Whether any of these columns differs between two sides, as an SQL condition. */
export function differs(layout: Layout, columns: readonly string[], left: Side, right: Side): string {
  if (columns.length === 0) return "false";
  const row = (side: Side) => {
    const expression = typeof side === "string" ? (column: string) => `${side}.${name(column)}` : side;
    return columns.map((column, index) => comparable(layout, column, expression(column, index))).join(", ");
  };
  return `(ROW(${row(left)}) IS DISTINCT FROM ROW(${row(right)}))`;
}

/** What the parts of a cycle's store share: the connection, the schema's tables, the mapped table once it is known. */
export interface StoreContext {
  readonly session: Session;
  readonly schema: string;
  readonly tables: Metadata;
  readonly retention: Retention;
  /** How many rows have refused the write-back of their results, and the SQLSTATE of one. */
  readonly refusedWriteBacks: { rows: number; sqlState: string | null };
  /** The rows with failed changes since the cycle's lease was acquired: a spike counts each once. */
  readonly failedRows: Set<number>;
  /** Deletes of the busiest hour of the days before, by mapping and side, as far as they were asked for. */
  readonly busiestHours: Map<string, number>;
  /** The table that the lease was acquired for. */
  mapped(lease: Pick<Lease, "mappingId">): MappedTable;
  now(): Date;
}
