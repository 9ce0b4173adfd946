import { chunks } from "../../model/chunks.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import { CYCLES_AT_ONCE, type CyclesMessage, cyclesMessage, type Queue, type Wakes } from "../../model/messages.ts";
import type { WakeUpTimes } from "../ports/wake-ports.ts";

interface Needs {
  readonly times: WakeUpTimes;
  readonly cycles: Queue<CyclesMessage>;
}

/** What this process knows to come, by mapping and side (epoch milliseconds), so that a storm costs no claims. */
const coming = new Map<string, number>();

/** Wake-ups that one process caches at most. */
const MOST_REMEMBERED = 10_000;

/**
 * Wakes cycles for news of one side, at once or at a time (epoch milliseconds), each mapping at most every two seconds
 * however often it is asked for. Nothing depends on it: what a wake-up misses, the next beat finds.
 */
export async function wake(
  { times, cycles }: Needs,
  mappings: readonly Pick<Mapping, "id" | "workspaceId">[],
  wakes: Wakes,
  { now, at = now }: { readonly now: number; readonly at?: number },
): Promise<void> {
  const claims = await Promise.all(
    mappings.map(async ({ id, workspaceId }) => {
      const name = `${wakes} ${id}`;
      if ((coming.get(name) ?? 0) > at) return null;
      const time = await times.claimWake({ workspaceId, mappingId: id, wakes, at });
      if (coming.size >= MOST_REMEMBERED) coming.clear();
      if (time !== null) coming.set(name, time);
      return time === null ? null : { id, workspaceId, delaySeconds: Math.ceil((time - now) / 1000) };
    }),
  );
  const groups = Map.groupBy(
    claims.filter((claim) => claim !== null),
    ({ workspaceId, delaySeconds }) => `${workspaceId} ${delaySeconds}`,
  );
  const messages = [...groups.values()]
    .flatMap((group) => chunks(group, CYCLES_AT_ONCE))
    .flatMap((some) => {
      const [first] = some;
      if (!first) return [];
      const rest = { workspace_id: first.workspaceId, kind: "pull", slot: null, wakes } as const;
      const ids = some.map(({ id }) => id);
      return [{ message: cyclesMessage(ids, rest), delaySeconds: first.delaySeconds }];
    });
  if (messages.length > 0) await cycles.send(messages);
}
