import * as z from "zod/mini";
import type { CamelCased } from "../../model/snake-case.ts";
import { timestamp } from "../shapes.ts";

/** A delete that the breaker holds back. */
export const heldDelete = z.object({
  /** What would be deleted: the row, for its record was deleted; or the record, for its row was. */
  deletes: z.enum(["row", "record"]),
  sfid: z.nullable(z.string()),
  /** The row's key; null where the row is known by its sfid alone. */
  record_id: z.nullable(z.int()),
  at: timestamp(),
});
export type HeldDelete = CamelCased<typeof heldDelete>;

/** A delete that stays held although it was rejected. */
export const stayingDelete = z.extend(z.omit(heldDelete, { at: true }), { reason: z.string() });
export type StayingDelete = CamelCased<typeof stayingDelete>;

/** What rejecting all held deletes of a mapping would come to. */
export interface RejectForecast {
  /** Rows that would be inserted again. */
  readonly rows: number;
  /** Records that would be undeleted. */
  readonly records: number;
  /** Columns of the table that the log does not hold: their values do not come back. */
  readonly lostColumns: readonly string[];
  /** Tables whose rows went with a row, or lost their parent, by their foreign key. */
  readonly lostChildren: readonly string[];
}

/** How some deletes were rejected. */
export interface Rejected {
  readonly done: number;
  readonly staying: readonly StayingDelete[];
}

/** Takes back deletes that the breaker holds. */
export interface Rejections {
  forecastReject(mappingId: string): Promise<RejectForecast>;
  /**
   * Inserts rows again under their keys, with what was logged of their mapped columns and their sfid, uncaptured; those of
   * the first held deletes after an id of the log. `last`: where to go on; null: no more are held.
   */
  putBackRows(
    mappingId: string,
    after: number | null,
    limit: number,
  ): Promise<Rejected & { readonly last: number | null }>;
  /** Records whose deletion is held back from their rows, by id, after one. */
  heldRecords(mappingId: string, after: string, limit: number): Promise<readonly string[]>;
  /** Their rows stay, for the records are back. */
  keepRows(mappingId: string, sfids: readonly string[]): Promise<void>;
  /** Rows of records that are gone for good lose their sfid and are captured as if they were inserted now. */
  captureAsNew(mappingId: string, sfids: readonly string[]): Promise<Rejected>;
}
