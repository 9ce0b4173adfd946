import { randomUUID } from "node:crypto";
import pLimit from "p-limit";
import * as z from "zod/mini";
import { describeFault } from "../../lib/model/fault.ts";
import { writeLine } from "../../lib/model/log-line.ts";
import { CYCLES_AT_ONCE, type CycleMessage, type CyclesMessage, cyclesIn } from "../../lib/model/messages.ts";
import { WORKERS } from "../../lib/model/resources.ts";
import { handleCycleMessage, type Invocation } from "../../lib/sync/beat/handle-cycle-message.ts";
import { UNKNOWN } from "../../lib/sync/beat/idle-beats.ts";
import { concludeDeath } from "../../lib/sync/report/conclude-cycle.ts";
import { UNBEGUN } from "../../lib/sync/report/figures.ts";
import { atWork, takeUnfinished } from "../invocation/cycle-journal.ts";
import { gatherFigures } from "../invocation/emit-figures.ts";
import { handOverTogether, invocationServices, type Left, lookTogether } from "../invocation/invocation-services.ts";
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

type LookAt = Exclude<Invocation["look"], undefined>;

/** Cycles at work at once: what the function's memory bears (infra/SIZING.md). */
const MOST_AT_ONCE = 30;

/**
 * Runs the cycles of a batch at once, each for itself; a workspace whose database hangs leaves room for the others. Of a
 * message that names many mappings those with work get messages of their own, where they are too many for one call. Then
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
  const owner = `run-cycle ${randomUUID()}`;
  const [look, handOver] = [lookTogether(services), handOverTogether(services)];
  const all = pLimit(MOST_AT_ONCE);
  const limits = new Map(messages.map(({ workspace_id }) => [workspace_id, pLimit(CYCLES_AT_ONCE)]));
  const alone: { readonly cycle: CycleMessage; readonly deaths: number }[] = [];
  const answer = async (cycle: CycleMessage, how: Pick<Invocation, "look" | "isAlone">) => {
    const ofWorkspace = limits.get(cycle.workspace_id) ?? all;
    const whenRoom: Invocation["whenRoom"] = (work) => ofWorkspace(() => all(() => atWork(cycle, work)));
    try {
      const deaths = await handleCycleMessage(services, cycle, { owner, deadline, whenRoom, ...how });
      if (deaths > 0) alone.push({ cycle, deaths });
    } catch (fault) {
      figures.add(UNBEGUN);
      throw fault;
    }
  };
  const run = (message: CyclesMessage) => {
    const isLong = (message.also?.length ?? 0) >= CYCLES_AT_ONCE;
    const how = { look: isLong ? limitWork(look, handOver) : look };
    return endAll(cyclesIn(message).map((cycle) => answer(cycle, how)));
  };
  const undone = await each(run)(messages);
  figures.emit(cycles.length);
  // Who died least often comes first: the function may die of the next.
  for (const { cycle } of alone.toSorted((one, other) => one.deaths - other.deaths)) {
    await answer(cycle, { look, isAlone: true }).catch(logFault); // the next beat or the sweep asks again
  }
  figures.emit(alone.length);
  return undone;
});

/** From the eleventh on, beats of a message that have work go to messages of their own; where that fails, they stay. */
function limitWork(look: LookAt, handOver: (beat: Left) => Promise<void>): LookAt {
  let working = 0;
  return async (beat) => {
    const looked = await look(beat);
    if (looked.idle || ++working <= CYCLES_AT_ONCE) return looked;
    return handOver({ ...beat, hasNews: looked.hasToPull === true }).then(
      () => ({ ...UNKNOWN, isHandedOver: true }),
      () => looked,
    );
  };
}

const logFault = (fault: unknown) => writeLine({ level: "error", fault: describeFault(fault) });

/** Lets every cycle come to its end before one's failure is thrown. */
async function endAll(cycles: readonly Promise<void>[]): Promise<void> {
  for (const end of await Promise.allSettled(cycles)) if (end.status === "rejected") throw end.reason;
}
