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

interface Needs {
  readonly cycles: Queue<CyclesMessage>;
  readonly ticks: Pick<Ticks, "note">;
  readonly clock: Pick<Clock, "now">;
}

/** Each tick becomes the beats of the period that it covers; ticks of one workspace and minute share theirs. */
export async function fanOut({ cycles, ticks, clock }: Needs, came: readonly TickMessage[]): Promise<void> {
  const now = new Date(clock.now());
  const groups = [...Map.groupBy(came, ({ workspace_id, scheduled_at }) => `${workspace_id} ${minuteOf(scheduled_at)}`)]
    .map(([, [first, ...others]]) => groupOf([first as TickMessage, ...others], now))
    .filter(({ slots }) => slots.length > 0);
  await cycles.send(groups.flatMap(({ workspaceId, ids, slots }) => beatsOf(workspaceId, ids, slots)));
  // Last: what is not noted the sweep sends again.
  for (const { workspaceId, ids, period } of groups) await ticks.note(workspaceId, ids, period);
}

const minuteOf = (instant: string): number => Math.floor(new Date(instant).getTime() / 60_000);

/** Ticks of one workspace and minute, each mapping once. */
function groupOf(came: readonly [TickMessage, ...TickMessage[]], now: Date) {
  const [{ workspace_id: workspaceId, scheduled_at }] = came;
  const [tick, phase] = [new Date(scheduled_at), phaseOf(workspaceId)];
  const ids = [...new Set(came.map(({ mapping_id }) => mapping_id))];
  return { workspaceId, ids, period: periodAt(tick, phase), slots: slotsOf(tick, phase, now) };
}

/** The messages of these beats, as many mappings in each as one invocation works on at once. */
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
