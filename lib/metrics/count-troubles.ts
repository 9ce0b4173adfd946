import type { Pauses } from "../access/ports.ts";
import type { KeptReport } from "../health/ports.ts";
import type { Mapping } from "../model/mapping/mapping.ts";

/** Active mappings that do not work, though no person paused them. */
export interface Troubles {
  /** Broken, or without a table because what was asked for cannot be created. */
  readonly broken: number;
  /** Without a cycle that has ended of late, and not broken. */
  readonly silent: number;
}

interface Needs {
  readonly reports: ReadonlyMap<string, KeptReport>;
  readonly pauses: Pauses;
  readonly now: () => Date;
}

/** Cycles begin every ten seconds and last three minutes at most; after a failure they rest for five. */
const SILENT_MILLISECONDS = 360_000;

/**
 * Counts them by what the sweeps have seen, this one and those before: a database that does not answer leaves the time
 * of its last cycle as it was, so that a cycle which never begins needs no other to be missed.
 */
export async function countTroubles({ reports, pauses, now }: Needs, active: readonly Mapping[]): Promise<Troubles> {
  const troubles = { broken: 0, silent: 0 };
  for (const [workspaceId, mappings] of Map.groupBy(active, (mapping) => mapping.workspaceId)) {
    const { mappings: ends = [], figures = null } = reports.get(workspaceId) ?? {};
    const brokenIds = new Set(ends.filter(({ broken }) => broken).map(({ mappingId }) => mappingId));
    const lastCycles = new Map(figures?.mappings?.map(({ id, lastCycleAt }) => [id, lastCycleAt ?? 0]));
    const isBroken = ({ id, provisioning }: Mapping) => brokenIds.has(id) || provisioning.state === "failed";
    const isSilent = ({ id, provisioning, updatedAt }: Mapping) =>
      provisioning.state === "ready" &&
      now().getTime() - Math.max(lastCycles.get(id) ?? 0, updatedAt.getTime()) > SILENT_MILLISECONDS;
    const broken = mappings.filter(isBroken).length;
    const silent = mappings.filter((mapping) => !isBroken(mapping) && isSilent(mapping)).length;
    if (broken + silent === 0 || (await pauses.find(workspaceId)) !== null) continue;
    troubles.broken += broken;
    troubles.silent += silent;
  }
  return troubles;
}
