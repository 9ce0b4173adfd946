import * as z from "zod/mini";
import type { RateLimits } from "../../../access/ports.ts";
import type { Database } from "../client/client.ts";
import { updateIf } from "../client/transact.ts";

/** A window's item is of no use once its minute is over; it goes a few minutes later. */
const KEPT_SECONDS = 300;

/** Exact counts, one item per source and minute. */
export function rateLimits(database: Database): RateLimits {
  return {
    count: async (source, at) => {
      const minute = Math.floor(at.getTime() / 60_000);
      const counted = await updateIf(database, "rateLimits", {
        Key: { pk: `${source}#${minute}` },
        UpdateExpression: "ADD requests :one SET expires_at = :expires",
        ExpressionAttributeValues: { ":one": 1, ":expires": minute * 60 + 60 + KEPT_SECONDS },
        ReturnValues: "UPDATED_NEW",
      });
      return item.parse(counted).requests;
    },
  };
}

const item = z.object({ requests: z.number() });
