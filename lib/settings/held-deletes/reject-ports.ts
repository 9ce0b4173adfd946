import * as z from "zod/mini";
import { longId } from "../../model/record/long-id.ts";
import type { CamelCased } from "../../model/snake-case.ts";
import type { AuditEntry } from "../../model/workspace/audit.ts";
import { timestamp } from "../shapes.ts";

/** A delete that the breaker holds back. */
export const heldDelete = z.object({
  key: z.string(),
  deletes: z.enum(["row", "record"]),
  sfid: z.nullable(z.string()),
  record_id: z.nullable(z.int()),
  name: z.nullable(z.string()),
  at: timestamp(),
});
export type HeldDelete = CamelCased<typeof heldDelete>;

/** A delete that stays held although it was rejected. */
export const stayingDelete = z.extend(z.omit(heldDelete, { key: true, name: true, at: true }), { reason: z.string() });
export type StayingDelete = CamelCased<typeof stayingDelete>;

/** Some of a mapping's held deletes: of rows by their records, of records by their ids in the log. */
export interface ChosenDeletes {
  readonly sfids: readonly string[];
  readonly logIds: readonly number[];
}

/** The same in an audit entry; nothing where all are meant. */
export const named = (only: ChosenDeletes | null): AuditEntry["detail"] =>
  only ? { sfids: only.sfids, trigger_log_ids: only.logIds } : {};

const KEY = /^(?:row:(\w{15,18})|record:(-?\d{1,15}))$/;

/** As many as a page of them has. */
const MOST_CHOSEN = 200;

/** `?only=`: keys of held deletes with commas between them. */
export const chosenDeletes = () =>
  z.optional(
    z.pipe(
      z.string().check(
        z.refine((text) => text.split(",").every((key) => KEY.test(key)), { error: "must be keys of held deletes" }),
        z.refine((text) => text.split(",").length <= MOST_CHOSEN, { error: `must be at most ${MOST_CHOSEN} keys` }),
      ),
      z.transform((text: string): ChosenDeletes => {
        const keys = text.split(",").map((key) => KEY.exec(key));
        return {
          sfids: keys.flatMap((found) => (found?.[1] === undefined ? [] : longId(found[1]))),
          logIds: keys.flatMap((found) => (found?.[2] === undefined ? [] : Number(found[2]))),
        };
      }),
    ),
  );

/** What rejecting all held deletes of a mapping would come to. */
export interface RejectForecast {
  /** Rows that would be inserted again. */
  readonly rows: number;
  /** Records that would be undeleted, and those that an earlier try has found gone for good. */
  readonly records: number;
  readonly gone: number;
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

/** Takes back deletes that the breaker holds, or only those that were chosen. */
export interface Rejections {
  forecastReject(mappingId: string, only: ChosenDeletes | null): Promise<RejectForecast>;
  /**
   * Inserts rows again under their keys, with what was logged of their mapped columns and their sfid, uncaptured; those
   * of the first held deletes after an id of the log. `last`: where to continue; null: no more are held.
   */
  putBackRows(
    mappingId: string,
    after: number | null,
    limit: number,
    only: ChosenDeletes | null,
  ): Promise<Rejected & { readonly last: number | null }>;
  /** Inserts one row again whose delete waits to be sent; null: done, else why not. */
  takeBackDelete(mappingId: string, changeId: number): Promise<string | null>;
  /** Has the next cycle undelete the record and read it again, or only read it, as the note says. */
  restoreLater(
    mappingId: string,
    note: { readonly sfid: string; readonly recordId: number | null; readonly note: string },
  ): Promise<void>;
  /** Has the next cycles undelete records whose deletion is held back from their rows, but for those that are gone; how many. */
  undeleteLater(mappingId: string, only: ChosenDeletes | null): Promise<number>;
  /** Rows of held records that a cycle has found gone for good lose their sfid and are captured as if they were inserted now. */
  captureAsNew(mappingId: string, only: ChosenDeletes | null): Promise<Rejected>;
}
