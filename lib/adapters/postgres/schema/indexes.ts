import { Failure } from "../../../model/failure.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import type { CatalogTable } from "../capture/catalog.ts";
import { name, qualified, type Session } from "../session/sql.ts";
import { sqlState } from "../session/sql-errors.ts";
import { indexNames } from "./identifiers.ts";

interface Index {
  readonly column: string;
  readonly isUnique: boolean;
}

/** The statements that make the indexes of a table which is being created. */
export async function newIndexes(session: Session, shape: TableShape): Promise<string[]> {
  const statements: string[] = [];
  for (const index of wanted(shape)) {
    statements.push(createStatement(shape, index, await freeName(session, shape, index), ""));
  }
  return statements;
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
  const indexName = await freeName(session, shape, index);
  try {
    await session.query(createStatement(shape, index, indexName, "CONCURRENTLY"));
  } catch (error) {
    await dropUnfinished(session, shape, index);
    if (sqlState(error) !== "23505") throw error;
    throw new Failure(
      "CONFLICT",
      `${shape.schema}.${shape.table}.${index.column} holds values more than once, so it cannot tell records apart; make them unique, or choose another upsert_field`,
    );
  }
}

/** An index whose building was interrupted stays behind, invalid, under a name that the next attempt may take. */
async function dropUnfinished(session: Session, shape: TableShape, index: Index): Promise<void> {
  const unfinished = await session.query<{ relname: string }>(
    `SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
       JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
     WHERE n.nspname = $1 AND t.relname = $2 AND c.relname = ANY ($3::text[]) AND NOT i.indisvalid`,
    [shape.schema, shape.table, namesOf(shape, index)],
  );
  for (const { relname } of unfinished) {
    await session.query(`DROP INDEX CONCURRENTLY ${qualified(shape.schema, relname)}`);
  }
}

/** The first of its names that nothing in the schema has; tables, sequences and indexes share them. */
async function freeName(session: Session, shape: TableShape, index: Index): Promise<string> {
  const names = namesOf(shape, index);
  const taken = await session.query<{ relname: string }>(
    "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = ANY ($2::text[])",
    [shape.schema, names],
  );
  const free = names.find((one) => taken.every(({ relname }) => relname !== one));
  if (free !== undefined) return free;
  throw new Failure(
    "CONFLICT",
    `an index on ${shape.schema}.${shape.table}.${index.column} would be named ${names.join(" or ")}, and other things have these names; rename them`,
  );
}

const namesOf = (shape: TableShape, { column, isUnique }: Index) =>
  indexNames(shape.table, column, isUnique ? "key" : "idx");

function createStatement(shape: TableShape, index: Index, indexName: string, how: "" | "CONCURRENTLY"): string {
  const on = qualified(shape.schema, shape.table);
  const what = index.isUnique ? "UNIQUE INDEX" : "INDEX";
  // Few records share a stamp, yet each new version of a row would be laid together with the others of its stamp: a
  // fifth of what an UPDATE costs, the application's as well as ours.
  const storage = index.isUnique ? "" : "WITH (deduplicate_items = off)";
  return `CREATE ${what} ${how} ${name(indexName)} ON ${on} (${name(index.column)}) ${storage}`;
}
