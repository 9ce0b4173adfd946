import type { Route } from "./routes.ts";

const WORKSPACE = "/api/v1/t/{workspace_id}";

/** As in the contract's own rows. */
const READS = ["workspaces"] as const;
const WRITES = ["tokens", "rateLimits"] as const;

/**
 * The settings area (design section 7). What tells nothing secret may be read by every token, so that a monitor needs no
 * administrator's; what costs calls or changes something asks for more.
 */
export const SETTINGS_ROUTES = {
  "read-own-token": {
    method: "GET",
    path: `${WORKSPACE}/tokens/current`,
    scope: "read",
    body: false,
    reads: READS,
    writes: WRITES,
    secrets: true,
  },
  "list-tokens": {
    method: "GET",
    path: `${WORKSPACE}/tokens`,
    scope: "admin",
    body: false,
    reads: READS,
    writes: WRITES,
    secrets: true,
  },
  "create-token": {
    method: "POST",
    path: `${WORKSPACE}/tokens`,
    scope: "admin",
    body: true,
    reads: READS,
    writes: [...WRITES, "workspaces", "audit"],
    secrets: true,
  },
  "revoke-token": {
    method: "DELETE",
    path: `${WORKSPACE}/tokens/{token_id}`,
    scope: "admin",
    body: false,
    reads: READS,
    writes: [...WRITES, "audit"],
    secrets: true,
  },
} as const satisfies Record<string, Route>;
