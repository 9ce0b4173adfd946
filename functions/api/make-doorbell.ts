import * as z from "zod/mini";
import { takeRingToken } from "../../lib/access/ring-token.ts";
import { flag } from "../../lib/http/input.ts";
import { Failure } from "../../lib/model/failure.ts";
import { nullableTimestamp } from "../../lib/settings/shapes.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { doorbells, pepper, publicAddress } from "../services/composition.ts";

export const handler = onLambda({
  route: "make-doorbell",
  summary:
    "The URL of the workspace's doorbell, which it creates where there is none. With `rotate=true` it gets another one, and the one before rings for 24 hours more. Mappings with `sf_notify_enabled` are woken by it. Refused with CONFLICT where the deployment has no address of its own.",
  input: z.object({ rotate: flag() }),
  output: z.object({ url: z.string(), former_until: nullableTimestamp() }),
  run: async ({ input: { rotate }, workspace, actor, at }) => {
    const address = publicAddress();
    if (address === null) {
      throw new Failure(
        "CONFLICT",
        "Salesforce cannot reach this deployment, which has no address of its own: deploy it with a domain (lib/docs/deploy.md), or start it on one machine with BASE_URL=https://… of a tunnel to it",
      );
    }
    const by = { workspaceId: workspace.id, actor, at };
    const needs = { doorbells: doorbells(), pepper: pepper() };
    const { token, formerUntil } = await takeRingToken(needs, { ...by, rotates: rotate });
    return { url: `${address}/ring/${workspace.id}/${token}`, former_until: formerUntil?.toISOString() ?? null };
  },
});
