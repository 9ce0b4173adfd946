import { periodAt, phaseOf, type Slot, slotsOf } from "../../model/beat.ts";
import { chunks } from "../../model/chunks.ts";
import {
  type CyclesMessage,
  cyclesMessage,
  MAPPINGS_PER_MESSAGE,
  type Outgoing,
  type Queue,
  type TickMessage,
} from "../../model/messages.ts";
import type { Clock } from "../ports/cycle-ports.ts";
import type { Ticks } from "../ports/schedule-ports.ts";

/** Each tick becomes the beats of the period that it covers; ticks of one workspace and minute share theirs. */
export async function fanOut(
  { cycles, ticks, clock }: { cycles: Queue<CyclesMessage>; ticks: Pick<Ticks, "note">; clock: Pick<Clock, "now"> },
  came: readonly TickMessage[],
): Promise<void> {
  const now = new Date(clock.now());
  const groups = Map.groupBy(came, ({ workspace_id, scheduled_at }) => `${workspace_id} ${scheduled_at.slice(0, 16)}`);
  const sent = [...groups.values()].map((some) => groupOf(some, now)).filter(({ slots }) => slots.length > 0);
  await cycles.send(sent.flatMap(({ workspaceId, ids, slots }) => beatsOf(workspaceId, ids, slots)));
  // Last: what is not noted the sweep sends again.
  for (const { workspaceId, ids, period } of sent) await ticks.note(workspaceId, ids, period);
}

/** Ticks of one workspace and minute, each mapping once. */
function groupOf(came: readonly TickMessage[], now: Date) {
  const { workspace_id: workspaceId = "", scheduled_at = "" } = came[0] ?? {};
  const [tick, phase] = [new Date(scheduled_at), phaseOf(workspaceId)];
  const ids = [...new Set(came.map(({ mapping_id }) => mapping_id))];
  return { workspaceId, ids, period: periodAt(tick, phase), slots: slotsOf(tick, phase, now) };
}

/** The messages of these beats, with as many mappings in each as one may have. */
export function beatsOf(
  workspace_id: string,
  ids: readonly string[],
  slots: readonly Slot[],
): readonly Outgoing<CyclesMessage>[] {
  return chunks(ids, MAPPINGS_PER_MESSAGE).flatMap((some) =>
    slots.map(({ slot, delaySeconds }) => ({
      message: cyclesMessage(some, { workspace_id, kind: "beat", slot }),
      delaySeconds,
    })),
  );
}
