import * as z from "zod/mini";
import type { HighWater } from "../../../model/high-water.ts";
import type { Database } from "../client/client.ts";
import { readEach, readItem } from "../client/read-item.ts";

/** A position as items keep it: fence, last value of the log's sequence, time in epoch milliseconds. */
export const highWaterItem = z.tuple([z.number(), z.number(), z.number()]);

type Stored = z.infer<typeof highWaterItem>;

export const highWaterOf = ([fence, logId, at]: Stored): HighWater => ({ fence, logId, at: new Date(at) });

export const highWaterFor = ({ fence, logId, at }: HighWater): Stored => [fence, logId, at.getTime()];

/** The key of a mapping's counters, which keep its positions. */
export const totalsKey = (workspaceId: string, mappingId: string) => ({ pk: workspaceId, sk: `mapping#${mappingId}` });

const totalsItem = z.object({ reached: z._default(z.array(highWaterItem), []) });

/** How far a mapping's database was by its counters, newest first; none: nothing was counted since it was accepted. */
export async function readHighWater(
  database: Database,
  workspaceId: string,
  mappingId: string,
): Promise<readonly HighWater[]> {
  const item = await readItem(database, "counters", totalsKey(workspaceId, mappingId));
  const read = readEach(item ? [item] : [], (one) => totalsItem.parse(one).reached.map(highWaterOf));
  return read.flat();
}
