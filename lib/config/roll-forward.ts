import type { Counters } from "../metrics/ports.ts";
import { chunks } from "../model/chunks.ts";
import type { Event } from "../model/delivery/event.ts";
import type { ProvisioningMessage, Queue } from "../model/messages.ts";
import { CHANGES_AT_ONCE, type ImportPlan, type ImportPlans, type MappingChange } from "./ports.ts";
import { type EventIdOf, recordChanges } from "./record-changes.ts";

export interface RollForwardNeeds {
  readonly plans: ImportPlans;
  readonly provisioning: Queue<ProvisioningMessage>;
  readonly events: { wake(events: readonly Event[]): Promise<void> };
  readonly counters: Counters;
  readonly eventIdOf: EventIdOf;
}

/**
 * Carries out what an import left open in a workspace, if anything: each change with its audit entry and event, then
 * the wake-ups that follow from it. Repeatable from any point, also by two at once; true when nothing is open any more,
 * false when `mayGoOn` said stop.
 */
export async function rollForward(
  needs: RollForwardNeeds,
  workspaceId: string,
  mayGoOn: () => boolean = () => true,
): Promise<boolean> {
  const plan = await needs.plans.open(workspaceId);
  if (plan === null) return true;
  for (const changes of chunks(plan.changes, CHANGES_AT_ONCE)) {
    if (!mayGoOn()) return false;
    await carryOut(needs, plan, changes);
  }
  await needs.plans.close(workspaceId, plan.id);
  return true;
}

/** Wake-ups are sent for changes that were carried out before, too: that process may have died before sending. */
async function carryOut(needs: RollForwardNeeds, plan: ImportPlan, changes: readonly MappingChange[]): Promise<void> {
  const recorded = recordChanges(changes, plan, needs.eventIdOf);
  await needs.plans.carryOut(plan.id, recorded);
  const created = changes.filter(({ before }) => before === null).map(({ after }) => after);
  await Promise.all(created.map((mapping) => needs.counters.begin(mapping)));
  await needs.events.wake(recorded.events);
  await needs.provisioning.send(changes.map(({ after }) => ({ message: wakeUp(after.workspaceId, after.id) })));
}

const wakeUp = (workspaceId: string, mappingId: string): ProvisioningMessage => ({
  workspace_id: workspaceId,
  mapping_id: mappingId,
  import_id: null,
});
