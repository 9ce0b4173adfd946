import { stampOf } from "../clock.ts";
import type { SObject } from "../metadata/sobject.ts";
import type { Row } from "../store/database.ts";
import { NO_HEADERS, type SaveHeaders } from "./save-headers.ts";

/** The transaction in which records are saved: who saves, and when it began (its stamp, whenever it commits). */
export interface Saving {
  readonly userId: string;
  readonly startedAt: Date;
  /** Every record saved in it carries this SystemModstamp (salesforce-facts 9). */
  readonly stamp: string;
  /** Records that another open transaction holds; saving them fails with UNABLE_TO_LOCK_ROW. */
  readonly lockedIds: ReadonlySet<string>;
  /** Asked before each record is written; throws a Refusal where a fault was ordered. */
  readonly beforeRecord: (object: SObject, id: string | null, values: () => readonly string[]) => void;
  readonly headers: SaveHeaders;
  /** Asked before the records of one transaction are written; what it throws refuses all of them, as a trigger's limit does. */
  readonly beforeChunk: (object: SObject, records: number, values: () => readonly string[]) => void;
}

/** The stamp of a record that was there before: it can commit after a later save of it, but never goes back. */
export function laterStamp({ stamp }: Saving, prior: Row): string {
  const before = String(prior["SystemModstamp"]);
  return stamp < before ? before : stamp;
}

/** The org's own saves: at once, as its administrator, under the time of now, and past every ordered fault. */
export function ownSaving(userId: string, startedAt: Date): Saving {
  return {
    userId,
    startedAt,
    stamp: stampOf(startedAt),
    lockedIds: new Set(),
    beforeRecord: () => {},
    beforeChunk: () => {},
    headers: NO_HEADERS,
  };
}
