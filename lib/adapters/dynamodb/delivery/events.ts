import { DynamoDBServiceException } from "@aws-sdk/client-dynamodb";
import * as z from "zod/mini";
import { EVENT_TYPES, type Event } from "../../../model/delivery/event.ts";
import { toCamelCase } from "../../../model/snake-case.ts";
import { EventRefused, type EventRows } from "../../../webhooks/ports.ts";
import { deleteItems, putItems, readItems } from "../client/batch.ts";
import type { Database } from "../client/client.ts";
import { readEach, scanAll } from "../client/read-item.ts";
import { storedTime } from "../client/stored-time.ts";
import { updateIf } from "../client/transact.ts";
import { eventItem } from "../event-item.ts";

/** The events that wait to be dispatched. The table holds no others, so looking for late ones reads it whole. */
export function eventRows(database: Database, now: () => Date): EventRows {
  return {
    add: async (events) => {
      const items = events.map(eventItem);
      const [wrong] = items.flatMap((item) => eventShape.safeParse(item).error?.issues ?? []);
      if (wrong) throw new EventRefused(new Error(`its ${wrong.path.join(".")} ${wrong.message}`));
      await putItems(database, "events", items).catch((error: unknown) => {
        throw isRefusedForGood(error) ? new EventRefused(error) : error;
      });
    },

    read: async (keys) => {
      const asked = distinct(keys.map((key) => ({ pk: key.workspaceId, sk: key.eventId })));
      const items = await readItems(database, "events", asked);
      return readEach(items, readEvent).filter((event) => event.expiresAt > now());
    },

    forget: (events) => deleteItems(database, "events", events.map(keyOf)),

    async *late(before) {
      const pages = scanAll(database, "events", {
        FilterExpression: "(attribute_not_exists(due_at) AND occurred_at < :before) OR due_at < :before",
        ExpressionAttributeValues: { ":before": before.toISOString() },
      });
      for await (const items of pages) {
        const late = readEach(items, readEvent).filter((event) => event.expiresAt > now());
        if (late.length > 0) yield late;
      }
    },

    postpone: async (events, until) => {
      const postpone = (event: Event) =>
        updateIf(database, "events", {
          Key: keyOf(event),
          UpdateExpression: "SET due_at = :until",
          // An event that was dispatched meanwhile stays away.
          ConditionExpression: "attribute_exists(pk)",
          ExpressionAttributeValues: { ":until": until.toISOString() },
        });
      await Promise.all(events.map(postpone));
    },
  };
}

/** An item of more than 400 KB, or of another form than the table's (ValidationException); a request of more than 16 MB. */
function isRefusedForGood(error: unknown): error is Error {
  if (!(error instanceof DynamoDBServiceException)) return false;
  return error.name === "ValidationException" || error.$metadata.httpStatusCode === 413;
}

const keyOf = ({ workspaceId, id }: Event) => ({ pk: workspaceId, sk: id });

/** Beyond so many characters its deliveries, which hold more beside it, could not be kept. */
const LONGEST_DETAIL = 100_000;

const eventShape = z.object({
  pk: z.string(),
  sk: z.string(),
  event: z.enum(EVENT_TYPES, { error: "is no event of Bridge's" }),
  occurred_at: storedTime,
  detail: z
    .string()
    .check(
      z.startsWith("{", { error: "must be an object" }),
      z.maxLength(LONGEST_DETAIL, { error: `must be at most ${LONGEST_DETAIL} characters` }),
    ),
  expires_at: z.number(),
});

function readEvent(item: Record<string, unknown>): Event & { readonly expiresAt: Date } {
  const { pk, sk, detail, expiresAt, ...event } = toCamelCase(eventShape, eventShape.parse(item));
  const kept = { detail: JSON.parse(detail) as Record<string, unknown>, expiresAt: new Date(expiresAt * 1000) };
  return { ...event, ...kept, id: sk, workspaceId: pk };
}

function distinct(keys: readonly { pk: string; sk: string }[]): { pk: string; sk: string }[] {
  return [...new Map(keys.map((key) => [`${key.pk}/${key.sk}`, key])).values()];
}
