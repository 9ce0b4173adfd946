import type { TableShape } from "../../model/shape.ts";
import type { CatalogTable } from "./catalog.ts";
import { indexName } from "./identifiers.ts";
import { name, qualified } from "./sql.ts";

/**
 * The statements that make the indexes which a mapped table lacks; all of them for a table that is being created
 * (null). On a table that is in use they are built CONCURRENTLY and must run outside a transaction.
 */
export function missingIndexes(shape: TableShape, table: CatalogTable | null): string[] {
  const upsert = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  const unique = ["sfid", ...(upsert === undefined ? [] : [upsert])].filter(
    (column) => !table?.unique.includes(column),
  );
  const plain = ["systemmodstamp"].filter((column) => !table?.indexed.includes(column));
  return [
    ...unique.map((column) => create(shape, "UNIQUE INDEX", column, "key", table !== null)),
    ...plain.map((column) => create(shape, "INDEX", column, "idx", table !== null)),
  ];
}

function create(shape: TableShape, what: string, column: string, kind: "key" | "idx", inUse: boolean): string {
  const concurrently = inUse ? "CONCURRENTLY " : "";
  const index = name(indexName(shape.table, column, kind));
  return `CREATE ${what} ${concurrently}IF NOT EXISTS ${index} ON ${qualified(shape.schema, shape.table)} (${name(column)})`;
}
