import * as z from "zod/mini";
import type { TokenRecord } from "../access/ports.ts";
import { toSnakeCase } from "../model/snake-case.ts";
import { SCOPES } from "../model/workspace/token.ts";
import { nullableTimestamp, timestamp } from "./shapes.ts";

/** A token as the settings area shows it: everything but the token. */
export const tokenView = z.object({
  id: z.string(),
  name: z.string(),
  owner: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  state: z.enum(["valid", "invited", "expired", "revoked"]),
  created_at: timestamp(),
  valid_until: nullableTimestamp(),
  revoked_at: nullableTimestamp(),
  last_used_at: nullableTimestamp(),
});

/** The same, from what is kept. */
export const viewToken = (token: TokenRecord, at: Date): z.infer<typeof tokenView> =>
  toSnakeCase(tokenView, { ...token, scopes: token.invited ?? token.scopes, state: stateOf(token, at) });

function stateOf({ revokedAt, validUntil, invited }: TokenRecord, at: Date): z.infer<typeof tokenView>["state"] {
  if (revokedAt !== null) return "revoked";
  if (validUntil !== null && validUntil <= at) return "expired";
  return invited ? "invited" : "valid";
}
