import type { Page, Slice } from "../model/page.ts";
import type { AuditEntry, ListedEntry } from "../model/workspace/audit.ts";

/** Which entries of a workspace's audit log; null does not filter. */
export interface AuditFilter {
  readonly workspaceId: string;
  /** E-mail address in lower case, or `system`. */
  readonly actor: string | null;
  readonly action: string | null;
  /** From this time on, and before that one, by the order of the log: one that was written seconds late counts as its neighbours. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** The audit log as it is read, by entries as the contract's list shows them: most recent first, totals exact at any size, every page at the same cost. */
export interface AuditLog {
  page(filter: AuditFilter, slice: Slice): Promise<Page<ListedEntry>>;
  /**
   * The entries that match from `offset` on, `limit` of them or all, in batches, so that memory stays flat. Rejects before
   * the first batch where there is no such entry as `beforeId`.
   */
  batches(
    filter: AuditFilter,
    slice: Omit<Slice, "limit"> & { readonly limit: number | null },
  ): Promise<AsyncIterable<readonly ListedEntry[]>>;
}

/** Stores an entry for an action that changes nothing else of the service's own state. */
export interface AuditTrail {
  append(entry: AuditEntry): Promise<void>;
}
