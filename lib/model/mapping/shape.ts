import type { DeleteLimit } from "./delete-breaker.ts";
import type { FieldType } from "./field-type.ts";
import type { CaptureMode, ConflictPolicy, SyncDirection } from "./mapping.ts";
import type { ParentKey } from "./parent-key.ts";

/** One mapped field and its column, as provisioned. */
export interface Column {
  /** API name, `LastName`; of a parent's key `Account__External_Id__c`. */
  readonly field: string;
  /** `lastname`. */
  readonly column: string;
  readonly type: FieldType;
  readonly length: number;
  readonly precision: number;
  readonly scale: number;
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly nillable: boolean;
  /** Objects that a reference points to. */
  readonly referenceTo: readonly string[];
  /** It holds an external id of the parent instead of a value of the record. */
  readonly parent?: ParentKey;
  /** The size of its field, where something of the customer's keeps the column narrower. */
  readonly outgrown?: Pick<Column, "length" | "precision" | "scale">;
}

/** A mapping's table as it was provisioned for one config version; kept in `_bridge_state`, so a cycle asks no describe. */
export interface TableShape {
  readonly mappingId: string;
  readonly configVersion: number;
  readonly schema: string;
  readonly table: string;
  readonly sfObject: string;
  readonly direction: SyncDirection;
  readonly conflictPolicy: ConflictPolicy;
  /** Left out by older versions: `origin`. */
  readonly capture?: CaptureMode;
  /** Left out by older versions: `auto`. */
  readonly deleteLimit?: DeleteLimit;
  /** Mapped fields beyond Id, SystemModstamp and IsDeleted, by column name. */
  readonly columns: readonly Column[];
  /** API name of the upsert field, which is then one of `columns`. */
  readonly upsertField: string | null;
  /** Salesforce lets several records have one value of the upsert field. */
  readonly repeatsUpsertValues?: true;
  /** Indexes of columns that the mapping asks for beyond those that Bridge needs. */
  readonly indexes?: readonly { readonly column: string; readonly unique: boolean }[];
  /** Fields that the object requires of a new record, and the mapping lacks. */
  readonly lacking?: readonly string[];
  /** Rendered SOQL condition of the mapping's filter. */
  readonly filter: string | null;
  readonly softDeletes: boolean;
  /** Salesforce finds its records by who saved them last; left out by older versions. */
  readonly namesWriter?: true;
}

/** Values by column name, as PostgreSQL's text output; null is NULL. Exact for every type, decimals included. */
export type ColumnValues = Readonly<Record<string, string | null>>;
