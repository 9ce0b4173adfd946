import { pulls, pushes, type SyncDirection } from "../mapping/mapping.ts";

/** Begins the note by which the next cycle undeletes a record. */
export const RESTORE = "RESTORE";

/** Begins the reason why a record was not undeleted. */
export const NOT_RESTORED = "it was not restored";

/** How long Salesforce's recycle bin keeps a record. */
const BIN_MILLISECONDS = 15 * 24 * 60 * 60_000;

export const binEnds = (deletedAt: Date): Date => new Date(deletedAt.getTime() + BIN_MILLISECONDS);

/** What is known of a row that is gone, or whose record is. */
export interface GoneRow {
  readonly direction: SyncDirection;
  readonly isRowPresent: boolean;
  readonly sfid: string | null;
  /** `unknown`: Salesforce could not be asked. */
  readonly record: "present" | "deleted" | "absent" | "unknown";
  /** The record that it was merged into; null: none. */
  readonly mergedInto: string | null;
  /** The row's delete in the log; null: it was not deleted there, or the log does not have it any more. */
  readonly deletion: { readonly id: number; readonly state: string } | null;
  /** Why the row was deleted last, as its tombstone says. */
  readonly reason: string | null;
  /** An operator has asked for it already. */
  readonly isAsked: boolean;
}

/** `takeBack`: its delete has not been sent; `undelete`: out of the recycle bin; `readAgain`: the record is there. */
export type Restore =
  | { readonly how: "takeBack"; readonly changeId: number }
  | { readonly how: "undelete" | "readAgain"; readonly sfid: string }
  | { readonly how: "none"; readonly why: string };

/** How a row that is gone comes back, or why it cannot; null: it is not gone. */
export function restoreOf(gone: GoneRow): Restore | null {
  const { direction, isRowPresent, sfid, record, deletion } = gone;
  if (isRowPresent && record !== "deleted") return null;
  if (gone.isAsked)
    return no(
      "it was asked for already: the next cycle restores it, or one in a quarter of an hour if Salesforce has refused it in passing",
    );
  if (!isRowPresent && deletion?.state === "NEW") return { how: "takeBack", changeId: deletion.id };
  if (!isRowPresent && deletion?.state === "PENDING")
    return no("its delete is being sent just now: restore it once that has ended");
  if (sfid === null) return no("it never had a record, and Bridge has sent nothing of it: insert it again");
  if (record === "unknown") return no("Salesforce could not be asked whether its recycle bin has the record");
  if (record === "absent")
    return no("Salesforce's recycle bin does not have the record any more: insert the row again, as a new record");
  if (record === "present") return ofLiving(gone, sfid);
  if (gone.mergedInto !== null) return no(`Salesforce has merged its record into ${gone.mergedInto}`);
  if (!pushes(direction))
    return no("the mapping only reads: undelete the record in Salesforce's recycle bin, and its row comes back");
  if (!isRowPresent && !pulls(direction) && deletion === null)
    return no("the mapping only writes, and the log does not have the row's values any more: insert it again");
  return { how: "undelete", sfid };
}

function ofLiving({ direction, reason }: GoneRow, sfid: string): Restore {
  if (reason === "left the filter") return no("the record is there: it has left the mapping's filter");
  if (!pulls(direction)) return no("the record is there, and the mapping only writes: insert the row with its sfid");
  return { how: "readAgain", sfid };
}

const no = (why: string): Restore => ({ how: "none", why });
