import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { RateLimits } from "../../../access/ports.ts";
import type { Database } from "../client/client.ts";

/** A window's item is of no use once its minute is over; it goes a few minutes later. */
const KEPT_SECONDS = 300;

/** Requests that wait for the next write of their window; each is told its place among them. */
interface Waiting {
  readonly told: Promise<number>;
  requests: number;
}

/**
 * Exact counts, one item per source and minute. Requests that meet in one process while a write of their window is under
 * way are added together by the next one.
 */
export function rateLimits(database: Database): RateLimits {
  const next = new Map<string, Waiting>();
  const underWay = new Map<string, Promise<unknown>>();

  const begin = (window: string, minute: number): Waiting => {
    const before = underWay.get(window) ?? Promise.resolve();
    const waiting: Waiting = {
      requests: 0,
      told: before
        .catch(() => undefined) // whoever waited for that write was told of its trouble
        .then(() => {
          next.delete(window);
          return add(database, window, minute, waiting.requests);
        })
        .finally(() => {
          if (underWay.get(window) === waiting.told) underWay.delete(window);
        }),
    };
    next.set(window, waiting);
    underWay.set(window, waiting.told);
    return waiting;
  };

  return {
    count: async (source, at) => {
      const minute = Math.floor(at.getTime() / 60_000);
      const window = `${source}#${minute}`;
      const waiting = next.get(window) ?? begin(window, minute);
      waiting.requests += 1;
      const place = waiting.requests;
      const total = await waiting.told;
      return total - waiting.requests + place;
    },
  };
}

const item = z.object({ requests: z.number() });

async function add(database: Database, window: string, minute: number, requests: number): Promise<number> {
  const { Attributes } = await database.client.send(
    new UpdateCommand({
      TableName: database.table("rateLimits"),
      Key: { pk: window },
      UpdateExpression: "ADD requests :more SET expires_at = :expires",
      ExpressionAttributeValues: { ":more": requests, ":expires": minute * 60 + 60 + KEPT_SECONDS },
      ReturnValues: "UPDATED_NEW",
    }),
  );
  return item.parse(Attributes).requests;
}
