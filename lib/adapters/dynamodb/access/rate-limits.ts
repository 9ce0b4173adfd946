import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { RateLimits } from "../../../access/ports.ts";
import type { Database } from "../client/client.ts";

/** A window's item is of no use once its minute is over; it goes a few minutes later. */
const KEPT_SECONDS = 300;

/** Exact counts, one item per source and minute. */
export function rateLimits({ client, table }: Database): RateLimits {
  return {
    count: async (source, at) => {
      const minute = Math.floor(at.getTime() / 60_000);
      const { Attributes } = await client.send(
        new UpdateCommand({
          TableName: table("rateLimits"),
          Key: { pk: `${source}#${minute}` },
          UpdateExpression: "ADD requests :one SET expires_at = :expires",
          ExpressionAttributeValues: { ":one": 1, ":expires": minute * 60 + 60 + KEPT_SECONDS },
          ReturnValues: "UPDATED_NEW",
        }),
      );
      return item.parse(Attributes).requests;
    },
  };
}

const item = z.object({ requests: z.number() });
