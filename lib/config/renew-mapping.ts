import type { Mapping } from "../model/mapping/mapping.ts";
import { type ChangeNeeds, changeMapping } from "./change-mapping.ts";
import { nextVersion } from "./version.ts";

/** Creates the next version of a mapping with the same settings, unless it has moved on; its table is set up again. */
export async function renewMapping(needs: ChangeNeeds, mapping: Mapping, at: Date) {
  await changeMapping(needs, { workspaceId: mapping.workspaceId, actor: "system", at }, async (existing) => {
    const before = existing.find(({ id }) => id === mapping.id);
    const isSame = before?.configVersion === mapping.configVersion;
    return isSame ? { before, after: nextVersion(before, at) } : { before: mapping, after: mapping };
  });
}
