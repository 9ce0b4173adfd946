import * as z from "zod/mini";
import { createToken as create } from "../../lib/access/create-token.ts";
import { oneOf } from "../../lib/http/input.ts";
import { SCOPES } from "../../lib/model/workspace/token.ts";
import { body, line } from "../../lib/settings/shapes.ts";
import { tokenView, viewToken } from "../../lib/settings/token-view.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { pepper, tokens } from "../services/composition.ts";

const DAY_MILLISECONDS = 86_400_000;
const INVITED_DAYS = 7;

export const handler = onLambda({
  route: "create-token",
  summary:
    "Creates an API token. It is in this answer and can never be read again. With `invitation` it opens nothing until its owner accepts it, once and within `valid_days` (7); what they get then is valid until it is revoked.",
  input: z.object({
    body: body({
      name: line(100),
      owner: line(254).check(z.regex(/^[^\s@]+@[^\s@]+$/, { error: "must be an e-mail address" })),
      scopes: z
        .array(oneOf(SCOPES), { error: `must be a list of ${SCOPES.join(", ")}` })
        .check(
          z.minLength(1, { error: "must name at least one scope" }),
          z.maxLength(SCOPES.length, { error: "must name each scope once" }),
        ),
      valid_days: z.optional(
        z
          .int({ error: "must be a whole number of days" })
          .check(z.gte(1, { error: "must be at least 1" }), z.lte(3650, { error: "must be at most 3650" })),
      ),
      invitation: z.optional(z.boolean({ error: "must be true or false" })),
    }),
  }),
  output: z.extend(tokenView, { token: z.string() }),
  run: async ({ input, workspace, actor, at }) => {
    const { name, owner, scopes, invitation = false } = input.body;
    const days = input.body.valid_days ?? (invitation ? INVITED_DAYS : null);
    const validUntil = days === null ? null : new Date(at.getTime() + days * DAY_MILLISECONDS);
    const by = { workspaceId: workspace.id, actor, at };
    const asked = { ...by, name, owner, scopes: [...new Set(scopes)], validUntil, invitation };
    const { token, record } = await create({ tokens: tokens(), pepper: pepper() }, asked);
    return { ...viewToken(record, at), token };
  },
});
