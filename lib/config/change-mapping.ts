import { Failure } from "../model/failure.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import type { Doing } from "../model/workspace/audit.ts";
import type { MappingChange, Mappings } from "./ports.ts";
import { recordChanges } from "./record-changes.ts";
import { type RollForwardNeeds, rollForward } from "./roll-forward.ts";

export interface ChangeNeeds extends RollForwardNeeds {
  readonly mappings: Mappings;
}

/** Decides a change among the mappings as they are; `after` is `before` when there is nothing to change. */
export type Decide = (existing: readonly Mapping[]) => Promise<MappingChange>;

/** How often a change is decided again because another caller changed the workspace's mappings meanwhile. */
const ATTEMPTS = 5;

/** Seconds that an import which is still being carried out is helped along, before the change is refused. */
const HELP_SECONDS = 8;

/** When the worker looks after a change whose maker may have died right after it. */
const LATER_SECONDS = 15;

/**
 * Makes one change of a workspace's mappings with its audit entry and event, then wakes those who carry it out; the mapping
 * as it is then. An import takes the same steps for each of its changes.
 */
export async function changeMapping(needs: ChangeNeeds, asked: Doing, decide: Decide): Promise<Mapping> {
  const { workspaceId } = asked;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const end = performance.now() + HELP_SECONDS * 1000;
    if (!(await rollForward(needs, workspaceId, () => performance.now() < end))) {
      throw new Failure("CONFLICT", "an import is still being carried out: try again in a minute");
    }
    const { generation, mappings } = await needs.mappings.list(workspaceId);
    const change = await decide(mappings);
    if (change.after === change.before || (await commitChange(needs, asked, generation, change))) return change.after;
  }
  throw new Failure("CONFLICT", "the workspace's mappings kept changing meanwhile: try again");
}

/** The worker is also woken before: if this process dies right after the commit, the change is carried out all the same. */
async function commitChange(
  needs: ChangeNeeds,
  asked: Doing,
  generation: number,
  change: MappingChange,
): Promise<boolean> {
  const wakeUp = { workspace_id: asked.workspaceId, mapping_id: change.after.id, import_id: null };
  await needs.provisioning.send([{ message: wakeUp, delaySeconds: LATER_SECONDS }]);
  const recorded = recordChanges([change], asked, needs.eventIdOf);
  if (!(await needs.mappings.change(asked.workspaceId, generation, recorded))) return false;
  if (change.before === null) await needs.counters.begin(change.after);
  await needs.events.wake(recorded.events);
  await needs.provisioning.send([{ message: wakeUp }]);
  return true;
}
