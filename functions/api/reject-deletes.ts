import * as z from "zod/mini";
import { flag } from "../../lib/http/input.ts";
import {
  forecastReject,
  isPlace,
  rejectDeletes as reject,
  rejectedView,
} from "../../lib/settings/held-deletes/reject-deletes.ts";
import { chosenDeletes } from "../../lib/settings/held-deletes/reject-ports.ts";
import { body } from "../../lib/settings/shapes.ts";
import { onMapping } from "../on-mapping.ts";
import { byHand } from "../services/composition.ts";
import { withOrg } from "../services/saving-org.ts";

const place = z.string({ error: "must be a text" }).check(z.refine(isPlace, { error: "must be `next` of an answer" }));

export const handler = onMapping({
  route: "reject-deletes",
  summary:
    "Takes deletes of a mapping back that the breaker holds, 1,000 rows or 100 records a call; call again with `after`, the `next` of the answer, until that is null. Rows are inserted again under their keys, with their mapped columns and sfid, and not sent; records are undeleted. A record that is gone for good is created again, with another id, when the mapping has an upsert field and `recreate` is true. What a constraint or Salesforce refuses stays held, with the reason. ?only= chooses some by their keys. ?dry_run=true gives how many there are and what cannot come back, and changes nothing: columns that are not mapped, and rows of other tables that went by a foreign key.",
  input: z.object({
    dry_run: flag(),
    only: chosenDeletes(),
    body: body({
      recreate: z.optional(z.boolean({ error: "must be true or false" })),
      after: z.optional(z.nullable(place)),
    }),
  }),
  output: rejectedView,
  run: ({ input: { dry_run, only = null, body: asked }, who }) => {
    const needs = { ...byHand(), withOrg };
    if (dry_run) return forecastReject(needs, who, only);
    return reject(needs, who, { after: asked.after ?? null, recreate: asked.recreate ?? false, only });
  },
});
