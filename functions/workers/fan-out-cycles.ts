import * as z from "zod/mini";
import { fanOut } from "../../lib/sync/beat/fan-out.ts";
import { UNBEGUN } from "../../lib/sync/report/figures.ts";
import { gatherFigures } from "../invocation/emit-figures.ts";
import { each, onQueue } from "../invocation/on-queue.ts";
import { ticks as noted, queue } from "../services/composition.ts";
import { clock } from "../services/cycle-services.ts";

const tick = z.object({ workspace_id: z.string(), mapping_id: z.string(), scheduled_at: z.iso.datetime() });

/** Turns each tick into the beats of the five minutes that it covers: all of a batch at once, or one by one. */
export const handler = onQueue(tick, async (ticks) => {
  const needs = { cycles: queue("cycles"), ticks: noted(), clock };
  try {
    await fanOut(needs, ticks);
    return [];
  } catch {
    const undone = await each((one: (typeof ticks)[number]) => fanOut(needs, [one]))(ticks);
    const figures = gatherFigures();
    for (const _ of undone) figures.add(UNBEGUN);
    figures.emit(ticks.length);
    return undone;
  }
});
