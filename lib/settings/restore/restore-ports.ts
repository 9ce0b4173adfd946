import * as z from "zod/mini";
import type { Decision } from "../../model/change/rewound.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import type { CamelCased } from "../../model/snake-case.ts";

/** A change that waits for a decision. */
const restoredChange = z.object({
  trigger_log_id: z.int(),
  record_id: z.int(),
  action: z.string(),
  sfid: z.nullable(z.string()),
  message: z.nullable(z.string()),
});

/** Restored changes of a mapping of which the same was found; null: they are not looked up yet. */
export const restoredGroup = z.object({
  group: z.nullable(z.string()),
  rows: z.int(),
  samples: z.array(restoredChange),
});

/** What a customer's database says of a mapping after a restore. */
export interface RestoredMapping {
  readonly mappingId: string;
  /** The version of the configuration that its table has, and that table. */
  readonly version: number;
  readonly shape: TableShape;
  readonly groups: readonly CamelCased<typeof restoredGroup>[];
}

/** A decision of the changes of one row, or else of those of a group. */
export interface Decided {
  readonly recordId: number | null;
  readonly group: string | null;
  readonly decision: Decision;
}

/** What the settings area asks a customer's database after a restore. */
export interface RestoredRows {
  restored(): Promise<readonly RestoredMapping[]>;
  /** Marks restored changes as decided, but for those of some rows; cycles carry it out once the restore is accepted. How many rows. */
  decide(mappingId: string, decisions: readonly Decided[], exceptRecordIds: readonly number[]): Promise<number>;
}

/** What the service has of restores outside of the customer's database. */
export interface Restores {
  /** From now on these mappings send nothing until their restore is accepted. */
  begin(workspaceId: string, mappingIds: readonly string[], at: Date): Promise<void>;
  /** The database counts as it is now. */
  accept(workspaceId: string, mappingId: string): Promise<void>;
}
