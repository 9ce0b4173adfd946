import * as z from "zod/mini";
import { removeRingToken } from "../../lib/access/ring-token.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { doorbells } from "../services/composition.ts";

export const handler = onLambda({
  route: "remove-doorbell",
  summary:
    "Takes the workspace's doorbell away: within three seconds its URL rings no more, and all mappings are polled at their full pace.",
  output: z.object({ removed: z.literal(true) }),
  run: async ({ workspace, actor, at }) => {
    await removeRingToken(doorbells(), { workspaceId: workspace.id, actor, at });
    return { removed: true };
  },
});
