import type { SealedWorkspace, Workspaces } from "../../access/ports.ts";
import type { AuditTrail } from "../../audit/ports.ts";
import type { Mappings } from "../../config/ports.ts";
import type { Counters } from "../../metrics/ports.ts";
import { eventOf } from "../../model/delivery/event.ts";
import { Failure } from "../../model/failure.ts";
import type { LoadMessage, Queue } from "../../model/messages.ts";
import { type AuditEntry, auditEntry } from "../../model/workspace/audit.ts";
import { DEPLOYMENT, type PauseSwitch, pauseOf } from "../../model/workspace/pause.ts";
import type { Events } from "../../webhooks/ports.ts";
import { missedComparisons } from "./sweep-minute.ts";

export interface PauseNeeds {
  readonly workspaces: Pick<Workspaces, "find" | "list" | "switchPause">;
  readonly mappings: Pick<Mappings, "list">;
  readonly counters: Pick<Counters, "pausedSince" | "setPaused">;
  readonly audit: AuditTrail;
  readonly events: Pick<Events, "publish">;
  /** Names the event of an edge, the same each time (the webhooks room's `eventIdOf`). */
  readonly eventIdOf: (...edge: readonly (string | number)[]) => string;
  readonly loads: Queue<LoadMessage>;
  readonly now: () => Date;
}

/**
 * Pauses or resumes a workspace, or the deployment; what is so already stays as it is, with its first actor and reason.
 * Gives the workspace as it is then. `announcePauses` follows, at the latest by the minute sweep.
 */
export async function switchPause(
  { workspaces }: Pick<PauseNeeds, "workspaces">,
  workspaceId: string,
  to: PauseSwitch,
): Promise<SealedWorkspace> {
  const { paused, at, by: actor, reason } = to;
  await workspaces.switchPause(workspaceId, to, entryOf(workspaceId, paused, { actor, at, reason }));
  const workspace = await workspaces.find(workspaceId);
  if (workspace === null) throw new Failure("WORKSPACE_NOT_FOUND", "workspace not found or access denied");
  return workspace;
}

/**
 * Announces of these workspaces, or of all, each pause and each end of one that was not announced yet. Gives since when
 * the longest of their pauses lasts; null: none is paused.
 */
export async function announcePauses(needs: PauseNeeds, some?: readonly SealedWorkspace[]): Promise<Date | null> {
  const deployment = (await needs.workspaces.find(DEPLOYMENT))?.pauseSwitch ?? null;
  let longest: Date | null = null;
  for (const workspace of some ?? (await needs.workspaces.list())) {
    const pause = pauseOf(workspace.pauseSwitch, deployment);
    if (pause && (longest === null || pause.at < longest)) longest = pause.at;
    const [lastSwitch] = [workspace.pauseSwitch, deployment]
      .filter((one) => one !== null)
      .toSorted((one, other) => other.at.getTime() - one.at.getTime());
    const cause = pause ?? lastSwitch;
    if (cause === undefined) continue;
    const since = await needs.counters.pausedSince(workspace.id);
    if ((pause === null) !== (since === null)) await announce(needs, workspace, cause, since);
  }
  return longest;
}

/** Events first, named after the edge: however often that is repeated, each webhook receives an edge once. */
async function announce(
  needs: PauseNeeds,
  { id: workspaceId, pauseSwitch }: SealedWorkspace,
  { paused, at, by: actor, reason }: PauseSwitch,
  since: Date | null,
): Promise<void> {
  const active = (await needs.mappings.list(workspaceId)).mappings.filter((mapping) => mapping.active);
  const event = paused ? "mapping.deactivated" : "mapping.activated";
  const events = active.map(({ id, sfObject, pgTable }) => {
    const detail = { mapping_id: id, sf_object: sfObject, pg_table: pgTable, actor };
    const eventId = needs.eventIdOf(event, id, "pause", at.getTime());
    return eventOf(event, { id: eventId, workspaceId, occurredAt: at, detail });
  });
  await needs.events.publish(events);
  const missed = since === null ? [] : missedComparisons(active, since, at);
  await needs.loads.send(missed.map((message) => ({ message })));
  // Its own switch has an entry; the deployment's has one in the operators' log, which the workspace cannot read.
  if (at.getTime() !== pauseSwitch?.at.getTime()) {
    const detail = { reason, scope: DEPLOYMENT, since: at.toISOString() };
    await needs.audit.append(entryOf(workspaceId, paused, { actor, at: needs.now(), ...detail }));
  }
  await needs.counters.setPaused(workspaceId, paused ? at : null);
}

function entryOf(
  workspaceId: string,
  paused: boolean,
  { actor, at, ...detail }: { readonly actor: string; readonly at: Date } & Readonly<Record<string, unknown>>,
): AuditEntry {
  const action = paused ? "workspace.paused" : "workspace.resumed";
  return auditEntry({ workspaceId, actor, at }, action, workspaceId, detail);
}
