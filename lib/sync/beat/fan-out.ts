import { phaseOf, slotsOf } from "../../model/beat.ts";
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

/** Each tick becomes the beats of the minute that it covers; ticks of one workspace and minute share theirs. */
export async function fanOut(
  { cycles, clock }: { readonly cycles: Queue<CyclesMessage>; readonly clock: Clock },
  ticks: readonly TickMessage[],
): Promise<void> {
  const now = new Date(clock.now());
  await cycles.send([...together(ticks)].flatMap((group) => beatsOf(group, now)));
}

/** Ticks of the same workspace and minute, a mapping once, as many as one invocation works on at once. */
function* together(ticks: readonly TickMessage[]): Iterable<readonly TickMessage[]> {
  const groups = Map.groupBy(ticks, ({ workspace_id, scheduled_at }) => `${workspace_id} ${minuteOf(scheduled_at)}`);
  for (const group of groups.values()) {
    const once = [...new Map(group.map((tick) => [tick.mapping_id, tick])).values()];
    yield* chunks(once, MAPPINGS_PER_MESSAGE);
  }
}

const minuteOf = (instant: string): number => Math.floor(new Date(instant).getTime() / 60_000);

function beatsOf(ticks: readonly TickMessage[], now: Date): Outgoing<CyclesMessage>[] {
  const [first] = ticks;
  if (!first) return [];
  const { workspace_id, scheduled_at } = first;
  const ids = ticks.map((tick) => tick.mapping_id);
  return slotsOf(new Date(scheduled_at), phaseOf(workspace_id), now).map(({ slot, delaySeconds }) => ({
    message: cyclesMessage(ids, { workspace_id, kind: "beat", slot }),
    delaySeconds,
  }));
}
