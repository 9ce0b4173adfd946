import { randomUUID } from "node:crypto";
import pLimit from "p-limit";
import * as z from "zod/mini";
import { describeFault } from "../../lib/model/fault.ts";
import { writeLine } from "../../lib/model/log-line.ts";
import { type CycleMessage, type CyclesMessage, cyclesIn, MAPPINGS_PER_MESSAGE } from "../../lib/model/messages.ts";
import { WORKERS } from "../../lib/model/resources.ts";
import { handleCycleMessage } from "../../lib/sync/beat/handle-cycle-message.ts";
import { concludeDeath } from "../../lib/sync/report/conclude-cycle.ts";
import { UNBEGUN } from "../../lib/sync/report/figures.ts";
import { atWork, takeUnfinished } from "../invocation/cycle-journal.ts";
import { gatherFigures } from "../invocation/emit-figures.ts";
import { invocationServices, lookTogether } from "../invocation/invocation-services.ts";
import { each, onQueue } from "../invocation/on-queue.ts";
import { clock } from "../services/cycle-services.ts";

const cyclesMessage = z.object({
  workspace_id: z.string(),
  mapping_id: z.string(),
  also: z.optional(z.array(z.string())),
  kind: z.enum(["beat", "poll", "pull"]),
  slot: z.nullable(z.int()),
  mark: z.optional(z.string()),
  wakes: z.optional(z.enum(["push", "pull"])),
});

/** Cycles at work at once: what the function's memory bears, and of one workspace what its database is to bear (infra/SIZING.md). */
const MOST_AT_ONCE = 30;
const MOST_OF_A_WORKSPACE = MAPPINGS_PER_MESSAGE;

/**
 * Runs the cycles of a batch at once, each for itself; a workspace whose database hangs leaves room for the others. Then
 * those whose function died, one after the other: a death ends no cycle of another mapping.
 */
export const handler = onQueue(cyclesMessage, async (messages) => {
  const deadline = clock.now() + (WORKERS["run-cycle"].timeoutSeconds - 2) * 1000;
  const figures = gatherFigures();
  const died = takeUnfinished().map((key) => ({ ...key, kind: "beat", slot: null }) as const);
  const dying = invocationServices(died);
  for (const cycle of died) await concludeDeath(dying, cycle).catch(logFault);
  const cycles = messages.flatMap(cyclesIn);
  const services = { ...invocationServices(cycles), figures: figures.add };
  const invocation = { owner: `run-cycle ${randomUUID()}`, deadline, look: lookTogether(services) };
  const all = pLimit(MOST_AT_ONCE);
  const limits = new Map(messages.map(({ workspace_id }) => [workspace_id, pLimit(MOST_OF_A_WORKSPACE)]));
  const alone: { readonly cycle: CycleMessage; readonly deaths: number }[] = [];
  const answer = async (cycle: CycleMessage, isAlone = false) => {
    try {
      const deaths = await atWork(cycle, () => handleCycleMessage(services, cycle, { ...invocation, isAlone }));
      if (deaths > 0) alone.push({ cycle, deaths });
    } catch (fault) {
      figures.add(UNBEGUN);
      throw fault;
    }
  };
  const run = (message: CyclesMessage) => {
    const ofWorkspace = limits.get(message.workspace_id) ?? all;
    return endAll(cyclesIn(message).map((cycle) => ofWorkspace(() => all(() => answer(cycle)))));
  };
  const undone = await each(run)(messages);
  figures.emit(cycles.length);
  // Who died least often comes first: the function may die of the next.
  for (const { cycle } of alone.toSorted((one, other) => one.deaths - other.deaths)) {
    await answer(cycle, true).catch(logFault); // the next beat or the sweep asks again
  }
  figures.emit(alone.length);
  return undone;
});

const logFault = (fault: unknown) => writeLine({ level: "error", fault: describeFault(fault) });

/** Lets every cycle come to its end before one's failure is thrown. */
async function endAll(cycles: readonly Promise<void>[]): Promise<void> {
  for (const end of await Promise.allSettled(cycles)) if (end.status === "rejected") throw end.reason;
}
