import type { Acting } from "../access/ports.ts";
import type { AuditTrail } from "../audit/ports.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import { mappingEntry } from "../model/workspace/audit.ts";
import type { Monitoring } from "./ports.ts";
import { withDatabase } from "./with-database.ts";

interface Needs {
  readonly monitoring: Monitoring;
  readonly audit: AuditTrail;
}

type Asked = Acting & { readonly mapping: Mapping };

/** Spec 2.6; where nothing was aborted the message says why. */
type AbortResult = { readonly aborted: true } | { readonly aborted: false; readonly message: string };

const NOTHING_RUNS = { aborted: false, message: "No cycle of this mapping is running." } as const;

/**
 * Asks the mapping's running cycle to stop at its next batch; what it has not sent by then goes back to NEW. The audit
 * entry comes first: there may be one for a cycle that had already ended.
 */
export async function abortPoll(needs: Needs, { workspace, mapping, actor, at }: Asked): Promise<AbortResult> {
  return withDatabase(needs.monitoring, workspace, async (database) => {
    if (!(await database.leaseOf(mapping.id))?.isHeld) return NOTHING_RUNS;
    await needs.audit.append(mappingEntry({ actor, at }, "mapping.poll_aborted", mapping));
    return (await database.requestAbort(mapping.id, at)) ? { aborted: true } : NOTHING_RUNS;
  });
}
