import * as z from "zod/mini";
import type { SealedWorkspace } from "../../access/ports.ts";
import { Failure } from "../../model/failure.ts";
import { withWriter } from "../../model/mapping/soql.ts";
import { imageOf } from "../../model/record/incoming.ts";
import type { Image } from "../../model/record/record.ts";
import { binEnds, RESTORE, type Restore, restoreOf, UNDELETE_NOTE } from "../../model/record/restore-row.ts";
import { withDatabase } from "../../monitoring/with-database.ts";
import { noteMapping, type OnMapping, type Needs as RowNeeds } from "../change-rows.ts";
import type { RowStory } from "../row-ports.ts";
import { nullableTimestamp } from "../shapes.ts";

/** Reads a record as the org shows it, deleted ones too; rejects with `Failure` where the org cannot be asked. */
export type RecordOf = (workspaceId: string, soql: string) => Promise<Readonly<Record<string, unknown>> | null>;

/** A record as Salesforce shows it now; null: it shows none, or `error` says why it could not be asked. */
export interface RecordNow {
  readonly record: Readonly<Record<string, unknown>> | null;
  readonly image: Image | null;
  readonly changedBy: string | null;
  readonly error: string | null;
}

/** Who deleted a row or its record, until when it can come back, and why it cannot. */
export const restoreView = z.object({
  deleted_in: z.enum(["postgres", "salesforce"]),
  deleted_by: z.nullable(z.string()),
  deleted_at: nullableTimestamp(),
  until: nullableTimestamp(),
  can: z.boolean(),
  why: z.nullable(z.string()),
});

/** Asks the org for the row's record. */
export async function readRecord(
  recordOf: RecordOf,
  { id }: SealedWorkspace,
  { sfid, shape }: RowStory,
): Promise<RecordNow> {
  const none = { record: null, image: null, changedBy: null };
  if (sfid === null) return { ...none, error: null };
  try {
    const record = await recordOf(id, withWriter(shape, sfid));
    if (record === null) return { ...none, error: null };
    const writer = record["LastModifiedBy"] as { readonly Name?: string } | null | undefined;
    const changedBy = writer?.Name ?? (record["LastModifiedById"] as string | undefined) ?? null;
    return { record, image: imageOf(shape, record), changedBy, error: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...none, error: error.message };
  }
}

/** Whether the record is there now. */
export const presenceOf = ({ image, error }: RecordNow) =>
  error !== null ? "unknown" : image === null ? "absent" : image.isDeleted ? "deleted" : "present";

function restoreFor(story: RowStory, now: RecordNow): Restore | null {
  const [last] = story.changes;
  return restoreOf({
    direction: story.shape.direction,
    isRowPresent: story.row !== null,
    sfid: story.sfid,
    record: presenceOf(now),
    mergedInto: now.image?.mergedInto ?? null,
    deletion: last?.action === "DELETE" ? last : null,
    reason: story.deletions[0]?.reason ?? null,
    isAsked: story.inbound?.error.startsWith(RESTORE) === true || story.inbound?.error === NOTES.readAgain,
  });
}

/** How the row comes back; null: neither it nor its record is gone. */
export function viewRestore(story: RowStory, now: RecordNow): z.infer<typeof restoreView> | null {
  const restore = restoreFor(story, now);
  if (restore === null) return null;
  const [last] = story.changes;
  const tombstone = story.deletions[0];
  const isOurs = last?.action === "DELETE" && tombstone?.bySalesforce !== true;
  const binned = now.image?.isDeleted ? now.image.systemModstamp : null;
  const at = isOurs ? last.createdAt : (binned ?? tombstone?.at ?? null);
  return {
    deleted_in: isOurs ? "postgres" : "salesforce",
    deleted_by: isOurs ? last.actor : binned && now.changedBy,
    deleted_at: at?.toISOString() ?? null,
    until: restore.how === "undelete" && binned ? binEnds(binned).toISOString() : null,
    can: restore.how !== "none",
    why: restore.how === "none" ? restore.why : null,
  };
}

/** What was done, or is done by the next cycle. */
export const restoredView = z.object({
  mapping_id: z.string(),
  table_name: z.string(),
  record_id: z.nullable(z.int()),
  sfid: z.nullable(z.string()),
  restored: z.enum(["now", "by_next_cycle"]),
});

/** Brings a row back: its delete is not sent, or a note has the next cycle take its record out of the recycle bin. */
export async function restoreRow(
  needs: RowNeeds & { readonly recordOf: RecordOf },
  who: OnMapping,
  story: RowStory,
): Promise<z.infer<typeof restoredView>> {
  const { mapping, workspace } = who;
  const { recordId, sfid } = story;
  const restore = restoreFor(story, await readRecord(needs.recordOf, workspace, story));
  if (restore === null) throw new Failure("CONFLICT", `the row of ${mapping.pgTable} and its record are there`);
  if (restore.how === "none") throw new Failure("CONFLICT", `it cannot be restored: ${restore.why}`);
  await noteMapping(needs, who, "rows.restored", { record_id: recordId, sfid });
  const stays = await withDatabase(needs.rowQueries, workspace, async (queries) => {
    if (restore.how === "takeBack") return queries.takeBackDelete(mapping.id, restore.changeId);
    await queries.restoreLater(mapping.id, { sfid: restore.sfid, recordId, note: NOTES[restore.how] });
    return null;
  });
  if (stays !== null) throw new Failure("CONFLICT", `it is not restored: ${stays}`);
  const restored = restore.how === "takeBack" ? "now" : "by_next_cycle";
  return { mapping_id: mapping.id, table_name: mapping.pgTable, record_id: recordId, sfid, restored };
}

const NOTES = {
  undelete: UNDELETE_NOTE,
  readAgain: "the record is read again, for its row is to come back",
} as const;
