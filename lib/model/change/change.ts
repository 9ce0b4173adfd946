import type { ColumnValues } from "../mapping/shape.ts";

/** The states of a trigger-log row (contract 3.1). Finer reasons live in private columns, never in a fifth state. */
export const STATES = ["NEW", "PENDING", "SUCCESS", "FAILED"] as const;
export type State = (typeof STATES)[number];

/** What happened to the row, as captured. */
export const ACTIONS = ["INSERT", "UPDATE", "DELETE"] as const;
export type Action = (typeof ACTIONS)[number];

/** What was last done to a row or is still to be done. */
export type LastOperation = "PENDING" | "INSERTED" | "UPDATED" | "DELETED" | "SYNCED" | "FAILED";

/**
 * The batch of changes that another product had under way at the takeover: by whom and when they were sent, between
 * their capture and then, is unknown.
 */
export const BATCH_OF_ANOTHER = "another product";

/** A captured change, claimed by a cycle. */
export interface ClaimedChange {
  /** Trigger-log id: the order in which changes were captured. */
  readonly id: number;
  readonly action: Action;
  /** The row's `id`. */
  readonly recordId: number;
  /** The row's sfid now, else the one captured; null: Salesforce has no record yet, as far as we know. */
  readonly sfid: string | null;
  /** UPDATE: what the changed columns held before; DELETE: what the row held. Where it is large, the upsert column alone. */
  readonly old: ColumnValues;
  /** INSERT: every mapped column that is not NULL; UPDATE: the changed ones; DELETE: empty. */
  readonly values: ColumnValues;
  readonly attempts: number;
  readonly capturedAt: Date;
  /** Set: it was sent, and its result is unknown. */
  readonly sent?: { readonly at: Date; readonly batchId: string };
}
