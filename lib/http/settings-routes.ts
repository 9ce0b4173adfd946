import type { Route } from "./routes.ts";

const WORKSPACE = "/api/v1/t/{workspace_id}";

/** As in the contract's own rows. */
const READS = ["workspaces"] as const;
const WRITES = ["tokens", "rateLimits"] as const;

/** What changes of mappings write, with what tells of them. */
const MAPPING_WRITES = [...WRITES, "workspaces", "mappings", "counters", "audit", "events"] as const;

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
  "create-mapping": {
    method: "POST",
    path: `${WORKSPACE}/mappings`,
    scope: "admin",
    body: true,
    reads: READS,
    writes: MAPPING_WRITES,
    sends: ["provisioning", "events"],
    secrets: true,
  },
  "update-mapping": {
    method: "PATCH",
    path: `${WORKSPACE}/mappings/{mapping_id}`,
    scope: "admin",
    body: true,
    reads: READS,
    writes: MAPPING_WRITES,
    sends: ["provisioning", "events"],
    secrets: true,
  },
  "delete-mapping": {
    method: "DELETE",
    path: `${WORKSPACE}/mappings/{mapping_id}`,
    scope: "admin",
    body: false,
    reads: READS,
    writes: MAPPING_WRITES,
    sends: ["provisioning", "events"],
    secrets: true,
  },
  "activate-mapping": {
    method: "POST",
    path: `${WORKSPACE}/mappings/{mapping_id}/activate`,
    scope: "admin",
    body: false,
    reads: READS,
    writes: MAPPING_WRITES,
    sends: ["provisioning", "events"],
    secrets: true,
  },
  "deactivate-mapping": {
    method: "POST",
    path: `${WORKSPACE}/mappings/{mapping_id}/deactivate`,
    scope: "admin",
    body: false,
    reads: READS,
    writes: MAPPING_WRITES,
    sends: ["provisioning", "events"],
    secrets: true,
  },
  "restore-mapping": {
    method: "POST",
    path: `${WORKSPACE}/mappings/{mapping_id}/restore`,
    scope: "admin",
    body: false,
    reads: READS,
    writes: MAPPING_WRITES,
    sends: ["provisioning", "events"],
    secrets: true,
  },
} as const satisfies Record<string, Route>;
