import * as z from "zod/mini";
import { confirmDeletes as confirm, DELETES_AT_ONCE } from "../../lib/settings/held-deletes/confirm-deletes.ts";
import { chosenDeletes } from "../../lib/settings/held-deletes/reject-ports.ts";
import { onMapping } from "../on-mapping.ts";
import { byHand } from "../services/composition.ts";

export const handler = onMapping({
  route: "confirm-deletes",
  summary:
    "Lets deletes of a mapping go that the breaker holds back, on either side, 200,000 a call; call again while more is true. ?only= chooses some by their keys.",
  input: z.object({ only: chosenDeletes() }),
  output: z.object({ confirmed: z.int(), more: z.boolean(), mapping_id: z.string() }),
  run: async ({ input: { only = null }, resource: mapping, who }) => {
    const confirmed = await confirm(byHand(), who, only);
    return { confirmed, more: confirmed >= DELETES_AT_ONCE, mapping_id: mapping.id };
  },
});
