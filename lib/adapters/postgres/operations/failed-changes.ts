import { IN_DOUBT } from "../../../model/change/in-doubt.ts";
import type { FailedChanges, FoundFailed } from "../../../settings/row-ports.ts";
import { hasFailed, isOfTable } from "../log/change-states.ts";
import { type Ask, cut, iso, literal, type Metadata, nameOf } from "../session/sql.ts";

/** Failed changes that are looked at for their kinds, the latest ones. The console asks every few seconds. */
const LOOKED_AT = 10_000;

const KINDS = 200;

/** Salesforce repeats a value unquoted behind these words, to the end of the error, the next error or the limit. */
const REPEATING = "(?:invalid email address|data value too large|bad value for restricted picklist field): ";

/** Of an error that a version before 0.2 kept whole its beginning is looked at. */
const BEGINNING = "left(l.sf_message, 5000)";

/**
 * The error without such values. Their ends are marked first: to look for the end of each by one expression, character by
 * character, takes six times as long.
 */
const UNREPEATED = `replace(regexp_replace(regexp_replace(coalesce(${BEGINNING}, ''),
    '; [A-Z_]+: | \\(max length=', chr(1) || '\\&', 'g'), '(${REPEATING})[^\\u0001]*', '\\1#', 'g'), chr(1), '')`;

/**
 * The error without what differs from row to row: repeated values, addresses, quoted values, and words that hold a digit
 * (ids, numbers).
 */
const PATTERN = `regexp_replace(regexp_replace(regexp_replace(${UNREPEATED}, '\\S+@\\S+', '#', 'g'), '"[^"]*"|''[^'']*''', '#', 'g'), '\\y\\w*\\d\\w*\\y', '#', 'g')`;

const FINGERPRINT = `left(md5(concat_ws('|', l.table_name, l.action, ${PATTERN})), 16)`;

/** A failed change that could be tried again: no newer state of its row has overruled it. */
const RETRIABLE = `${hasFailed("l")} AND NOT l.superseded`;

/** Ends the error of a change that was dismissed; its beginning keeps its meaning, above all for a change in doubt. */
const DISMISSED = " (dismissed)";

const isDismissed = `coalesce(l.sf_message LIKE ${literal(`%${DISMISSED}`)}, false)`;

/** One that an operator must see. */
export const OPEN = `${RETRIABLE} AND NOT ${isDismissed}`;

/**
 * Failed changes by kind. Equal errors are counted as one before their fingerprint is computed, which costs a hundred
 * times what reading a change does. Parameter: the table, or NULL.
 */
export function failureKinds({ log }: Metadata): string {
  return `
    SELECT kinds.*, (SELECT ${cut("l.sf_message")} FROM ${log} l WHERE l.id = last_id) AS sample FROM (
      SELECT ${FINGERPRINT} AS fingerprint, min(table_name) AS table_name, min(action) AS action, sum(count)::int AS count,
        max(last_id) AS last_id, ${iso("max(last_at)")} AS last_at
      FROM (
        SELECT table_name, action, sf_message, count(*) AS count, max(id) AS last_id, max(processed_at) AS last_at
        FROM (
          SELECT l.id, l.table_name, l.action, coalesce(l.processed_at, l.created_at) AS processed_at, ${BEGINNING} AS sf_message
          FROM ${log} l WHERE ${OPEN} AND ($1::text IS NULL OR l.table_name::text = $1) ORDER BY l.id DESC LIMIT ${LOOKED_AT}
        ) AS latest GROUP BY 1, 2, 3
      ) AS l
      GROUP BY 1 ORDER BY sum(count) DESC, 1 LIMIT ${KINDS}
    ) AS kinds ORDER BY count DESC, fingerprint`;
}

/** Rows of one kind that are shown: enough to see what they have in common. */
const ROWS_OF_A_KIND = 50;

/** The latest failed changes of a kind, among those that kinds are counted from. Parameter: the fingerprint. */
export const failedRows = ({ log }: Metadata): string => `
    SELECT l.id, l.record_id, l.sfid, ${cut(nameOf(`(coalesce(l.old, '{}') || coalesce(l."values", '{}'))`))} AS name,
      coalesce(${cut("l.sf_message")}, '') AS error, ${iso("l.created_at")} AS at,
      (SELECT coalesce(jsonb_object_agg(v.key, ${cut("v.value")}), '{}') FROM jsonb_each_text(l."values") v
        WHERE v.key IN (${NAMED_FIELDS})) AS "values"
    FROM (SELECT * FROM ${log} l WHERE ${OPEN} ORDER BY l.id DESC LIMIT ${LOOKED_AT}) l
    WHERE ${FINGERPRINT} = $1 ORDER BY l.id DESC LIMIT ${ROWS_OF_A_KIND}`;

/** An error ends with its fields in brackets (`errorText`); a column is called like its field, in lower case. */
const NAMED_FIELDS = `SELECT field FROM regexp_matches(lower(l.sf_message), '\\[([a-z0-9_, ]+)\\]', 'g') AS found,
          regexp_split_to_table(found[1], ', ') AS field`;

/** Marks failed changes as dismissed. Their rows' next changes carry them as before. */
export const dismissStatement = ({ log, state }: Metadata): string => `
    WITH mapping AS MATERIALIZED (SELECT table_name FROM ${state} WHERE mapping_id = $1 FOR NO KEY UPDATE)
    UPDATE ${log} l SET sf_message = concat(l.sf_message, ${literal(DISMISSED)}) FROM mapping m
    WHERE l.table_name::text = m.table_name::text AND l.id = ANY ($2::bigint[]) AND ${OPEN} AND l.fence IS NULL RETURNING l.id`;

/** Of a table's latest failures those that no operator has to see any more; the totals count them. */
const settledFailures = ({ log }: Metadata, table: string): string =>
  `(SELECT count(*) FILTER (WHERE is_settled) FROM (
      SELECT l.superseded OR ${isDismissed} AS is_settled FROM ${log} l WHERE ${isOfTable("l", table)} AND ${hasFailed("l")}
      ORDER BY l.table_name DESC, l.id DESC LIMIT ${LOOKED_AT}) AS latest)`;

/** The failed changes of a mapping that need an operator, of the totals and the latest ones. */
export const failedOf = (tables: Metadata, state: string): string =>
  `coalesce((SELECT CASE WHEN failed > 0 THEN failed - ${settledFailures(tables, `${state}.table_name`)} ELSE 0 END
      FROM ${tables.totals} t WHERE t.table_name::text = ${state}.table_name::text), 0)`;

/** What waits of each mapping, up to as many as are looked at, and what Salesforce refused. */
export const backlogsOf = (tables: Metadata): string => `
    SELECT s.mapping_id AS id, ${failedOf(tables, "s")} AS failed,
      (SELECT count(*) FROM (SELECT FROM ${tables.log} l WHERE ${isOfTable("l", "s.table_name")} AND l.processed_at IS NULL LIMIT ${LOOKED_AT}) w) AS waiting,
      (SELECT ${cut("l.sf_message")} FROM ${tables.log} l WHERE ${isOfTable("l", "s.table_name")} AND ${OPEN}
        ORDER BY l.table_name DESC, l.id DESC LIMIT 1) AS refusal
    FROM ${tables.state} s`;

/** The failed changes that are meant and are not just being tried again, oldest first, and how many there are. */
export async function findFailed(
  ask: Ask,
  tables: Metadata,
  { id, fingerprint, table }: FailedChanges,
  limit: number,
): Promise<FoundFailed> {
  const rows = await ask(findStatement(tables), [id, fingerprint, table, limit]);
  const byMapping = Map.groupBy(rows, (row) => String(row["mapping_id"]));
  return {
    total: Number(rows[0]?.["total"] ?? 0),
    idsByMapping: new Map([...byMapping].map(([mapping, found]) => [mapping, found.map((row) => Number(row["id"]))])),
  };
}

/**
 * A table that is not mapped any more has no cycle that would send. What ended in doubt is retried by its own id or
 * kind alone: retrying it with all others would create a second record of each that exists.
 */
function findStatement({ log, state }: Metadata): string {
  return `
    SELECT l.id, s.mapping_id, count(*) OVER () AS total
    FROM ${log} l JOIN ${state} s ON s.table_name::text = l.table_name::text
    WHERE ${RETRIABLE} AND l.fence IS NULL AND ($1::bigint IS NULL AND NOT ${isDismissed} OR l.id = $1) AND ($3::text IS NULL OR l.table_name::text = $3)
      AND ($2::text IS NULL OR ${FINGERPRINT} = $2)
      AND ($1::bigint IS NOT NULL OR $2::text IS NOT NULL OR NOT starts_with(coalesce(l.sf_message, ''), ${literal(IN_DOUBT)}))
    ORDER BY l.id LIMIT $4::bigint`;
}
