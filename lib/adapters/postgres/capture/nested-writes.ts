import { literal, type MappedTable, metadata, qualified } from "../session/sql.ts";
import { keyByName } from "./by-name.ts";
import { functionName } from "./own-functions.ts";

/*
 * Triggers write within a statement, and what they write is captured before the statement itself. So a trigger before
 * each statement puts the log's last id of the transaction (`bridge.logged`) on a stack, and capture takes it off again:
 * changes of the same rows that the transaction has logged since get new ids behind the statement's own.
 *
 * There is one stack (`bridge.began_1`, `_2` …) for each depth of triggers, because statements end in the order in which
 * they began only within one depth. PostgreSQL takes all of it back with a savepoint, and at the end of the transaction.
 */

/** What is longer are notes of statements that were not captured, as Bridge's own. */
const LONGEST_STACK = 500;

/**
 * Notes where the log was when a statement began. Each statement pays for it, so its trigger has no condition, which
 * PostgreSQL would plan each time, and the function has no settings and one expression.
 */
export function beginFunction({ shape }: MappedTable): string {
  return `CREATE OR REPLACE FUNCTION ${qualified(shape.schema, functionName("begin", shape.table))}() RETURNS trigger
  LANGUAGE plpgsql
  AS $bridge$ DECLARE notes text := pg_catalog.set_config(pg_catalog.concat('bridge.began_', pg_catalog.pg_trigger_depth()),
      pg_catalog.concat(pg_catalog.current_setting('bridge.logged', true), ' ', pg_catalog.left(pg_catalog.current_setting(
        pg_catalog.concat('bridge.began_', pg_catalog.pg_trigger_depth()), true), ${LONGEST_STACK})), true); BEGIN
    RETURN NULL;
  END $bridge$;`;
}

/** The notes of a depth, the last one first; NULL where none is left. */
const notesAt = (depth: string): string => `nullif(current_setting('bridge.began_' || ${depth}, true), '')`;

/**
 * The depths at which the note of the statement that is captured may be. A foreign key's CASCADE or SET NULL begins
 * within the key's trigger and is captured beside it, a level less deep.
 */
const [OWN_DEPTH, OF_FOREIGN_KEY] = ["pg_trigger_depth()", "pg_trigger_depth() + 1"] as const;

export const READ_NOTE = `notes := coalesce(${notesAt(OWN_DEPTH)}, ${notesAt(OF_FOREIGN_KEY)});`;

/** A note as an id of the log. It is empty where nothing had been logged. */
export const BEGAN = "coalesce(nullif(split_part(notes, ' ', 1), ''), '0')::bigint";

/** Whether the row of a nested change is in the table. */
const IS_THERE = "EXISTS (SELECT FROM %2$s t WHERE t.%1$I = nested.record_id)";

/**
 * Which of a row's nested changes come after the statement's own. PostgreSQL lets no trigger write a row that its
 * statement is about to update or delete. But a row that was deleted before its INSERT may have made room for it, and a
 * foreign key deletes by several commands: there the order is the one in which inserts and deletes of the row alternate.
 */
const IS_BEHIND = {
  insert: `(nested.ended > coalesce(nested.last_made, 0) AND nested.id <= nested.ended AND ${IS_THERE}) IS NOT TRUE`,
  update: "true",
  delete: `nested.id >= coalesce(nested.first_made, 0) AND (nested.ended > nested.last_made OR ${IS_THERE})`,
} as const;

/**
 * PL/pgSQL that follows the logging of a statement's rows. Only after nested writes it comes to the statement that puts
 * them in order, which is planned at each call. Without a note, as under triggers of an older version, they stay as they are.
 */
export function orderNested(mapped: MappedTable, kind: keyof typeof IS_BEHIND): string {
  const { log } = metadata(mapped.shape.schema);
  const ofTable = (alias: string) =>
    `${alias}.txid = txid_current() AND ${alias}.table_name::text = ${literal(mapped.shape.table)}`;
  const order = `
    UPDATE ${log} l SET id = moved.next FROM (
      SELECT nested.id, nextval(pg_get_serial_sequence(${literal(log)}, 'id')) AS next FROM (
        SELECT e.id, e.record_id, min(e.id) FILTER (WHERE e.action::text = 'INSERT') OVER of_row AS first_made,
          max(e.id) FILTER (WHERE e.action::text = 'INSERT') OVER of_row AS last_made,
          max(e.id) FILTER (WHERE e.action::text = 'DELETE') OVER of_row AS ended
        FROM ${log} e WHERE e.id > $1 AND e.id <= $2 AND ${ofTable("e")}
          AND e.record_id IN (SELECT own.record_id FROM ${log} own WHERE own.id > $2 AND ${ofTable("own")})
        WINDOW of_row AS (PARTITION BY e.record_id) ORDER BY e.id
      ) nested WHERE ${IS_BEHIND[kind]}
    ) moved WHERE l.id = moved.id AND l.id > $1 AND l.id <= $2`;
  return `IF captured > 0 AND current_setting('bridge.logged', true) IS DISTINCT FROM
          split_part(${notesAt(OWN_DEPTH)}, ' ', 1) THEN
        ${READ_NOTE}
        IF current_setting('bridge.logged', true) <> split_part(notes, ' ', 1) THEN
          EXECUTE format(${literal(order)}, ${keyByName(mapped)}, TG_RELID::regclass)
            USING ${BEGAN}, current_setting('bridge.logged')::bigint;
        END IF;
      END IF;`;
}

/** An expression, which is evaluated for each statement: notes what was logged. */
export const NOTE_LOGGED = "CASE WHEN captured > 0 THEN set_config('bridge.logged', lastval()::text, true) END";

const popAt = (depth: string): string =>
  `set_config('bridge.began_' || ${depth}, substr(${notesAt(depth)}, strpos(${notesAt(depth)}, ' ') + 1), true)`;

/** The same, and takes the statement's own note off the stack. */
export const END_STATEMENT = `notes := concat(${NOTE_LOGGED},
        CASE WHEN ${notesAt(OWN_DEPTH)} IS NOT NULL THEN ${popAt(OWN_DEPTH)} ELSE ${popAt(OF_FOREIGN_KEY)} END);`;
