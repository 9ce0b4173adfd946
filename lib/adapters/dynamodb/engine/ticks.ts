import type { Ticks } from "../../../sync/ports/schedule-ports.ts";
import type { Database } from "../client/client.ts";
import { settingOf } from "../client/difference.ts";
import { readItem } from "../client/read-item.ts";
import { updateIf } from "../client/transact.ts";

const KEPT_SECONDS = 86_400;

/** An item of its own partition for each workspace: cycles read none of it. */
const keyOf = (workspaceId: string) => ({ pk: `${workspaceId}#ticks`, sk: "ticks" });

/** The last period of each mapping whose beats were sent, in the engine's table. */
export const ticks = (database: Database): Ticks => ({
  note: async (workspaceId, mappingIds, period) => {
    const noted = { ...Object.fromEntries(mappingIds.map((id) => [id, period])), expires_at: period + KEPT_SECONDS };
    await updateIf(database, "engine", { Key: keyOf(workspaceId), ...settingOf(noted) });
  },
  read: async (workspaceId) => {
    const { pk: _, sk: __, expires_at: ___, ...noted } = (await readItem(database, "engine", keyOf(workspaceId))) ?? {};
    return new Map(Object.entries(noted).map(([id, period]) => [id, Number(period)]));
  },
});
