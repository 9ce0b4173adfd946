import * as z from "zod/mini";
import type { Acting } from "../access/ports.ts";
import type { AuditTrail } from "../audit/ports.ts";
import { findMapping } from "../config/find-mapping.ts";
import type { Mappings } from "../config/ports.ts";
import { Failure } from "../model/failure.ts";
import { type Mapping, pulls, pushes } from "../model/mapping/mapping.ts";
import type { LoadMessage, ProvisioningMessage, Queue } from "../model/messages.ts";
import { type AuditAction, type AuditEntry, auditEntry, mappingEntry } from "../model/workspace/audit.ts";
import { withDatabase } from "../monitoring/with-database.ts";
import { callsToRead, callsToSend } from "./forecast.ts";
import type { FailedChanges, Retried, RowQueriesOf } from "./row-ports.ts";

export interface Needs {
  readonly rowQueries: RowQueriesOf;
  readonly audit: AuditTrail;
}

export type OnMapping = Acting & { readonly mapping: Mapping };

/** Rows that one call retries or captures: what a statement does well within its deadline. */
export const ROWS_AT_ONCE = 10_000;

/** Makes failed changes wait again; the next cycle sends them. Call again while some remain. */
export const retryFailed = (needs: Needs, who: Acting, which: FailedChanges): Promise<Retried> =>
  decideFailed(needs, who, which, "rows.retried");

/** Dismisses failed changes. A newer change of their rows carries them all the same. */
export async function dismissFailed(needs: Needs, who: Acting, which: FailedChanges) {
  const { retried: dismissed, remaining } = await decideFailed(needs, who, which, "rows.dismissed");
  return { dismissed, remaining };
}

async function decideFailed(
  needs: Needs,
  who: Acting,
  which: FailedChanges,
  action: "rows.retried" | "rows.dismissed",
): Promise<Retried> {
  return withDatabase(needs.rowQueries, who.workspace, async (queries) => {
    const { total, idsByMapping } = await queries.findFailed(which, ROWS_AT_ONCE);
    let retried = 0;
    for (const [mappingId, ids] of idsByMapping) {
      const { id: trigger_log_id, fingerprint, table: table_name } = which;
      const detail = { rows: ids.length, trigger_log_id, fingerprint, table_name };
      await needs.audit.append(auditEntry({ ...who, workspaceId: who.workspace.id }, action, mappingId, detail));
      retried += await (action === "rows.retried" ? queries.retry(mappingId, ids) : queries.dismiss(mappingId, ids));
    }
    return { retried, remaining: Math.max(0, total - retried) };
  });
}

/** Has records read again that could not become rows, by the mapping's next cycle. */
export async function retryInbound(needs: Needs, who: OnMapping, sfid: string | null): Promise<number> {
  await noteMapping(needs, who, "records.retried", { sfid });
  return withDatabase(needs.rowQueries, who.workspace, (queries) => queries.retryInbound(who.mapping.id, sfid));
}

/** Gives a row the value that lost a conflict; it is captured, and sent as any other change. */
export async function useOtherValue(
  needs: Needs & { readonly mappings: Pick<Mappings, "find"> },
  who: Acting,
  conflictId: number,
): Promise<void> {
  await withDatabase(needs.rowQueries, who.workspace, async (queries) => {
    const found = await queries.conflict(conflictId);
    if (!found) throw new Failure("NOT_FOUND", "there is no conflict with this id, or not any more");
    if (found.field === null)
      throw new Failure("CONFLICT", "this conflict is of a whole record, which has no other value");
    const mapping = await findMapping(needs.mappings, who.workspace.id, found.mappingId);
    await noteMapping(needs, { ...who, mapping }, "conflicts.overruled", {
      conflict_id: conflictId,
      field: found.field,
    });
    const why = await queries.useOtherValue(conflictId);
    if (why !== null) throw new Failure("CONFLICT", `the row was not changed: ${why}`);
  });
}

/** Sends rows without a record. Call again while a call gives `ROWS_AT_ONCE`. */
export async function pushExisting(needs: Needs, who: OnMapping): Promise<number> {
  const { sfObject, syncDirection } = who.mapping;
  if (!pushes(syncDirection)) throw refusal(sfObject, "only reads from Salesforce: change its sync_direction");
  await noteMapping(needs, who, "rows.pushed");
  return withDatabase(needs.rowQueries, who.workspace, (queries) =>
    queries.captureExisting(who.mapping.id, ROWS_AT_ONCE),
  );
}

/** Makes every record be read again, from the first on. */
export async function reload(needs: Needs & { readonly loads: Queue<LoadMessage> }, who: OnMapping): Promise<void> {
  const { id, active, sfObject, syncDirection } = who.mapping;
  if (!pulls(syncDirection)) throw refusal(sfObject, "only writes to Salesforce: change its sync_direction");
  if (!active) throw refusal(sfObject, "is paused: activate it, then reload it");
  await noteMapping(needs, who, "mapping.reloaded");
  const begun = await withDatabase(needs.rowQueries, who.workspace, (queries) => queries.startOver(id));
  if (!begun) throw new Failure("CONFLICT", `the table of ${sfObject} is not made yet: its first load will come`);
  await needs.loads.send([{ message: { workspace_id: who.workspace.id, mapping_id: id, kind: "load" } }]);
}

/** Compares both sides whole now, by the sweep that does so each day, and corrects what differs. */
export async function compare(needs: Needs & { readonly loads: Queue<LoadMessage> }, who: OnMapping): Promise<void> {
  const { id, active, sfObject, syncDirection } = who.mapping;
  if (!pulls(syncDirection)) throw refusal(sfObject, "only writes to Salesforce: nothing is compared");
  if (!active) throw refusal(sfObject, "is paused: activate it, then compare it");
  await noteMapping(needs, who, "mapping.sweep_requested");
  await needs.loads.send([{ message: { workspace_id: who.workspace.id, mapping_id: id, kind: "sweep" } }]);
}

/** Which side wins for uncaptured writes: every record is read again, or every row is captured as changed. */
export const UNCAPTURED = ["salesforce", "mine"] as const;

/** What putting capture on again comes to: rows of the table, counted up to a million, and about the API calls. */
export const captureView = z.object({
  mapping_id: z.string(),
  uncaptured: z.enum(UNCAPTURED),
  rows: z.int(),
  calls: z.int(),
  queued: z.boolean(),
});

/**
 * Puts the triggers on the table that bears the mapped name now. Of `mine` no cycle begins until every row is captured:
 * it would overwrite from Salesforce what must be sent there.
 */
export async function captureAgain(
  needs: Needs & { readonly provisioning: Queue<ProvisioningMessage> },
  who: OnMapping,
  { uncaptured, dryRun }: { readonly uncaptured: (typeof UNCAPTURED)[number]; readonly dryRun: boolean },
): Promise<z.infer<typeof captureView>> {
  const { id, sfObject, syncDirection } = who.mapping;
  if (!pushes(syncDirection)) throw refusal(sfObject, "only reads from Salesforce and captures nothing: reload it");
  if (uncaptured === "salesforce" && !pulls(syncDirection)) {
    throw refusal(sfObject, "only writes to Salesforce: say that the rows count (mine)");
  }
  return withDatabase(needs.rowQueries, who.workspace, async (queries) => {
    const rows = await queries.countRows(id);
    const calls = uncaptured === "mine" ? callsToSend(rows) : callsToRead(rows);
    const answer = { mapping_id: id, uncaptured, rows, calls };
    if (dryRun) return { ...answer, queued: false };
    await noteMapping(needs, who, "mapping.captured", { uncaptured });
    const isMarked = await (uncaptured === "mine" ? queries.captureAll(id) : queries.startOver(id));
    if (!isMarked) throw new Failure("CONFLICT", `the table of ${sfObject} is not made yet: its first load will come`);
    const message = { workspace_id: who.workspace.id, mapping_id: id, import_id: null, anew: true };
    await needs.provisioning.send([{ message }]);
    return { ...answer, queued: true };
  });
}

/** Why a mapping as it is does not take it. */
export const refusal = (sfObject: string, why: string) => new Failure("CONFLICT", `the mapping of ${sfObject} ${why}`);

/** The entry is written before the change: they are in different databases, and every change must be audited. */
export function noteMapping({ audit }: Needs, who: OnMapping, action: AuditAction, more?: AuditEntry["detail"]) {
  return audit.append(mappingEntry(who, action, who.mapping, more));
}
