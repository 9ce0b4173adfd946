import { Failure } from "../../../model/failure.ts";
import type { Migration, ProposedIndex } from "../../../model/mapping/migration.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import type { CatalogTable } from "../capture/catalog.ts";
import { name, qualified, type Session } from "../session/sql.ts";
import { sqlState } from "../session/sql-errors.ts";
import { indexNames } from "./identifiers.ts";

type Index = Omit<ProposedIndex, "name">;

/** The indexes that a table lacks, also those of columns that it lacks, with names that they may have. */
export async function missingIndexes(
  session: Session,
  shape: TableShape,
  table: CatalogTable | null,
): Promise<readonly ProposedIndex[]> {
  const missing: ProposedIndex[] = [];
  for (const index of wanted(shape)) {
    if (table !== null && isIndexed(table, index)) continue;
    missing.push({ ...index, name: await freeName(session, shape, index) });
  }
  return missing;
}

/** Whether a table has such an index, by whatever name. */
export const isIndexed = ({ unique, indexed }: CatalogTable, index: Index): boolean =>
  (index.unique ? unique : indexed).includes(index.column);

/** Builds what a table in use lacks of its indexes, as far as their columns exist, without holding its writers up. */
export async function buildMissingIndexes(session: Session, shape: TableShape, table: CatalogTable): Promise<void> {
  const columns = table.columns.map(({ column }) => column);
  for (const index of wanted(shape).filter(({ column }) => columns.includes(column))) {
    const isTooStrict = !index.unique && table.unique.includes(index.column);
    const isDropped = isTooStrict && (await dropOurs(session, shape, { ...index, unique: true }));
    if (isIndexed(table, index) && !isDropped) continue;
    await dropUnfinished(session, shape, index);
    await build(session, shape, index);
  }
}

/**
 * Drops the index on `systemmodstamp` that versions up to 0.3 made, where no application reads by it. It changes with
 * each pull, so no update of a row could stay in its page (HOT), and a pulled row cost twice as much.
 */
export async function dropStampIndex(session: Session, shape: TableShape): Promise<void> {
  const index = { column: "systemmodstamp", unique: false };
  const ours = await session.query<{ relname: string }>(
    `SELECT indexrelname AS relname FROM pg_stat_user_indexes
     WHERE relid = to_regclass($1)::oid AND indexrelname = ANY ($2::text[]) AND idx_scan <= $3`,
    [qualified(shape.schema, shape.table), namesOf(shape, index), OWN_SCANS],
  );
  for (const { relname } of ours) await session.query(`DROP INDEX CONCURRENTLY ${qualified(shape.schema, relname)}`);
}

/** Dry runs and first loads have read by it; an application that polls has done so more often. */
const OWN_SCANS = 100;

/** Drops the index that versions before have made on a column whose values may repeat; one of the application's own stays. */
async function dropOurs(session: Session, shape: TableShape, index: Index): Promise<boolean> {
  const ours = await session.query<{ relname: string }>(
    `SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indrelid = to_regclass($1)::oid AND c.relname = ANY ($2::text[]) AND i.indisunique
       AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = c.oid)`,
    [qualified(shape.schema, shape.table), namesOf(shape, index)],
  );
  for (const { relname } of ours) await session.query(`DROP INDEX CONCURRENTLY ${qualified(shape.schema, relname)}`);
  return ours.length > 0;
}

function wanted(shape: TableShape): Index[] {
  const upsert = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  return [
    { column: "sfid", unique: true },
    // Records that share a value would each need a row of their own.
    ...(upsert === undefined ? [] : [{ column: upsert, unique: shape.repeatsUpsertValues !== true }]),
    ...(shape.indexes ?? []).filter(({ column }) => column !== upsert),
  ];
}

async function build(session: Session, shape: TableShape, index: Index): Promise<void> {
  const named = { ...index, name: await freeName(session, shape, index) };
  try {
    await session.query(`${createIndex(shape, named, { concurrently: true })} ${storageOf(index)}`);
  } catch (error) {
    await dropUnfinished(session, shape, index);
    if (sqlState(error) !== "23505") throw error;
    throw new Failure(
      "CONFLICT",
      `${shape.schema}.${shape.table}.${index.column} holds values more than once, so it cannot be unique; make them unique, or choose another upsert_field or other indexes`,
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

const namesOf = (shape: TableShape, { column, unique }: Index) =>
  indexNames(shape.table, column, unique ? "key" : "idx");

/** The statement that builds an index; `storageOf` may follow. */
export function createIndex(
  { schema, table }: Pick<Migration, "schema" | "table">,
  index: ProposedIndex,
  { concurrently }: { readonly concurrently: boolean },
): string {
  const what = index.unique ? "UNIQUE INDEX" : "INDEX";
  return `CREATE ${what}${concurrently ? " CONCURRENTLY" : ""} ${name(index.name)} ON ${qualified(schema, table)} (${name(index.column)})`;
}

/**
 * Each new version of a row would be merged with the others of its value: a fifth of what an UPDATE costs, the
 * application's as well as ours. Not proposed, for an ORM would report it as drift.
 */
export const storageOf = ({ unique }: Index): string => (unique ? "" : "WITH (deduplicate_items = off)");
