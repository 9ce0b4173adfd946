import type { Mapping } from "../model/mapping.ts";
import { type ChangeNeeds, changeMapping } from "./change-mapping.ts";

/** Makes the next version of a mapping, its settings as they are, unless it has moved on; its table is made anew for it. */
export async function renewMapping(needs: ChangeNeeds, { id, workspaceId, configVersion }: Mapping, at: Date) {
  await changeMapping(needs, { workspaceId, actor: "system", at }, async (existing) => {
    const before = existing.find((mapping) => mapping.id === id);
    if (before?.configVersion !== configVersion) return null;
    const after = {
      ...before,
      configVersion: configVersion + 1,
      provisioning: { state: "pending" },
      updatedAt: at,
    } as const;
    return { before, after };
  });
}
