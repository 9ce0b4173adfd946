import { Failure } from "../../model/failure.ts";
import type { TableShape } from "../../model/shape.ts";
import type { CatalogTable } from "./catalog.ts";
import { indexName } from "./identifiers.ts";
import { sqlState } from "./patience.ts";
import type { Session } from "./session.ts";
import { literal, name, qualified } from "./sql.ts";

interface Index {
  readonly column: string;
  readonly isUnique: boolean;
}

/** The statements that make the indexes of a table which is being created. */
export function newIndexes(shape: TableShape): string[] {
  return wanted(shape).map((index) => createStatement(shape, index, ""));
}

/** Builds what a table in use lacks of its indexes, as far as their columns exist, without holding its writers up. */
export async function buildMissingIndexes(session: Session, shape: TableShape, table: CatalogTable): Promise<void> {
  const columns = table.columns.map(({ column }) => column);
  const missing = wanted(shape)
    .filter(({ column }) => columns.includes(column))
    .filter(({ column, isUnique }) => !(isUnique ? table.unique : table.indexed).includes(column));
  for (const index of missing) {
    await dropUnfinished(session, shape, index);
    await build(session, shape, index);
  }
}

function wanted(shape: TableShape): Index[] {
  const upsert = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  return [
    { column: "sfid", isUnique: true },
    { column: "systemmodstamp", isUnique: false },
    ...(upsert === undefined ? [] : [{ column: upsert, isUnique: true }]),
  ];
}

async function build(session: Session, shape: TableShape, index: Index): Promise<void> {
  try {
    await session.query(createStatement(shape, index, "CONCURRENTLY"));
  } catch (error) {
    await dropUnfinished(session, shape, index);
    if (sqlState(error) !== "23505") throw error;
    throw new Failure(
      "CONFLICT",
      `${shape.schema}.${shape.table}.${index.column} holds values more than once, so it cannot tell records apart; make them unique, or choose another upsert_field`,
    );
  }
}

/** An index whose building was interrupted stays behind, invalid, under the name that the next attempt needs. */
async function dropUnfinished(session: Session, shape: TableShape, index: Index): Promise<void> {
  const unfinished = await session.query(
    `SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ${literal(shape.schema)} AND c.relname = ${literal(nameOf(shape, index))} AND NOT i.indisvalid`,
  );
  if (unfinished.length === 0) return;
  await session.query(`DROP INDEX CONCURRENTLY ${qualified(shape.schema, nameOf(shape, index))}`);
}

const nameOf = (shape: TableShape, { column, isUnique }: Index) =>
  indexName(shape.table, column, isUnique ? "key" : "idx");

function createStatement(shape: TableShape, index: Index, how: "" | "CONCURRENTLY"): string {
  const on = qualified(shape.schema, shape.table);
  const what = index.isUnique ? "UNIQUE INDEX" : "INDEX";
  // Few records share a stamp, yet each new version of a row would be laid together with the others of its stamp: a
  // fifth of what an UPDATE costs, the application's as well as ours.
  const storage = index.isUnique ? "" : "WITH (deduplicate_items = off)";
  return `CREATE ${what} ${how} ${name(nameOf(shape, index))} ON ${on} (${name(index.column)}) ${storage}`;
}
