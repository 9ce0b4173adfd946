import * as z from "zod/mini";
import type { SealedWorkspace } from "../../access/ports.ts";
import { Failure } from "../../model/failure.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import { withIds } from "../../model/mapping/soql.ts";
import { imageOf, sfidOf } from "../../model/record/incoming.ts";
import { ROW_STATES } from "../../model/record/row-state.ts";
import { isSameValue } from "../../model/record/same-value.ts";
import { withDatabase } from "../../monitoring/with-database.ts";
import type { BrowsedRows, RowQueriesOf, RowsAsked } from "../row-ports.ts";

const texts = z.nullable(z.record(z.string(), z.nullable(z.string())));

/** Some rows of a mapped table. `salesforce`: what the record holds otherwise, where that was asked. */
export const rowsView = z.object({
  columns: z.array(z.object({ field: z.string(), column: z.string(), type: z.string() })),
  rows: z.array(
    z.object({
      record_id: z.int(),
      sfid: z.nullable(z.string()),
      state: z.enum(ROW_STATES),
      error: z.nullable(z.string()),
      values: texts,
      salesforce: texts,
    }),
  ),
  next: z.nullable(z.string()),
  salesforce_error: z.nullable(z.string()),
});

const CURSOR = /^([a-z_]+):(-?\d{1,18})$/;

/** `next` of a page: the state and the key of its last row. */
export function cursorIn(text: string): RowsAsked["after"] {
  const [, state, key] = CURSOR.exec(text) ?? [];
  const known = ROW_STATES.find((one) => one === state);
  return known === undefined || key === undefined ? null : { state: known, key };
}

interface Needs {
  readonly rowQueries: RowQueriesOf;
  readonly recordsOf: (workspaceId: string, soql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

interface Asked extends Omit<RowsAsked, "limit"> {
  readonly workspace: SealedWorkspace;
  readonly mapping: Mapping;
  readonly limit: number;
  /** The token may see values. */
  readonly showsValues: boolean;
  /** The records are read as well, in one call of the org. */
  readonly comparesSides: boolean;
}

/** A page of a mapping's rows: each with its state and mapped columns. */
export async function browseRows(needs: Needs, asked: Asked): Promise<z.infer<typeof rowsView>> {
  const { workspace, mapping, showsValues, comparesSides, limit } = asked;
  if (!showsValues && (asked.find !== null || comparesSides))
    throw new Failure(
      "FORBIDDEN",
      "to search and to compare shows values of rows: that takes a token of scope operate",
    );
  const found = await withDatabase(needs.rowQueries, workspace, (queries) =>
    queries.browse(mapping.id, { ...asked, limit: limit + 1 }),
  );
  if (found === null) return { columns: [], rows: [], next: null, salesforce_error: null };
  if (found === "unknownColumn")
    throw new Failure("VALIDATION_ERROR", `column: is no mapped column of ${mapping.pgTable}`);
  if (found === "tooLong")
    throw new Failure(
      "CONFLICT",
      "the search took longer than 5 s: choose one column, a state, or find the row by its key",
    );
  const rows = found.rows.slice(0, limit);
  const last = found.rows.length > limit ? rows.at(-1) : undefined;
  const theirs = comparesSides
    ? await readRecords(needs, workspace, { ...found, rows })
    : { bySfid: null, error: null };
  return {
    columns: found.shape.columns.map(({ field, column }) => ({ field, column, type: found.types[column] ?? "text" })),
    rows: rows.map(({ recordId, sfid, state, error, values }) => ({
      ...{ record_id: Number(recordId), sfid, state },
      error: showsValues ? error : null,
      values: showsValues ? values : null,
      salesforce: theirs.bySfid?.get(sfid ?? "") ?? null,
    })),
    next: last ? `${last.state}:${last.recordId}` : null,
    salesforce_error: theirs.error,
  };
}

/** What records hold otherwise than their rows, by their ids. */
async function readRecords({ recordsOf }: Needs, { id }: SealedWorkspace, { shape, rows }: BrowsedRows) {
  const bySfid = new Map<string, Record<string, string | null>>();
  const known = new Map(rows.flatMap((row) => (row.sfid === null ? [] : [[row.sfid, row]])));
  if (known.size === 0) return { bySfid, error: null };
  try {
    for (const record of await recordsOf(id, withIds(shape, [...known.keys()]))) {
      const { values } = imageOf(shape, record);
      const row = known.get(sfidOf(record))?.values ?? {};
      const other = shape.columns.filter((of) => !isSameValue(of, row[of.column] ?? null, values[of.column] ?? null));
      bySfid.set(sfidOf(record), Object.fromEntries(other.map(({ column }) => [column, values[column] ?? null])));
    }
    return { bySfid, error: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { bySfid, error: error.message };
  }
}
