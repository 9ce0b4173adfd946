import * as z from "zod/mini";
import { ACTIONS, STATES } from "../model/change.ts";
import { ROW_REFUSES } from "../model/row-refuses.ts";
import type { ChangeStory } from "./row-ports.ts";
import { nullableTimestamp, timestamp } from "./shapes.ts";

const columns = z.nullable(z.record(z.string(), z.nullable(z.string())));

/** One change with all that is known of it: what was captured, what was sent, what Salesforce said. */
export const changeView = z.object({
  id: z.int(),
  table_name: z.string(),
  record_id: z.int(),
  sfid: z.nullable(z.string()),
  action: z.enum(ACTIONS),
  state: z.enum(STATES),
  /** The changed columns before and after, as texts; null where there is no such side. */
  old: columns,
  values: columns,
  created_at: timestamp(),
  sent_at: nullableTimestamp(),
  synced_at: nullableTimestamp(),
  /** Attempts that counted; the fifth is the last. */
  attempts: z.int(),
  /** Not sent before. */
  due_at: nullableTimestamp(),
  _ab_err: z.nullable(z.string()),
  /** The delete breaker holds it back until somebody confirms. */
  held: z.boolean(),
  /** A newer change of its row has overruled it: it is not tried again. */
  superseded: z.boolean(),
});

/** The same, from what was read. */
export function viewChange(story: ChangeStory): z.infer<typeof changeView> {
  const { id, tableName, recordId, sfid, action, state, createdAt, sentAt, processedAt, dueAt, attempts } = story;
  const refused = story.message?.startsWith(ROW_REFUSES) === true;
  return {
    id,
    table_name: tableName,
    record_id: recordId,
    sfid,
    action,
    state,
    old: asTexts(story.old),
    values: asTexts(story.values),
    created_at: createdAt.toISOString(),
    sent_at: sentAt?.toISOString() ?? null,
    synced_at: processedAt?.toISOString() ?? null,
    attempts,
    due_at: dueAt?.toISOString() ?? null,
    _ab_err: state === "FAILED" || processedAt === null || refused ? story.message : null,
    held: story.isHeld,
    superseded: story.isSuperseded,
  };
}

/** The log keeps texts; what another product wrote into it may be anything of JSON. */
function asTexts(side: ChangeStory["old"]): Record<string, string | null> | null {
  if (side === null) return null;
  const text = (value: unknown) => (value === null || typeof value === "string" ? value : JSON.stringify(value));
  return Object.fromEntries(Object.entries(side).map(([column, value]) => [column, text(value)]));
}
