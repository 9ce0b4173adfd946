import type { KeptReport } from "../../health/ports.ts";
import type { CyclesMessage, Queue } from "../../model/messages.ts";

/** A poll without an answer for so long has lost its message or its process; longer than a cycle, even if one is at work. */
const LOST_MILLISECONDS = 60_000;
const CYCLE_MILLISECONDS = 240_000;

/** Sends lost polls again; the lease makes a second message harmless. After a quarter of an hour no caller waits. */
export async function resendPolls(
  { cycles, now }: { readonly cycles: Queue<CyclesMessage>; readonly now: () => Date },
  reports: ReadonlyMap<string, Pick<KeptReport, "figures" | "openPolls">>,
): Promise<void> {
  const lost = [...reports].flatMap(([workspace_id, { figures, openPolls }]) => {
    const running = new Set(figures?.mappings?.filter((one) => one.running).map(({ id }) => id));
    return openPolls
      .filter(({ mappingId, askedAt }) => {
        const age = now().getTime() - askedAt.getTime();
        return age > (running.has(mappingId) ? CYCLE_MILLISECONDS : LOST_MILLISECONDS) && age < 900_000;
      })
      .map(({ mark, mappingId }) => ({ workspace_id, mapping_id: mappingId, kind: "poll", slot: null, mark }) as const);
  });
  if (lost.length > 0) await cycles.send(lost.map((message) => ({ message })));
}
