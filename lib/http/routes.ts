import type { Access } from "../model/resources.ts";
import type { Scope } from "../model/token.ts";
import { SETTINGS_ROUTES } from "./settings-routes.ts";

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
}

const WORKSPACE = "/api/v1/t/{workspace_id}";

/** What every endpoint behind a token needs: its workspace and the service's own secret to read … */
const READS = ["workspaces"] as const;

/** … the count of requests and the token's last use to write. Whoever writes a table may read it. */
const WRITES = ["tokens", "rateLimits"] as const;

/** What the function behind all other paths and methods may touch: it counts requests as well. */
export const NO_SUCH_ENDPOINT: Access = { writes: ["rateLimits"] };

/** The console's page and what the page loads, answered by `functions/console.ts`; it touches nothing and is not counted. */
export const CONSOLE = { method: "GET", paths: ["/", "/assets/{file}"], access: {} as Access } as const;

export const ROUTES = {
  "list-mappings": {
    method: "GET",
    path: `${WORKSPACE}/mappings`,
    scope: "read",
    body: false,
    reads: [...READS, "mappings"],
    writes: WRITES,
    secrets: true,
  },
  "read-health": {
    method: "GET",
    path: `${WORKSPACE}/health`,
    scope: "read",
    body: false,
    reads: [...READS, "mappings", "engine", "counters"],
    writes: WRITES,
    secrets: true,
    postgres: true,
  },
  "list-activity": {
    method: "GET",
    path: `${WORKSPACE}/monitoring/activity`,
    scope: "read",
    body: false,
    reads: READS,
    writes: WRITES,
    secrets: true,
    postgres: true,
  },
  "list-errors": {
    method: "GET",
    path: `${WORKSPACE}/monitoring/errors`,
    scope: "read",
    body: false,
    reads: READS,
    writes: WRITES,
    secrets: true,
    postgres: true,
  },
  "poll-now": {
    method: "POST",
    path: `${WORKSPACE}/mappings/{mapping_id}/poll-now`,
    scope: "operate",
    body: false,
    reads: [...READS, "mappings"],
    writes: [...WRITES, "audit"],
    sends: ["cycles"],
    secrets: true,
    postgres: true,
  },
  "abort-poll": {
    method: "POST",
    path: `${WORKSPACE}/mappings/{mapping_id}/abort`,
    scope: "operate",
    body: false,
    reads: [...READS, "mappings"],
    writes: [...WRITES, "audit"],
    secrets: true,
    postgres: true,
  },
  "export-config": {
    method: "GET",
    path: `${WORKSPACE}/config/export`,
    scope: "read",
    body: false,
    reads: [...READS, "mappings"],
    writes: WRITES,
    secrets: true,
  },
  "import-config": {
    method: "POST",
    path: `${WORKSPACE}/config/import`,
    scope: "admin",
    body: true,
    reads: READS,
    writes: [...WRITES, "workspaces", "mappings", "counters", "audit", "events"],
    sends: ["provisioning", "events"],
    secrets: true,
  },
  "save-baseline": {
    method: "POST",
    path: `${WORKSPACE}/config/baseline`,
    scope: "operate",
    body: false,
    reads: [...READS, "mappings"],
    writes: [...WRITES, "baselines", "audit"],
    secrets: true,
  },
  "read-drift": {
    method: "GET",
    path: `${WORKSPACE}/config/drift`,
    scope: "read",
    body: false,
    reads: [...READS, "mappings", "baselines"],
    writes: WRITES,
    secrets: true,
  },
  "list-audit-log": {
    method: "GET",
    path: `${WORKSPACE}/audit-log`,
    scope: "read",
    body: false,
    streams: true,
    reads: [...READS, "audit"],
    writes: WRITES,
    secrets: true,
  },
  "list-deliveries": {
    method: "GET",
    path: `${WORKSPACE}/webhooks/{webhook_id}/deliveries`,
    scope: "read",
    body: false,
    reads: [...READS, "webhooks", "deliveries"],
    writes: WRITES,
    secrets: true,
  },
  "retry-delivery": {
    method: "POST",
    path: `${WORKSPACE}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry`,
    scope: "operate",
    body: false,
    reads: [...READS, "webhooks"],
    writes: [...WRITES, "deliveries", "audit"],
    sends: ["deliveries"],
    secrets: true,
  },
  "read-delivery": {
    method: "GET",
    path: `${WORKSPACE}/webhooks/{webhook_id}/deliveries/{delivery_id}`,
    scope: "admin",
    body: false,
    reads: [...READS, "webhooks", "deliveries", "attempts"],
    writes: WRITES,
    secrets: true,
  },
  "list-webhooks": {
    method: "GET",
    path: `${WORKSPACE}/webhooks`,
    scope: "admin",
    body: false,
    reads: [...READS, "webhooks"],
    writes: WRITES,
    secrets: true,
  },
  "create-webhook": {
    method: "POST",
    path: `${WORKSPACE}/webhooks`,
    scope: "admin",
    body: true,
    reads: READS,
    writes: [...WRITES, "webhooks", "audit"],
    secrets: true,
  },
  "read-webhook": {
    method: "GET",
    path: `${WORKSPACE}/webhooks/{webhook_id}`,
    scope: "admin",
    body: false,
    reads: [...READS, "webhooks"],
    writes: WRITES,
    secrets: true,
  },
  "change-webhook": {
    method: "PATCH",
    path: `${WORKSPACE}/webhooks/{webhook_id}`,
    scope: "admin",
    body: true,
    reads: READS,
    writes: [...WRITES, "webhooks", "audit"],
    secrets: true,
  },
  "delete-webhook": {
    method: "DELETE",
    path: `${WORKSPACE}/webhooks/{webhook_id}`,
    scope: "admin",
    body: false,
    reads: READS,
    writes: [...WRITES, "webhooks", "audit"],
    secrets: true,
  },
  "rotate-webhook-secret": {
    method: "POST",
    path: `${WORKSPACE}/webhooks/{webhook_id}/rotate-secret`,
    scope: "admin",
    body: false,
    reads: READS,
    writes: [...WRITES, "webhooks", "audit"],
    secrets: true,
  },
  "test-webhook": {
    method: "POST",
    path: `${WORKSPACE}/webhooks/{webhook_id}/test`,
    scope: "admin",
    body: false,
    reads: [...READS, "webhooks"],
    writes: [...WRITES, "deliveries", "audit"],
    sends: ["deliveries"],
    secrets: true,
  },
  "read-metrics": {
    method: "GET",
    path: "/api/metrics",
    scope: null,
    body: false,
    reads: ["counters"],
  },
  ...SETTINGS_ROUTES,
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
