import type { TableShape } from "../../../model/mapping/shape.ts";
import type { MappedTable, Session } from "../session/sql.ts";

/** A product that has captured the tables of a schema, and whose work Bridge continues table by table. */
export interface Predecessor {
  /** Ends its capture of a table, in the caller's transaction; null: it captures nothing there. */
  endCapture(session: Session, shape: TableShape): Promise<Succession | null>;
  /** Statements by which its columns say what ours say; they do nothing where it has none. */
  keepColumns(mapped: MappedTable): string;
  /** Statements that end this, harmless where there is nothing to end. */
  dropColumns(schema: string, table: string): string;
}

/** How a mapping continues where its predecessor ended, in the same transaction. */
export interface Succession {
  /** Makes the changes ours that still wait, before our triggers capture. */
  importLog(mapped: MappedTable, at: Date): Promise<void>;
  /** Lets pulls begin where its own ended, once the mapping's state is kept. `addedColumns` were not there before. */
  startPulls(mapped: MappedTable, addedColumns: readonly string[], at: Date): Promise<void>;
}
