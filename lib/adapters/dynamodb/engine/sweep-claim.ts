import * as z from "zod/mini";
import type { SweepNeeds } from "../../../sync/beat/sweep-minute.ts";
import type { Database } from "../client/client.ts";
import { settingOf } from "../client/difference.ts";
import { readItem } from "../client/read-item.ts";
import { updateIf } from "../client/transact.ts";

/** Beside the workspaces' items, whose keys are ids. */
const KEY = { pk: "sweep", sk: "minute" };

const item = z.object({ minute: z.number() });

/** How far the daily checks of all mappings are, over all invocations; it never goes back. */
export function sweptMinutes(database: Database): SweepNeeds["swept"] {
  return {
    read: async () => {
      const stored = await readItem(database, "engine", KEY);
      return stored === undefined ? null : item.parse(stored).minute;
    },
    keep: async (minute) => {
      await updateIf(database, "engine", {
        Key: KEY,
        ...settingOf({ minute }),
        ConditionExpression: "attribute_not_exists(#minute) OR #minute < :minute",
      });
    },
  };
}
