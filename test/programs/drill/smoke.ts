/** A deployment to try: where it answers, and a token that administers a workspace that is connected to nothing yet. */
export interface Deployment {
  readonly baseUrl: string;
  readonly metricsUrl: string;
  readonly workspaceId: string;
  readonly token: string;
}

/** One step, and what was wrong with its answer; null: nothing. */
export interface Step {
  readonly name: string;
  readonly wrong: string | null;
}

/** A request below the workspace, or after `!` below the base URL; the status of its answer, and what its body holds. */
type Ask = readonly [name: string, request: string, status: number, holds?: string, sent?: Sent];

interface Sent {
  readonly body?: unknown;
  /** Null: none; left out: the workspace's. */
  readonly token?: string | null;
}

const TOKEN = { name: "drill", owner: "drill@example.com", scopes: ["read"] };
const INWARDS = { url: "https://10.0.0.1/", events: ["record.failed"] };

/** What a deployment that is well answers before anything is connected: every function kind, the gateway's own answers. */
const ASKS: readonly Ask[] = [
  ["health", "GET /health", 200, '"sync"'],
  ["no mappings yet", "GET /mappings", 200, '"data":[]'],
  ["the configuration, empty", "GET /config/export", 200, '"mappings":[]'],
  ["no baseline yet", "GET /config/drift", 404, "BASELINE_NOT_FOUND"],
  ["a baseline", "POST /config/baseline", 200],
  ["no drift from it", "GET /config/drift", 200],
  ["the audit log, which has it", "GET /audit-log", 200, "config.baseline_saved"],
  ["the audit log as CSV", "GET /audit-log?format=csv", 200, '"id","created_at"'],
  ["another token", "POST /tokens", 200, "brg_", { body: TOKEN }],
  ["a webhook to a private address", "POST /webhooks", 400, "VALIDATION_ERROR", { body: INWARDS }],
  ["no token", "GET /health", 401, "UNAUTHORIZED", { token: null }],
  ["another's token", "GET /health", 401, "", { token: "brg_wrong" }],
  ["an unknown path", "GET /nowhere", 404, '"error"'],
  ["a path outside", "GET !/nowhere", 404, '"error"'],
  ["a wrong method", "DELETE /health", 405, "METHOD_NOT_ALLOWED"],
  ["a body that is no JSON", "POST /config/import", 400, '"error"', { body: "{" }],
  ["the description", "GET !/openapi.json", 200, '"openapi"'],
];

/** Asks for each and says what is wrong with the answers. Fifty requests at most, so no limit is met. */
export async function smoke(deployment: Deployment): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const ask of ASKS) steps.push({ name: ask[0], wrong: await wrongIn(deployment, ask) });
  const metrics = await fetch(deployment.metricsUrl);
  const text = await metrics.text();
  const wrong = metrics.ok && text.includes("# TYPE bridge_") ? null : `${metrics.status} ${text.slice(0, 200)}`;
  return [...steps, { name: "metrics for a scraper without a token", wrong }];
}

async function wrongIn({ baseUrl, workspaceId, token }: Deployment, ask: Ask): Promise<string | null> {
  const [, request, status, holds = "", { body, token: bearer = token } = {}] = ask;
  const [method = "", path = ""] = request.split(" ");
  const response = await fetch(
    path.startsWith("!") ? baseUrl + path.slice(1) : `${baseUrl}/api/v1/t/${workspaceId}${path}`,
    {
      method,
      headers: { ...(bearer !== null && { authorization: `Bearer ${bearer}` }), "content-type": "application/json" },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    },
  );
  const text = await response.text();
  const said = `${response.status} ${text.slice(0, 300)}`;
  if (response.status !== status) return `answered ${said} instead of ${status}`;
  return text.includes(holds) ? null : `answered ${said}, without ${holds}`;
}
