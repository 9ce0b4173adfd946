import { literal, type MappedTable } from "../session/sql.ts";
import { mayBlock, waitsForParent } from "./change-states.ts";

/** By what changes of different rows can get in each other's way; Salesforce compares upsert values without case. */
export function keysOf(alias: string, mapped: MappedTable): string {
  const keys = [
    `'id ' || left(${alias}.sfid, 15)`,
    ...upsertValues(alias, mapped).map((value) => `'key ' || ${value}`),
  ];
  return `array_remove(ARRAY[${keys.join(", ")}], NULL)`;
}

/** The upsert values that a row had and has, as expressions; none for a mapping without an upsert field. */
function upsertValues(alias: string, { shape }: MappedTable): readonly string[] {
  const column = upsertColumn(shape);
  if (column === null) return [];
  return [`${alias}.old`, `${alias}."values"`].map((side) => `lower(btrim(${side} ->> ${literal(column)}))`);
}

const upsertColumn = ({ columns, upsertField }: MappedTable["shape"]): string | null =>
  columns.find(({ field }) => field === upsertField)?.column ?? null;

/** An index takes no longer entries. */
const MOST_BYTES = 1_000;

/**
 * A further assignment, for an UPDATE of the log as `l`, that notes the upsert value of a change that begins to block
 * others, so that claims find it by an index. A change with two values, or with a very long one, gets no note, and each
 * claim reads it (`unnoted`). The note names its column: it says nothing of another upsert field.
 */
export function setsBlockedKey(mapped: MappedTable, condition = "true"): string {
  const [old, current] = upsertValues("l", mapped);
  if (old === undefined || current === undefined) return "";
  const value = `coalesce('key ' || ${old}, 'key ' || ${current}, '')`;
  return `, upsert_key = CASE WHEN ${condition} AND (${old} = ${current}) IS DISTINCT FROM false
          AND octet_length(${value}) <= ${MOST_BYTES} THEN ${literal(noteOf(mapped))} || ${value} END`;
}

const noteOf = ({ shape }: MappedTable) => `${upsertColumn(shape)}\u0001`;

/**
 * A condition of a candidate, by index: nothing that waits for its time or is held blocks it. That is any change of its
 * row, unless that waits for its parent, whose key the candidate may correct; and an earlier one of its sfid or upsert
 * value. `isBlocking` is the condition of such a change, as `b`.
 *
 * Each is looked for by a scalar subquery, which the planner can turn neither into a join nor into a hash of a backlog.
 */
export function isUnblocked(log: string, alias: string, mapped: MappedTable, isBlocking: string): string {
  const none = (by: Parameters<typeof mayBlock>[2], condition: string) =>
    `(SELECT b.id FROM ${log} b WHERE ${mayBlock("b", literal(mapped.shape.table), by)} AND ${condition} AND ${isBlocking}
            AND (b.record_id = ${alias}.record_id AND ${waitsForParent("b.")}) IS NOT TRUE LIMIT 1) IS NULL`;
  const earlier = `b.id + 0 < ${alias}.id`; // or an index in the order of ids would seem to serve
  const values = upsertValues(alias, mapped).map((value) => `${literal(noteOf(mapped))} || 'key ' || ${value}`);
  return [
    none("row", `b.record_id = ${alias}.record_id`),
    none("record", `left(b.sfid, 15) = left(${alias}.sfid, 15) AND ${earlier}`),
    // One by one: before PostgreSQL 17 the planner may read all entries of the table for a list of two.
    ...values.map((value) => none("key", `b.upsert_key = ${value} AND ${earlier}`)),
  ].join("\n          AND ");
}

/** Conditions of changes as `b` whose upsert value is not in the index; each is a part of it. */
export function unnoted(mapped: MappedTable): readonly string[] {
  if (upsertColumn(mapped.shape) === null) return [];
  const note = noteOf(mapped);
  const end = `${note.slice(0, -1)}\u0002`;
  return ["b.upsert_key IS NULL", `b.upsert_key < ${literal(note)}`, `b.upsert_key >= ${literal(end)}`];
}
