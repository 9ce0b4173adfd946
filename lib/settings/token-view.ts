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
  state: z.enum(["valid", "expired", "revoked"]),
  created_at: timestamp(),
  valid_until: nullableTimestamp(),
  revoked_at: nullableTimestamp(),
  last_used_at: nullableTimestamp(),
});

/** The same, from what is kept. */
export const viewToken = (token: TokenRecord, at: Date): z.infer<typeof tokenView> =>
  toSnakeCase(tokenView, { ...token, state: stateOf(token, at) });

function stateOf({ revokedAt, validUntil }: TokenRecord, at: Date): "valid" | "expired" | "revoked" {
  if (revokedAt !== null) return "revoked";
  return validUntil !== null && validUntil <= at ? "expired" : "valid";
}
