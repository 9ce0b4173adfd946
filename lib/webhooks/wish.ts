import * as z from "zod/mini";
import { EVENT_TYPES } from "../model/delivery/event.ts";
import { MAX_OVERLAP_SECONDS, OVERLAP_SECONDS } from "../model/delivery/webhook.ts";
import { isOneLine, ONE_LINE } from "../model/one-line.ts";

const url = z
  .string({ error: "must be a URL like https://example.com/hooks" })
  .check(z.refine(isOneLine, { error: ONE_LINE }));

const events = z
  .array(z.enum(EVENT_TYPES, { error: `must be one of ${EVENT_TYPES.join(", ")}` }), {
    error: `must be a list of ${EVENT_TYPES.join(", ")}`,
  })
  .check(z.minLength(1, { error: "must name at least one event" }), z.maxLength(100, { error: "is too long" }));

const description = z
  .string({ error: "must be text" })
  .check(z.maxLength(255, { error: "must be at most 255 characters" }), z.refine(isOneLine, { error: ONE_LINE }));

const active = z.boolean({ error: "must be true or false" });

const ONLY = "must be an object with url, events, description and active only; a secret is always made by the service";

/** What `create-webhook` takes. */
export const newWebhook = z.strictObject(
  { url, events, description: z._default(description, ""), active: z._default(active, true) },
  { error: ONLY },
);

/** What `change-webhook` takes: what it leaves out stays. */
export const webhookChange = z
  .partial(z.strictObject({ url, events, description, active }, { error: ONLY }))
  .check(z.refine((wish) => Object.keys(wish).length > 0, { error: "must change url, events, description or active" }));

const overlapRule = `must be a whole number of seconds, 0 to ${MAX_OVERLAP_SECONDS}`;

/** How long the old secret still signs, in the query. */
export const overlapSeconds = z._default(
  z.pipe(
    z.string().check(
      z.refine((text) => /^\d{1,9}$/.test(text) && Number(text) <= MAX_OVERLAP_SECONDS, { error: overlapRule }),
      z.meta({ type: "integer", minimum: 0, maximum: MAX_OVERLAP_SECONDS, default: OVERLAP_SECONDS }),
    ),
    z.transform(Number),
  ),
  OVERLAP_SECONDS,
);
