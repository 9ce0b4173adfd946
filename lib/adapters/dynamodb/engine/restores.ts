import type { Restores } from "../../../settings/restore/restore-ports.ts";
import type { Database } from "../client/client.ts";
import { updateIf } from "../client/transact.ts";
import { mappingKey } from "./engine.ts";
import { totalsKey } from "./high-water.ts";

interface Given extends Readonly<Record<string, unknown>> {
  readonly condition?: string;
}

/** Restores as attributes of the engine's items and of the counters. */
export function restores(database: Database): Restores {
  // Another version of the item, so that a cycle under way does not write its own over it; the last failure is over.
  const update = (workspaceId: string, mappingId: string, change: string, { condition, ...values }: Given) =>
    updateIf(database, "engine", {
      ...(condition !== undefined && { ConditionExpression: condition }),
      Key: { pk: workspaceId, sk: mappingKey(mappingId) },
      UpdateExpression: `SET mark = if_not_exists(mark, :none) + :one, failed_cycles = if_not_exists(failed_cycles, :none),
        broken_since = if_not_exists(broken_since, :null), #reason = :null, message = :null, rest_until = :null${change}`,
      ExpressionAttributeNames: { "#reason": "reason" },
      ExpressionAttributeValues: { ":none": 0, ":one": 1, ":null": null, ...values },
    });
  return {
    begin: async (workspaceId, mappingIds, at) => {
      for (const id of mappingIds) await update(workspaceId, id, ", rewound_at = :at", { ":at": at.toISOString() });
    },
    accept: async (workspaceId, mappingId) => {
      await updateIf(database, "counters", {
        Key: totalsKey(workspaceId, mappingId),
        UpdateExpression: "REMOVE reached",
        ConditionExpression: "attribute_exists(reached)",
      });
      const condition = "attribute_exists(rewound_at) OR attribute_exists(reached) OR failed_cycles > :none";
      await update(workspaceId, mappingId, " REMOVE rewound_at, reached", { condition });
    },
  };
}
