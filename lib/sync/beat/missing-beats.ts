import { periodAt, phaseOf, slotsUntil, TICK_SECONDS } from "../../model/beat.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { CyclesMessage, Queue } from "../../model/messages.ts";
import type { Log } from "../ports/cycle-ports.ts";
import type { Ticks } from "../ports/schedule-ports.ts";
import { beatsOf } from "./fan-out.ts";

/** A tick fires up to a minute late and is gathered for 45 s; what is not noted by then is lost, or too late. */
const NOTED_MILLISECONDS = 120_000;

interface Needs {
  readonly cycles: Queue<CyclesMessage>;
  readonly ticks: Ticks;
  readonly now: () => Date;
}

/** Sends the beats from now to those of the next tick, for a mapping whose schedule begins now. */
export const sendFirst = (needs: Needs, workspaceId: string, mappingId: string): Promise<number> =>
  sendMissing(needs, workspaceId, [mappingId], periodAt(needs.now(), phaseOf(workspaceId)));

/**
 * Sends the beats from now on that no tick has sent for these mappings of a workspace, with those that the tick of a
 * period covers (epoch seconds of its beginning). Gives the number of mappings that lacked some.
 */
async function sendMissing(
  { cycles, ticks, now: clock }: Needs,
  workspaceId: string,
  mappingIds: readonly string[],
  due: number,
): Promise<number> {
  const [now, phase] = [clock(), phaseOf(workspaceId)];
  const noted = await ticks.read(workspaceId);
  const lastOf = (id: string) => noted.get(id) ?? 0;
  const missing = mappingIds.filter((id) => lastOf(id) < due);
  if (missing.length === 0) return 0;
  for (const [last, ids] of Map.groupBy(missing, lastOf)) {
    const from = new Date(Math.max(now.getTime(), (last + TICK_SECONDS) * 1000));
    await cycles.send(beatsOf(workspaceId, ids, slotsUntil(due + TICK_SECONDS, from, phase, now)));
  }
  await ticks.note(workspaceId, missing, due);
  return missing.length;
}

/** Sends those of lost ticks for all active mappings, once a minute: so the beat goes on where no schedule fires. */
export async function fillTicks(needs: Needs & { readonly log: Log }, active: readonly Mapping[]): Promise<number> {
  let filled = 0;
  const noted = new Date(needs.now().getTime() - NOTED_MILLISECONDS);
  const ready = active.filter(({ provisioning }) => provisioning.state === "ready");
  for (const [workspaceId, mappings] of Map.groupBy(ready, (mapping) => mapping.workspaceId)) {
    const ids = mappings.map(({ id }) => id);
    filled += await sendMissing(needs, workspaceId, ids, periodAt(noted, phaseOf(workspaceId)));
  }
  if (filled > 0) needs.log({ level: "warn", event: "ticks missing", mappings: filled });
  return filled;
}
