import { Failure } from "../model/failure.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import type { Doing } from "../model/workspace/audit.ts";
import { type ChangeNeeds, changeMapping } from "./change-mapping.ts";
import { nextVersion, requireVersion, versionOf } from "./version.ts";

interface Asked extends Doing {
  readonly mappingId: string;
  readonly ifMatch: string | null;
}

/** What can be done to a mapping as a whole. Each may be asked for again: what is so already stays so. */
export type Switch = "activate" | "deactivate" | "delete" | "restore";

const CHANGES: Readonly<Record<Switch, (mapping: Mapping, at: Date) => Partial<Mapping>>> = {
  activate: () => ({ active: true }),
  deactivate: () => ({ active: false }),
  delete: (_, at) => ({ active: false, deletedAt: at }),
  // It comes back paused, so that it can be checked before it is activated.
  restore: () => ({ deletedAt: null }),
};

/** Activates, pauses, ends or takes up a mapping again; the mapping as it is then. */
export function switchMapping(needs: ChangeNeeds, asked: Asked, to: Switch): Promise<Mapping> {
  return changeMapping(needs, asked, async (existing) => {
    const before = await find(needs, asked, existing, to);
    requireVersion(asked.ifMatch, versionOf(before));
    const wanted = { ...before, ...CHANGES[to](before, asked.at) };
    const isSo = wanted.active === before.active && (wanted.deletedAt === null) === (before.deletedAt === null);
    return { before, after: isSo ? before : nextVersion(wanted, asked.at) };
  });
}

async function find(needs: ChangeNeeds, asked: Asked, existing: readonly Mapping[], to: Switch): Promise<Mapping> {
  const mapping = existing.find(({ id }) => id === asked.mappingId);
  if (mapping) return mapping;
  const deleted = to === "restore" ? await needs.mappings.listDeleted(asked.workspaceId) : [];
  const ended = deleted.find(({ id }) => id === asked.mappingId);
  if (ended) return ended;
  throw new Failure("MAPPING_NOT_FOUND", "this workspace has no mapping with this id");
}
