import type { Mapping } from "../model/mapping/mapping.ts";
import { type ChangeNeeds, changeMapping } from "./change-mapping.ts";
import { nextVersion } from "./version.ts";

/** Creates the next version of a mapping with the same settings, unless it has moved on; its table is set up again. */
export async function renewMapping(needs: ChangeNeeds, { id, workspaceId, configVersion }: Mapping, at: Date) {
  await changeMapping(needs, { workspaceId, actor: "system", at }, async (existing) => {
    const before = existing.find((mapping) => mapping.id === id);
    if (before?.configVersion !== configVersion) return null;
    return { before, after: nextVersion(before, at) };
  });
}
