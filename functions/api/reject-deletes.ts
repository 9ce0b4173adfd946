import * as z from "zod/mini";
import { flag } from "../../lib/http/input.ts";
import {
  forecastReject,
  rejectDeletes as reject,
  rejectedView,
} from "../../lib/settings/held-deletes/reject-deletes.ts";
import { chosenDeletes } from "../../lib/settings/held-deletes/reject-ports.ts";
import { body } from "../../lib/settings/shapes.ts";
import { onMapping } from "../on-mapping.ts";
import { byHand } from "../services/composition.ts";

const place = z
  .string({ error: "must be a text" })
  .check(z.regex(/^-?\d{1,15}$/, { error: "must be `next` of an answer" }));

export const handler = onMapping({
  route: "reject-deletes",
  summary:
    "Takes deletes of a mapping back that the breaker holds. Rows are inserted again under their keys, with their mapped columns and sfid, and not sent, 1,000 a call; call again with `after`, the `next` of the answer, until that is null. Then the next cycles undelete the records, 200 each. A record that one of them finds gone for good stays held; with `recreate` it is created again, with another id, 10,000 a call, when the mapping has an upsert field. What a constraint or Salesforce refuses stays held, with the reason. ?only= chooses some by their keys. ?dry_run=true gives how many there are and what cannot come back, and changes nothing: records that were found gone, columns that are not mapped, and rows of other tables that went by a foreign key.",
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
    const needs = byHand();
    if (dry_run) return forecastReject(needs, who, only);
    const { after = null, recreate = false } = asked;
    return reject(needs, who, { after: after === null ? null : Number(after), recreate, only });
  },
});
