import { deflateRawSync, inflateRawSync } from "node:zlib";
import { type Figures, figures, type KeepFigures } from "../../../metrics/ports.ts";
import type { Database } from "../client/client.ts";
import { settingOf } from "../client/difference.ts";
import { updateIf } from "../client/transact.ts";

/** Beside the workspace's own partition, which each cycle reads whole; older versions read neither. */
const OF_FIGURES = "#figures";

export const figuresKey = (workspaceId: string): string => `${workspaceId}${OF_FIGURES}`;

/** Figures expire this long after the last query. */
const KEPT_SECONDS = 86_400;

/**
 * Figures in the engine's table, one item a workspace. Lists are compressed to a fifth, because DynamoDB takes money by the
 * kilobyte and at most 400 of them: some 10,000 mappings.
 */
export const keepFigures = (database: Database, now: () => Date): KeepFigures => ({
  set: async (workspaceId, { mappings, webhooks }) => {
    await updateIf(database, "engine", {
      Key: { pk: figuresKey(workspaceId), sk: "seen" },
      ...settingOf({
        webhooks: packed(webhooks),
        expires_at: Math.floor(now().getTime() / 1000) + KEPT_SECONDS,
        ...(mappings && { mappings: packed(mappings) }),
      }),
    });
  },
});

/** The figures of a workspace in its item; null: there are none, or another version's. */
export function readFigures(item: Record<string, unknown>, now: Date): Figures | null {
  if (Number(item["expires_at"]) * 1000 <= now.getTime()) return null;
  const unpacked = { mappings: item["mappings"] && unpack(item["mappings"]), webhooks: unpack(item["webhooks"]) };
  return figures.safeParse(unpacked).data ?? null;
}

const packed = (list: readonly unknown[]): Uint8Array => deflateRawSync(JSON.stringify(list));

const unpack = (bytes: unknown): unknown => JSON.parse(inflateRawSync(bytes as Uint8Array).toString());
