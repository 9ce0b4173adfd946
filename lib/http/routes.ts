import type { Access } from "../model/resources.ts";
import type { Scope } from "../model/workspace/token.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** One row of the endpoint table. `functions/api/<name>.ts` answers it. */
export interface Route extends Access {
  readonly method: Method;
  readonly path: string;
  /** What a token must be allowed to do; null: no token is asked for. */
  readonly scope: Scope | null;
  /** An invitation opens it, and no other token does. */
  readonly byInvitation?: boolean;
  /** The request carries a JSON body that is parsed and validated. */
  readonly body: boolean;
  /** The answer is streamed, so it may exceed the gateway's buffer. */
  readonly streams?: boolean;
  /** The operators' own workspace has it as well, or alone; left out: it has not. */
  readonly deployment?: "also" | "only";
  /** Requests of an address in a minute, counted separately; left out: they count among the API's 300. */
  readonly perMinute?: number;
}

const WORKSPACE = "/api/v1/t/{workspace_id}";

/** What the function behind all other paths and methods may touch: it counts requests as well. */
export const NO_SUCH_ENDPOINT: Access = { writes: ["rateLimits"] };

/** The console, the documentation, what their pages load, and the API's description, answered by `functions/console.ts`; it touches nothing and is not counted. */
export const CONSOLE = {
  method: "GET",
  paths: ["/", "/docs", "/docs/{page}", "/assets/{file}", "/openapi", "/openapi.json"],
  access: {} as Access,
} as const;

/** Rings of one workspace; an org that rings more often is woken no later for it. */
export const RINGS_PER_MINUTE = 12_000;

const read = inWorkspace("read");
const operate = inWorkspace("operate");
const administer = inWorkspace("admin");

/** An endpoint that changes mappings also announces it, and has the change carried out. */
const changeMapping = <const L extends Line>(line: L, { body = false }: { readonly body?: boolean } = {}) =>
  administer(line, { body, ...CHANGING, reads: ["engine"] });

const CHANGING = {
  org: true,
  writes: ["workspaces", "mappings", "counters", "audit", "events"],
  sends: ["provisioning", "events"],
} as const;

/** What is done to rows by hand is audited. */
const BY_HAND = { reads: ["mappings"], writes: ["audit"], postgres: true } as const;

/** An attempt that a person asks for. */
const ATTEMPT = {
  reads: ["webhooks"],
  writes: ["deliveries", "audit"],
  sends: ["deliveries", "slowDeliveries"],
} as const;

/** An org is asked who it is before it is kept. */
const CONNECTING = { body: true, org: true, reads: ["mappings"], writes: ["workspaces", "audit"] } as const;

/**
 * Every endpoint: the scope that a token needs, method and path below the workspace, and what its function may touch
 * beyond what each of them needs. The contract's fifteen come first, then webhooks and the settings area. Endpoints that
 * return nothing secret may be read with every token, so that a monitor needs no administrator's.
 */
export const ROUTES = {
  "list-mappings": read("GET /mappings", { reads: ["mappings"] }),
  "read-health": read("GET /health", { reads: ["mappings", "engine", "counters", "webhooks"], postgres: true }),
  "list-activity": read("GET /monitoring/activity", { postgres: true }),
  "list-errors": read("GET /monitoring/errors", { postgres: true }),
  "poll-now": operate("POST /mappings/{mapping_id}/poll-now", {
    ...BY_HAND,
    writes: ["audit", "engine"],
    sends: ["cycles"],
  }),
  nudge: operate("POST /nudge", { perMinute: 6_000, reads: ["mappings"], writes: ["engine"], sends: ["cycles"] }),
  "read-doorbell": read("GET /doorbell", { reads: ["mappings", "engine"] }),
  "make-doorbell": administer("POST /doorbell", { writes: ["workspaces", "engine", "audit"] }),
  "remove-doorbell": administer("DELETE /doorbell", { writes: ["engine", "audit"] }),
  ring: {
    ...withoutToken("POST /ring/{workspace_id}/{ring_token}", { reads: ["workspaces", "mappings"] }),
    writes: ["engine", "rateLimits"],
    sends: ["cycles"],
    secrets: "service",
  },
  "read-cycle": read("GET /mappings/{mapping_id}/cycles/{mark}", { reads: ["mappings", "engine"], postgres: true }),
  "abort-poll": operate("POST /mappings/{mapping_id}/abort", BY_HAND),
  "export-config": read("GET /config/export", { reads: ["mappings"] }),
  "import-config": changeMapping("POST /config/import", { body: true }),
  "save-baseline": operate("POST /config/baseline", { reads: ["mappings"], writes: ["baselines", "audit"] }),
  "read-drift": read("GET /config/drift", { reads: ["mappings", "baselines"] }),
  "list-audit-log": read("GET /audit-log", { deployment: "also", streams: true, reads: ["audit"] }),
  "list-deliveries": read("GET /webhooks/{webhook_id}/deliveries", { reads: ["webhooks", "deliveries"] }),
  "retry-delivery": operate("POST /webhooks/{webhook_id}/deliveries/{delivery_id}/retry", ATTEMPT),
  "read-delivery": administer("GET /webhooks/{webhook_id}/deliveries/{delivery_id}", {
    reads: ["webhooks", "deliveries", "attempts"],
  }),
  "list-webhooks": read("GET /webhooks", { reads: ["webhooks"] }),
  "create-webhook": administer("POST /webhooks", { body: true, writes: ["webhooks", "audit"] }),
  "read-webhook": read("GET /webhooks/{webhook_id}", { reads: ["webhooks"] }),
  "change-webhook": administer("PATCH /webhooks/{webhook_id}", { body: true, writes: ["webhooks", "audit"] }),
  "delete-webhook": administer("DELETE /webhooks/{webhook_id}", { writes: ["webhooks", "audit"] }),
  "rotate-webhook-secret": administer("POST /webhooks/{webhook_id}/rotate-secret", { writes: ["webhooks", "audit"] }),
  "replay-webhook": operate("POST /webhooks/{webhook_id}/replay", ATTEMPT),
  "test-webhook": administer("POST /webhooks/{webhook_id}/test", ATTEMPT),
  "read-metrics": withoutToken("GET /api/metrics", {
    reads: ["engine"],
    scans: ["counters", "engine"],
    writes: ["counters"],
  }),
  "read-workspace": read("GET /", { deployment: "also" }),
  "rename-workspace": administer("PATCH /", { body: true, writes: ["workspaces", "audit"] }),
  // Operators may stop everything, and resume it.
  "switch-pause": operate("PUT /pause", {
    body: true,
    deployment: "also",
    reads: ["mappings"],
    writes: ["workspaces", "audit", "events", "counters"],
    sends: ["events", "loads"],
  }),
  "read-fleet": read("GET /fleet", {
    deployment: "only",
    reads: ["mappings", "engine", "counters"],
    scans: ["workspaces", "engine", "counters"],
  }),
  "read-own-token": read("GET /tokens/current", { deployment: "also" }),
  "list-tokens": administer("GET /tokens", { deployment: "also" }),
  "create-token": administer("POST /tokens", { deployment: "also", body: true, writes: ["workspaces", "audit"] }),
  "accept-invitation": read("POST /tokens/accept", {
    deployment: "also",
    byInvitation: true,
    writes: ["workspaces", "audit"],
  }),
  "revoke-token": administer("DELETE /tokens/{token_id}", { deployment: "also", writes: ["audit"] }),
  "create-mapping": changeMapping("POST /mappings", { body: true }),
  "update-mapping": changeMapping("PATCH /mappings/{mapping_id}", { body: true }),
  "delete-mapping": changeMapping("DELETE /mappings/{mapping_id}"),
  "activate-mapping": administer("POST /mappings/{mapping_id}/activate", {
    reads: ["engine"],
    writes: ["workspaces", "mappings", "counters", "audit", "events"],
    sends: ["provisioning", "events", "loads"],
    postgres: true,
  }),
  "deactivate-mapping": changeMapping("POST /mappings/{mapping_id}/deactivate"),
  "restore-mapping": changeMapping("POST /mappings/{mapping_id}/restore"),
  "read-connections": administer("GET /connections", { secrets: "workspaces" }),
  "set-postgres": administer("PUT /connections/postgres", {
    body: true,
    reads: ["mappings"],
    writes: ["workspaces", "audit"],
    sends: ["provisioning"],
    postgres: true,
  }),
  "change-postgres": administer("PATCH /connections/postgres", {
    body: true,
    writes: ["workspaces", "audit"],
    secrets: "workspaces",
  }),
  "list-proposals": read("GET /connections/postgres/proposals", { reads: ["mappings"], postgres: true }),
  "change-retention": administer("PATCH /connections/postgres/retention", {
    body: true,
    writes: ["workspaces", "audit"],
    secrets: "workspaces",
  }),
  "test-postgres": administer("POST /connections/postgres/test", { postgres: true }),
  "adopt-heroku-connect": administer("POST /connections/postgres/adopt-heroku-connect", {
    writes: ["audit"],
    postgres: true,
  }),
  "set-salesforce": administer("PUT /connections/salesforce", CONNECTING),
  "authorize-salesforce": administer("POST /connections/salesforce/authorize", { body: true, writes: ["workspaces"] }),
  "complete-salesforce": administer("POST /connections/salesforce/complete", CONNECTING),
  "test-salesforce": administer("POST /connections/salesforce/test", {
    org: true,
    reads: ["mappings"],
    writes: ["workspaces", "counters"],
  }),
  "list-objects": administer("GET /objects", { org: true, writes: ["workspaces", "counters"] }),
  "read-object": administer("GET /objects/{object_name}", { org: true, writes: ["workspaces", "counters"] }),
  "read-mapping": read("GET /mappings/{mapping_id}", { reads: ["mappings", "engine"], postgres: true }),
  "list-mapping-states": read("GET /monitoring/mappings", { reads: ["mappings", "engine"], postgres: true }),
  "read-budget": read("GET /monitoring/budget", { reads: ["mappings", "engine", "counters"] }),
  "change-budget": administer("PATCH /monitoring/budget", {
    body: true,
    reads: ["mappings", "counters"],
    writes: ["engine", "audit"],
  }),
  "read-change": operate("GET /monitoring/activity/{change_id}", { postgres: true }),
  "read-row-story": operate("GET /rows/{table}/{key}/story", {
    reads: ["mappings", "engine"],
    writes: ["workspaces", "counters"],
    postgres: true,
  }),
  "list-rows": read("GET /mappings/{mapping_id}/rows", {
    reads: ["mappings"],
    writes: ["workspaces", "counters"],
    postgres: true,
  }),
  "write-row": operate("PATCH /rows/{table}/{key}", { ...BY_HAND, body: true }),
  "restore-row": operate("POST /rows/{table}/{key}/restore", {
    ...BY_HAND,
    writes: ["workspaces", "counters", "audit"],
  }),
  "read-throughput": read("GET /monitoring/throughput", { reads: ["mappings"], postgres: true }),
  "list-changes": read("GET /changes", { postgres: true }),
  "list-failures": read("GET /monitoring/failures", { postgres: true }),
  "retry-rows": operate("POST /monitoring/errors/retry", { body: true, writes: ["audit"], postgres: true }),
  "retry-row": operate("POST /monitoring/errors/{row_id}/retry", { writes: ["audit"], postgres: true }),
  "dismiss-rows": operate("POST /monitoring/errors/dismiss", { body: true, writes: ["audit"], postgres: true }),
  "list-inbound-errors": read("GET /monitoring/inbound-errors", { reads: ["mappings"], postgres: true }),
  "retry-inbound": operate("POST /mappings/{mapping_id}/retry-inbound", BY_HAND),
  "list-conflicts": read("GET /monitoring/conflicts", { reads: ["mappings"], postgres: true }),
  "use-other-value": operate("POST /monitoring/conflicts/{conflict_id}/use-other-value", BY_HAND),
  "reload-mapping": administer("POST /mappings/{mapping_id}/reload", { ...BY_HAND, sends: ["loads"] }),
  "read-restore-plan": read("GET /restore", { reads: ["mappings", "engine", "tokens", "webhooks"], postgres: true }),
  "begin-restore": administer("POST /restore", { reads: ["mappings"], writes: ["engine", "counters", "audit"] }),
  "accept-restore": administer("POST /mappings/{mapping_id}/accept-restore", {
    ...CHANGING,
    body: true,
    postgres: true,
    writes: [...CHANGING.writes, "engine"],
  }),
  "compare-mapping": operate("POST /mappings/{mapping_id}/compare", { ...BY_HAND, sends: ["loads"] }),
  "capture-mapping": administer("POST /mappings/{mapping_id}/capture", {
    ...BY_HAND,
    body: true,
    sends: ["provisioning"],
  }),
  "push-existing": administer("POST /mappings/{mapping_id}/push-existing", BY_HAND),
  "start-dry-run": administer("POST /mappings/{mapping_id}/dry-run", { ...BY_HAND, sends: ["loads"] }),
  "read-dry-run": operate("GET /mappings/{mapping_id}/dry-run", { reads: ["mappings"], postgres: true }),
  "list-held-deletes": read("GET /mappings/{mapping_id}/held-deletes", { reads: ["mappings"], postgres: true }),
  "confirm-deletes": administer("POST /mappings/{mapping_id}/confirm-deletes", BY_HAND),
  "reject-deletes": administer("POST /mappings/{mapping_id}/reject-deletes", { ...BY_HAND, body: true }),
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;

/** The contract's fifteen (endpoint 12 is a form of 11): they ignore parameters that they do not know. */
export const CONTRACT: ReadonlySet<RouteName> = new Set([
  "list-mappings",
  "read-health",
  "list-activity",
  "list-errors",
  "poll-now",
  "abort-poll",
  "export-config",
  "import-config",
  "save-baseline",
  "read-drift",
  "list-audit-log",
  "list-deliveries",
  "retry-delivery",
  "read-metrics",
]);

/** Method and path: `GET /mappings`. */
type Line = `${Method} /${string}`;

type PathOf<L extends Line> = L extends `${string} /` ? "" : L extends `${string} ${infer Path}` ? Path : never;

type More = Partial<Omit<Route, "method" | "path" | "scope">>;

/**
 * A row behind a token. Each of them reads its workspace, opens the secret that tokens are hashed with, and writes the
 * token's last use and the count of requests. A POST seals its answer, in case it is asked a second time; the rows that
 * ask a database or an org open its credentials.
 */
function inWorkspace(scope: Scope) {
  return <const L extends Line>(line: L, { reads = [], writes = [], ...more }: More = {}) => {
    const opens = more.postgres === true || more.org === true || /^(?:POST|PUT) /.test(line);
    return {
      secrets: opens ? ("workspaces" as const) : ("service" as const),
      ...row<L, typeof WORKSPACE>(WORKSPACE, line, scope),
      ...more,
      reads: ["workspaces", ...reads] as const,
      writes: ["tokens", "rateLimits", ...writes] as const,
    };
  };
}

function withoutToken<const L extends Line>(line: L, more: Pick<More, "reads" | "scans" | "writes"> = {}) {
  return { ...row<L, "">("", line, null), ...more };
}

function row<L extends Line, Base extends string>(base: Base, line: L, scope: Scope | null) {
  const [method, path] = line.split(" ") as [Method, string];
  return { method, path: `${base}${path === "/" ? "" : path}` as `${Base}${PathOf<L>}`, scope, body: false };
}
