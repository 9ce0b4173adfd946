import type { Acting, Pauses } from "../access/ports.ts";
import type { AuditTrail } from "../audit/ports.ts";
import { Failure } from "../model/failure.ts";
import { newId } from "../model/id.ts";
import { failureOfProvisioning, type Mapping } from "../model/mapping/mapping.ts";
import type { CyclesMessage, Queue } from "../model/messages.ts";
import { mappingEntry } from "../model/workspace/audit.ts";
import { reportPause } from "../model/workspace/pause.ts";
import type { Monitoring, Polls } from "./ports.ts";
import { runningMark } from "./read-cycle.ts";
import { ifAvailable } from "./with-database.ts";

interface Needs {
  readonly monitoring: Monitoring;
  readonly audit: AuditTrail;
  readonly cycles: Queue<CyclesMessage>;
  readonly pauses: Pauses;
  readonly polls: Polls;
}

type Asked = Acting & { readonly mapping: Mapping };

/**
 * Asks for a cycle of one mapping now, beside the schedule; when it cannot be had, the message says why. The mark names
 * that cycle, or the one that runs, for `readCycle`; null: there is none.
 */
export async function pollNow(needs: Needs, { workspace, mapping, actor, at }: Asked) {
  const answer = (triggered: boolean, message: string, mark: string | null = null) => ({
    result: { triggered, mapping_id: mapping.id, message },
    mark,
  });
  const pause = await needs.pauses.find(workspace.id);
  if (pause) throw new Failure("CONFLICT", `nothing is polled: ${reportPause(pause)}`);
  if (!mapping.active) return answer(false, "The mapping is not active. Activate it to poll.");
  const failure = failureOfProvisioning(mapping.provisioning);
  // No cycle runs while it is created; it gets its first cycle as soon as it exists.
  if (failure !== null) {
    return answer(
      false,
      `The mapping's table could not be created: ${failure}. Correct that, then save the mapping again.`,
    );
  }
  // A database that cannot be asked does not forbid a poll: the cycle will report it.
  const lease = await ifAvailable(needs.monitoring, workspace, (database) => database.leaseOf(mapping.id));
  if (lease?.isHeld) {
    return answer(
      false,
      "A cycle of this mapping is running already. Its results appear in monitoring within seconds.",
      runningMark(lease.fence),
    );
  }
  const { id, workspaceId } = mapping;
  await needs.audit.append(mappingEntry({ actor, at }, "mapping.poll_triggered", mapping));
  const mark = newId("cyc");
  await needs.polls.add({ workspaceId, mappingId: id, mark, askedAt: at });
  const message = { workspace_id: workspaceId, mapping_id: id, kind: "poll", slot: null, mark } as const;
  await needs.cycles.send([{ message }]);
  return answer(true, "Poll cycle started. Results appear in monitoring within seconds.", mark);
}
