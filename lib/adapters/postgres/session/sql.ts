import { escapeIdentifier, escapeLiteral } from "pg";

/** A name as it must stand in a statement, always quoted. */
export const name = (text: string): string => escapeIdentifier(text);

/** A text as it must stand in a statement that takes no parameters. */
export const literal = (text: string): string => escapeLiteral(text);

/** Ids of records as a parameter of type `text[]`: they need no quotes, and thousands of them are told faster without. */
export const idArray = (ids: readonly (string | null)[]): readonly (string | null)[] | string =>
  ids.every((id) => id === null || RECORD_ID.test(id)) ? `{${ids.map((id) => id ?? "NULL").join(",")}}` : ids;

const RECORD_ID = /^[A-Za-z0-9]{15,18}$/;

/** Numbers as a parameter of an array type, told without quotes. */
export const numberArray = (numbers: readonly number[]): string => `{${numbers.join(",")}}`;

/** `"schema"."table"`. */
export const qualified = (schema: string, table: string): string => `${name(schema)}.${name(table)}`;

/**
 * Entries of the log of a table that another part of the statement names, which the planner cannot weigh: with `=` it takes
 * each table to have as many of them as the others, and walks through all to find the first. Of a range it expects little,
 * and takes an index that begins with the table. Whoever wants the first ones orders them by the table, too, or the order
 * of an index of all tables serves that.
 */
export const isOfTable = (alias: string, table: string): string =>
  `${alias}.table_name >= ${table} AND ${alias}.table_name <= ${table}`;

/**
 * A text as it is told: one of more than 8 KB, which versions before have kept, as its beginning. PostgreSQL knows the
 * length of a text, and reads its beginning, without reading the whole.
 */
export const cut = (text: string): string =>
  `CASE WHEN octet_length(${text}) > 8192
    THEN left(${text}, 2000) || '... (truncated, ' || to_char(octet_length(${text}), 'FM999,999,999,999') || ' bytes)' ELSE ${text} END`;

/** The metadata tables of one workspace's schema, quoted and qualified; `their…`: what Heroku Connect left. */
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
  inHand: qualified(schema, "_bridge_in_hand"),
  heldDeletes: qualified(schema, "_bridge_held_deletes"),
  conflicts: qualified(schema, "_bridge_conflicts"),
  cycles: qualified(schema, "_bridge_cycles"),
  meta: qualified(schema, "_bridge_meta"),
  theirLog: qualified(schema, "_hc_trigger_log"),
  theirArchive: qualified(schema, "_hc_trigger_log_archive"),
  theirTriggers: qualified(schema, "_bridge_hc_triggers"),
});

export type Metadata = ReturnType<typeof metadata>;
