import { isUnsupported } from "../../model/change/refusal.ts";
import { everything } from "../../model/mapping/soql.ts";
import { OVERLAP_SECONDS } from "../../model/record/position.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { type Lanes, LongWorkUnderWay } from "../ports/lease-ports.ts";
import type { LoadCheckpoint } from "../ports/load-ports.ts";
import { commitMarks } from "./read-page.ts";

/**
 * Leaves what changed since the position to a job of the Bulk API, which long work reads beside the cycles; the cycles
 * continue from the job's time. Null: there is no such job, or long work of another kind is unfinished, and the lane
 * reads on alone.
 */
export async function handOverBacklog(
  cycle: Cycle,
  since: Date,
  lanes: Lanes,
): Promise<{ readonly position: Date; readonly lanes: Lanes; readonly load: LoadCheckpoint } | null> {
  const { salesforce, shape, hold, shared, tally } = cycle;
  await hold.mayRead();
  try {
    const { jobId, readAt } = await hold.during(() => salesforce.startBulkQuery(everything(shape, since)));
    const job = { bulk: { jobId, locator: null }, afterId: null, afterRow: null };
    const load: LoadCheckpoint = { kind: "backlog", since: since.toISOString(), startedAt: readAt, ...job };
    const reached = new Date(readAt.getTime() - OVERLAP_SECONDS * 1000);
    const position = reached > since ? reached : since;
    const marks = { position, lanes: { ...lanes, fast: undefined, pages: undefined }, load };
    await commitMarks(cycle, readAt, marks);
    tally.notes.push(`what changed since ${since.toISOString()} is much, and is read by Bulk query job ${jobId}`);
    await shared.sendLoad(shape.mappingId);
    return marks;
  } catch (error) {
    if (!isUnsupported(error) && !(error instanceof LongWorkUnderWay)) throw error;
    tally.notes.push(`what changed is much, and is read by REST (${error.message})`);
    return null;
  }
}
