import * as z from "zod/mini";
import type { Semaphore } from "../../../webhooks/ports.ts";
import type { Database } from "../client/client.ts";
import { readItem } from "../client/read-item.ts";
import { updateIf } from "../client/transact.ts";

const itemShape = z.object({ holders: z.record(z.string(), z.string()) });

/** Seconds after which an unused item may expire. */
const KEPT_SECONDS = 3600;

/** At most `places` holders at once per webhook, over all workers. The slot of a dead holder expires. */
export function semaphore(database: Database, places: number, now: () => Date): Semaphore {
  const keyOf = (webhookId: string) => ({ pk: `turns#${webhookId}`, sk: "turns" });

  const take = (webhookId: string, holder: string, until: Date): Promise<boolean> =>
    holds(database, {
      Key: keyOf(webhookId),
      UpdateExpression: "SET holders.#holder = :until, expires_at = :expiry",
      ConditionExpression: "attribute_exists(holders.#holder) OR size(holders) < :places",
      ExpressionAttributeNames: { "#holder": holder },
      ExpressionAttributeValues: {
        ":until": until.toISOString(),
        ":places": places,
        ":expiry": Math.floor(until.getTime() / 1000) + KEPT_SECONDS,
      },
    });

  /** Makes the item, or clears it of holders whose time has passed; false when all of them still hold. */
  const makeRoom = async (webhookId: string): Promise<boolean> => {
    const item = await readItem(database, "webhooks", keyOf(webhookId));
    if (!item) return create(webhookId);
    const holders = Object.entries(itemShape.parse(item).holders);
    const gone = holders.filter(([, until]) => new Date(until) <= now());
    await Promise.all(gone.map(([holder, until]) => clear(webhookId, holder, until)));
    return holders.length - gone.length < places;
  };

  const create = async (webhookId: string): Promise<boolean> => {
    await updateIf(database, "webhooks", {
      Key: keyOf(webhookId),
      UpdateExpression: "SET holders = if_not_exists(holders, :none)",
      ExpressionAttributeValues: { ":none": {} },
    });
    return true;
  };

  const clear = (webhookId: string, holder: string, until: string): Promise<boolean> =>
    holds(database, {
      Key: keyOf(webhookId),
      UpdateExpression: "REMOVE holders.#holder",
      ConditionExpression: "holders.#holder = :until",
      ExpressionAttributeNames: { "#holder": holder },
      ExpressionAttributeValues: { ":until": until },
    });

  return {
    take: async (webhookId, holder, until) => {
      if (await take(webhookId, holder, until)) return true;
      return (await makeRoom(webhookId)) && take(webhookId, holder, until);
    },

    giveBack: async (webhookId, holder) => {
      await holds(database, {
        Key: keyOf(webhookId),
        UpdateExpression: "REMOVE holders.#holder",
        ConditionExpression: "attribute_exists(holders)",
        ExpressionAttributeNames: { "#holder": holder },
      });
    },
  };
}

/** False when the condition of a write did not hold. */
async function holds(database: Database, update: Parameters<typeof updateIf>[2]): Promise<boolean> {
  try {
    return (await updateIf(database, "webhooks", update)) !== null;
  } catch (error) {
    if (isNoPath(error)) return false;
    throw error;
  }
}

/** The item, and with it the map of holders, is not there yet. */
function isNoPath(error: unknown): boolean {
  return error instanceof Error && error.name === "ValidationException" && /document path/.test(error.message);
}
