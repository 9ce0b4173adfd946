import type { Access } from "../model/resources.ts";
import type { Scope } from "../model/token.ts";

/** One row of the endpoint table (spec section 4, and the settings area). `functions/api/<name>.ts` answers it. */
export interface Route extends Access {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** What a token must be allowed to do; null: no token is asked for. */
  readonly scope: Scope | null;
  /** The request carries a JSON body that is parsed and validated. */
  readonly body: boolean;
  /** The answer is streamed, so it may pass the gateway's buffer. */
  readonly streams?: boolean;
  /** The customer's database is read or written. */
  readonly postgres?: boolean;
}

const WORKSPACE = "/api/v1/t/{workspace_id}";

/** What every endpoint behind a token needs: the token, its workspace, the count of requests. */
const TOKEN = ["workspaces", "tokens", "rateLimits"] as const;

export const ROUTES = {
  "list-mappings": {
    method: "GET",
    path: `${WORKSPACE}/mappings`,
    scope: "read",
    body: false,
    reads: [...TOKEN, "mappings"],
  },
  "read-health": {
    method: "GET",
    path: `${WORKSPACE}/health`,
    scope: "read",
    body: false,
    reads: [...TOKEN, "mappings", "engine"],
    secrets: true,
    postgres: true,
  },
  "list-activity": {
    method: "GET",
    path: `${WORKSPACE}/monitoring/activity`,
    scope: "read",
    body: false,
    reads: TOKEN,
    secrets: true,
    postgres: true,
  },
  "list-errors": {
    method: "GET",
    path: `${WORKSPACE}/monitoring/errors`,
    scope: "read",
    body: false,
    reads: TOKEN,
    secrets: true,
    postgres: true,
  },
  "poll-now": {
    method: "POST",
    path: `${WORKSPACE}/mappings/{mapping_id}/poll-now`,
    scope: "operate",
    body: false,
    reads: [...TOKEN, "mappings"],
    writes: ["audit"],
    sends: ["cycles"],
    secrets: true,
    postgres: true,
  },
  "abort-poll": {
    method: "POST",
    path: `${WORKSPACE}/mappings/{mapping_id}/abort`,
    scope: "operate",
    body: false,
    reads: [...TOKEN, "mappings"],
    writes: ["audit"],
    secrets: true,
    postgres: true,
  },
  "export-config": {
    method: "GET",
    path: `${WORKSPACE}/config/export`,
    scope: "read",
    body: false,
    reads: [...TOKEN, "mappings"],
  },
  "import-config": {
    method: "POST",
    path: `${WORKSPACE}/config/import`,
    scope: "admin",
    body: true,
    reads: TOKEN,
    writes: ["mappings", "audit", "events"],
    sends: ["provisioning", "events"],
    secrets: true,
  },
  "save-baseline": {
    method: "POST",
    path: `${WORKSPACE}/config/baseline`,
    scope: "operate",
    body: false,
    reads: [...TOKEN, "mappings"],
    writes: ["baselines", "audit"],
  },
  "read-drift": {
    method: "GET",
    path: `${WORKSPACE}/config/drift`,
    scope: "read",
    body: false,
    reads: [...TOKEN, "mappings", "baselines"],
  },
  "list-audit-log": {
    method: "GET",
    path: `${WORKSPACE}/audit-log`,
    scope: "read",
    body: false,
    streams: true,
    reads: [...TOKEN, "audit"],
  },
  "list-deliveries": {
    method: "GET",
    path: `${WORKSPACE}/webhooks/{webhook_id}/deliveries`,
    scope: "read",
    body: false,
    reads: [...TOKEN, "webhooks", "deliveries", "attempts"],
  },
  "retry-delivery": {
    method: "POST",
    path: `${WORKSPACE}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry`,
    scope: "operate",
    body: false,
    reads: [...TOKEN, "webhooks"],
    writes: ["deliveries", "attempts", "audit"],
    sends: ["deliveries"],
  },
  "read-metrics": {
    method: "GET",
    path: "/api/metrics",
    scope: null,
    body: false,
    reads: ["workspaces", "mappings", "counters"],
  },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
