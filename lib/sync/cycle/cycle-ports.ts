import type { DescribedObject } from "../../model/mapping/describe.ts";
import type { DoubtStore } from "../doubt/doubt-ports.ts";
import type { LeaseStore } from "../lease/lease-ports.ts";
import type { BulkQueries } from "../load/load-ports.ts";
import type { PullStore, Queries } from "../pull/pull-ports.ts";
import type { BulkSaves, PushStore, Saves } from "../push/push-ports.ts";

/**
 * One mapping's side of the customer's database, on one connection, for the time of one cycle. Every wait ends within
 * the deadline of 15 s. What asks for a lease throws `LeaseLost` when it is gone; `settle` alone still takes results
 * after a change of configuration, because they tell what Salesforce has done.
 */
export interface CycleStore extends LeaseStore, DoubtStore, PushStore, PullStore {}

/** The connected org. Every HTTP request is counted once under its label; refusals are thrown as `SalesforceRefusal`. */
export interface Salesforce extends Queries, BulkQueries, Saves, BulkSaves {
  /** The object's description (describeSObject), as Salesforce tells it. */
  describe(object: string): Promise<DescribedObject>;
  /** Counted calls by label since this client was made. */
  calls(): Readonly<Record<string, number>>;
  /** The org's own count of the last 24 hours, as the last answer told it; null before the first. */
  usage(): { readonly used: number; readonly limit: number } | null;
}
