import { columnType } from "../../../model/mapping/column-type.ts";
import type { Migration, Proposal, ProposedColumn } from "../../../model/mapping/migration.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import type { PostgresConnection } from "../../../model/workspace/workspace.ts";
import { type CatalogTable, readTable } from "../capture/catalog.ts";
import { type Ask, name, OWN_COLUMNS, qualified, type Session } from "../session/sql.ts";
import { createIndex, isIndexed, missingIndexes } from "./indexes.ts";
import { widerType } from "./widen-columns.ts";

/** The migration that gives a table everything that it lacks of a shape. Lists no columns that could be wider. */
export async function proposeMigration(
  session: Session,
  shape: TableShape,
  table: CatalogTable | null,
): Promise<Migration> {
  return {
    schema: shape.schema,
    table: shape.table,
    create: table === null,
    columns: missingColumns(shape, table),
    wider: [],
    indexes: await missingIndexes(session, shape, table),
  };
}

/** What of these migrations is still to be done; none where Bridge changes tables itself. */
export async function readProposals(
  session: { readonly query: Ask },
  { schemaChanges }: PostgresConnection,
  migrations: readonly Migration[],
): Promise<readonly Proposal[]> {
  if (schemaChanges !== "propose") return [];
  const proposals: Proposal[] = [];
  for (const migration of migrations) {
    const left = leftOf(migration, await readTable(session, migration.schema, migration.table));
    if (left !== null) proposals.push({ ...left, sql: migrationStatements(left) });
  }
  return proposals;
}

/** Null: nothing is left to be done, or the table was dropped meanwhile, so that more is. */
function leftOf(migration: Migration, table: CatalogTable | null): Migration | null {
  if (table === null) return migration.create ? migration : null;
  const types = new Map(table.columns.map(({ column, exactType }) => [column, exactType]));
  const columns = migration.columns.filter(({ column }) => !types.has(column));
  const wider = migration.wider.filter(({ column, type }) => widerType(types.get(column) ?? type, type) !== null);
  const indexes = migration.indexes.filter((index) => !isIndexed(table, index));
  const isDone = columns.length + wider.length + indexes.length === 0;
  return isDone ? null : { ...migration, create: false, columns, wider, indexes };
}

/** The columns that a table lacks, with their types: Bridge's own first, then the mapped ones. */
export function missingColumns(shape: TableShape, table: CatalogTable | null): readonly ProposedColumn[] {
  const known = new Set(table?.columns.map(({ column }) => column));
  return [
    ...Object.entries(OWN_COLUMNS).map(([column, type]) => ({ column, type })),
    ...shape.columns.map((column) => ({ column: column.column, type: columnType(column) })),
  ].filter(({ column }) => !known.has(column));
}

/** The statements of a migration. Indexes of a table that is there are built beside its writers: in no transaction. */
function migrationStatements(migration: Migration): readonly string[] {
  const { schema, table, create, wider, indexes } = migration;
  return [
    ...tableStatements(migration),
    ...(wider.length > 0 ? [`ALTER TABLE ${qualified(schema, table)} ${wider.map(widened).join(", ")}`] : []),
    ...indexes.map((index) => createIndex(migration, index, { concurrently: !create })),
  ];
}

const widened = ({ column, type }: ProposedColumn) => `ALTER COLUMN ${name(column)} TYPE ${type}`;

/**
 * What its pages are filled to, in percent: an update of the application's comes twice, as it is and with our result,
 * and for some rows of a page both find room beside the row, so that no index of the table has to be written.
 */
const FILLED = 90;

/** Creates the table, or adds its columns, without indexes. */
export function tableStatements(migration: Omit<Migration, "wider" | "indexes">): readonly string[] {
  const { create, columns } = migration;
  const table = qualified(migration.schema, migration.table);
  const definitions = columns.map(({ column, type }) => `${name(column)} ${type}`);
  if (create) {
    return [
      `CREATE TABLE ${table} (id bigserial PRIMARY KEY, ${definitions.join(", ")}) WITH (fillfactor = ${FILLED})`,
    ];
  }
  return columns.length === 0
    ? []
    : [`ALTER TABLE ${table} ${definitions.map((one) => `ADD COLUMN ${one}`).join(", ")}`];
}
