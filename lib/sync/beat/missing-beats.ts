import { periodAt, phaseOf, slotsUntil, TICK_SECONDS } from "../../model/beat.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { CyclesMessage, Queue } from "../../model/messages.ts";
import type { Log } from "../ports/cycle-ports.ts";
import type { Ticks } from "../ports/schedule-ports.ts";
import { beatsOf } from "./fan-out.ts";

/** A tick fires up to a minute late and is gathered for 75 s; what is not noted by then is lost, or too late. */
const NOTED_MILLISECONDS = 150_000;

interface Needs {
  readonly cycles: Queue<CyclesMessage>;
  readonly ticks: Ticks;
  readonly now: () => Date;
}

/**
 * Sends the beats from now on that no tick has sent for these mappings of a workspace, with those that the tick of this
 * period covers, if it began so long ago. Gives the number of mappings that lacked some.
 */
export async function sendMissing(
  { cycles, ticks, now: clock }: Needs,
  workspaceId: string,
  mappingIds: readonly string[],
  milliseconds = 0,
): Promise<number> {
  const [now, phase] = [clock(), phaseOf(workspaceId)];
  const due = periodAt(new Date(now.getTime() - milliseconds), phase);
  const noted = await ticks.read(workspaceId);
  const lastOf = (id: string) => noted.get(id) ?? 0;
  const missing = mappingIds.filter((id) => lastOf(id) < due);
  for (const [last, ids] of Map.groupBy(missing, lastOf)) {
    const from = new Date(Math.max(now.getTime(), (last + TICK_SECONDS) * 1000));
    await cycles.send(beatsOf(workspaceId, ids, slotsUntil(due + TICK_SECONDS, from, phase, now)));
  }
  if (missing.length > 0) await ticks.note(workspaceId, missing, due);
  return missing.length;
}

/** The same for all active mappings whose ticks got lost, once a minute: so beats continue where no schedule fires. */
export async function fillTicks(needs: Needs & { readonly log: Log }, active: readonly Mapping[]): Promise<number> {
  let filled = 0;
  const ready = active.filter(({ provisioning }) => provisioning.state === "ready");
  for (const [workspaceId, mappings] of Map.groupBy(ready, (mapping) => mapping.workspaceId))
    filled += await sendMissing(
      needs,
      workspaceId,
      mappings.map(({ id }) => id),
      NOTED_MILLISECONDS,
    );
  if (filled > 0) needs.log({ level: "warn", event: "ticks missing", mappings: filled });
  return filled;
}
