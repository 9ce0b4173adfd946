import { VALUES } from "./mapped-objects.ts";
import type { Sources } from "./read-evidence.ts";
import type { Run } from "./run.ts";

/** The functions whose calls the engine books by mapping. */
const CALLERS = ["run-cycle", "load-mapping", "provision-mapping"];

/** What the evidence is read from; in peace only answered calls count, which are those that the org has counted. */
export function sourcesOf(
  { stage, mappings, colleagues, migrator, receiver, trouble, parts, restorer }: Run,
  isQuiet: boolean,
  retried: Sources["retried"] = [],
): Sources {
  const { writes, ...ledger } = stage.wire.ledger;
  const calls = isQuiet ? ledger.calls : ledger.sent;
  const by = (isCaller: (worker: string) => boolean) => {
    const sum: Record<string, number> = {};
    for (const [worker, counts] of Object.entries(calls)) {
      if (!isCaller(worker)) continue;
      for (const [label, count] of Object.entries(counts)) sum[label] = (sum[label] ?? 0) + count;
    }
    return sum;
  };
  const others = Object.values(by((worker) => !CALLERS.includes(worker))).reduce((all, one) => all + one, 0);
  return {
    databaseUrl: stage.databaseUrl,
    orgUrl: stage.org.url,
    accessToken: stage.org.accessToken,
    objects: mappings.map(({ object }) => object),
    columns: VALUES,
    colleagues: colleagues.deeds,
    merged: colleagues.merged,
    uncaptured: migrator.uncaptured,
    writes,
    retried,
    heard: receiver.received.map(({ body }) => heardIn(body)),
    lateReports: lateReports(stage),
    struck: [...functionsStruck(trouble), ...parts.strikes],
    restored: restorer.restored,
    wireCalls: by((worker) => CALLERS.includes(worker)),
    colleaguesCalls: colleagues.calls() + others,
    isQuiet,
  };
}

/** Where a part was struck, the process at the point continued. */
const functionsStruck = ({ done }: Run["trouble"]): Sources["struck"] =>
  done.filter(({ whom }) => whom === "function").map(({ pid, at }) => ({ whom: pid, at }));

/** What cycles said of saves that came after the lease was lost. */
export function lateReports({ notes }: Pick<Run["stage"], "notes">): Sources["lateReports"] {
  return notes
    .filter(({ line }) => line.includes("saves came after the lease was lost"))
    .map(({ at, line }) => ({
      table: String((JSON.parse(line) as { sf_object: unknown }).sf_object).toLowerCase(),
      at,
    }));
}

function heardIn(body: string): { eventId: string; logId: number | null } {
  const { id, data } = JSON.parse(body) as { id: string; data: { trigger_log_id?: number } };
  return { eventId: id, logId: data.trigger_log_id ?? null };
}
