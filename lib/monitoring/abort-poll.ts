import type { SealedWorkspace } from "../access/ports.ts";
import type { AuditTrail } from "../audit/ports.ts";
import { newId } from "../model/id.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import type { Monitoring } from "./ports.ts";
import { withDatabase } from "./with-database.ts";

interface Needs {
  readonly monitoring: Monitoring;
  readonly audit: AuditTrail;
}

interface Asked {
  readonly workspace: SealedWorkspace;
  readonly mapping: Mapping;
  readonly actor: string;
  readonly at: Date;
}

/** Spec 2.6; where nothing was aborted the message says why. */
type AbortResult = { readonly aborted: true } | { readonly aborted: false; readonly message: string };

const NOTHING_RUNS = { aborted: false, message: "No cycle of this mapping is running." } as const;

/**
 * Asks the mapping's running cycle to stop at its next batch; what it has not sent by then goes back to NEW. The audit
 * entry comes first: one may stand for a cycle that ended by itself meanwhile.
 */
export async function abortPoll(needs: Needs, { workspace, mapping, actor, at }: Asked): Promise<AbortResult> {
  return withDatabase(needs.monitoring, workspace, async (database) => {
    if (!(await database.isCycleRunning(mapping.id))) return NOTHING_RUNS;
    await needs.audit.append({
      id: newId("aud"),
      workspaceId: mapping.workspaceId,
      actor,
      action: "mapping.poll_aborted",
      resourceId: mapping.id,
      detail: { sf_object: mapping.sfObject, pg_table: mapping.pgTable },
      createdAt: at,
    });
    return (await database.requestAbort(mapping.id, at)) ? { aborted: true } : NOTHING_RUNS;
  });
}
