import type { Mapping } from "../../model/mapping/mapping.ts";
import type { Migration, Proposal } from "../../model/mapping/migration.ts";
import type { TableShape } from "../../model/mapping/shape.ts";

/** Tables, triggers and metadata of a mapping, made and kept. */
export interface Provisioner {
  /**
   * Makes or changes schema, metadata tables, table, columns, indexes and triggers for this version; repeatable; refuses
   * with a `Failure` that names the remedy. Where the application changes its tables itself, triggers and metadata alone.
   */
  provision(
    mapping: Mapping,
    shape: TableShape,
  ): Promise<{
    /** The database had no state of the mapping: how far it was there begins again. */
    readonly isNew: boolean;
    /** False: rows that are marked to be captured are left; provision again. */
    readonly isCaptured: boolean;
    /** Columns that could not follow a field that has grown, and why. */
    readonly narrow: readonly { readonly column: string; readonly type: string; readonly reason: string }[];
    /** What the application's own migration must change; while it is awaited (`isAwaited`) nothing was created. */
    readonly migration: Migration | null;
  }>;
  /** What of these migrations is still to be done; none where Bridge changes tables itself. */
  propose(migrations: readonly Migration[]): Promise<readonly Proposal[]>;
  /** Brings the metadata tables of a workspace to this version; those of a newer one stay as they are. */
  upgrade(workspaceId: string): Promise<void>;
  /** The same for the mapping's workspace, and replaces triggers of its table that an older version has made. */
  migrate(mapping: Mapping): Promise<void>;
  /** Ends capture and forgets the mapping's state; table and rows stay. */
  retire(mapping: Mapping): Promise<void>;
}
