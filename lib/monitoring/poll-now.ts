import type { SealedWorkspace } from "../access/ports.ts";
import type { AuditTrail } from "../audit/ports.ts";
import { newId } from "../model/id.ts";
import { failureOfProvisioning, type Mapping } from "../model/mapping/mapping.ts";
import type { CyclesMessage, Queue } from "../model/messages.ts";
import { DatabaseUnavailable, type Monitoring } from "./ports.ts";

interface Needs {
  readonly monitoring: Monitoring;
  readonly audit: AuditTrail;
  readonly cycles: Queue<CyclesMessage>;
}

interface Asked {
  readonly workspace: SealedWorkspace;
  readonly mapping: Mapping;
  readonly actor: string;
  readonly at: Date;
}

/** Spec 2.5. */
interface PollResult {
  readonly triggered: boolean;
  readonly mapping_id: string;
  readonly message: string;
}

/** Asks for a cycle of one mapping now, beside the schedule; when it cannot be had, the message says why. */
export async function pollNow(needs: Needs, { workspace, mapping, actor, at }: Asked): Promise<PollResult> {
  const answer = (triggered: boolean, message: string) => ({ triggered, mapping_id: mapping.id, message });
  if (!mapping.active) return answer(false, "The mapping is not active. Activate it to poll.");
  const failure = failureOfProvisioning(mapping.provisioning);
  // Cycles stay away from it; one that is being made gets its first cycle as soon as it is.
  if (failure !== null) {
    return answer(
      false,
      `The mapping's table could not be made: ${failure}. When that is mended, save the mapping again.`,
    );
  }
  if (await isRunning(needs.monitoring, workspace, mapping)) {
    return answer(
      false,
      "A cycle of this mapping is running already. Its results appear in monitoring within seconds.",
    );
  }
  const { id, workspaceId, sfObject, pgTable } = mapping;
  await needs.audit.append({
    id: newId("aud"),
    workspaceId,
    actor,
    action: "mapping.poll_triggered",
    resourceId: id,
    detail: { sf_object: sfObject, pg_table: pgTable },
    createdAt: at,
  });
  const message = { workspace_id: workspaceId, mapping_id: id, kind: "poll", slot: null } as const;
  await needs.cycles.send([{ message }]);
  return answer(true, "Poll cycle started. Results appear in monitoring within seconds.");
}

/** A database that cannot be asked does not speak against a poll: the cycle will find out, and tell. */
async function isRunning(monitoring: Monitoring, workspace: SealedWorkspace, mapping: Mapping): Promise<boolean> {
  const { postgres } = await workspace.open();
  if (postgres === null) return false;
  try {
    await using database = await monitoring.open(postgres);
    return await database.isCycleRunning(mapping.id);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return false;
    throw error;
  }
}
