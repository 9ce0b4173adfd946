import type { Bulk } from "./bulk/bulk.ts";
import type { PartsBeforeBulk } from "./parts-before-bulk.ts";

/** The parts of a running org, from which each protocol takes what it needs. */
export interface Parts extends PartsBeforeBulk {
  readonly bulk: Bulk;
}
