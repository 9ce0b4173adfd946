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

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Ask {
  readonly name: string;
  readonly method?: string;
  /** Below the workspace; from the base URL when it begins with `!`. */
  readonly path: string;
  readonly body?: unknown;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** What the body has to hold beside its status. */
  readonly holds?: string;
}

/** What a deployment that is well answers before anything is connected: every function kind, the gateway's own answers. */
const ASKS: readonly Ask[] = [
  { name: "health", path: "/health", status: 200, holds: '"sync"' },
  { name: "no mappings yet", path: "/mappings", status: 200, holds: '"data":[]' },
  { name: "the configuration, empty", path: "/config/export", status: 200, holds: '"mappings":[]' },
  { name: "no baseline yet", path: "/config/drift", status: 404, holds: "BASELINE_NOT_FOUND" },
  { name: "a baseline", method: "POST", path: "/config/baseline", status: 200 },
  { name: "no drift from it", path: "/config/drift", status: 200 },
  { name: "the audit log, which has it", path: "/audit-log", status: 200, holds: "config.baseline_saved" },
  {
    name: "the audit log as CSV",
    path: "/audit-log?format=csv",
    status: 200,
    holds: '"id","created_at"',
  },
  {
    name: "another token",
    method: "POST",
    path: "/tokens",
    body: { name: "drill", owner: "drill@example.com", scopes: ["read"] },
    status: 200,
    holds: "brg_",
  },
  {
    name: "a webhook to a private address",
    method: "POST",
    path: "/webhooks",
    body: { url: "https://10.0.0.1/", events: ["record.failed"] },
    status: 400,
    holds: "VALIDATION_ERROR",
  },
  { name: "no token", path: "/health", token: null, status: 401, holds: "UNAUTHORIZED" },
  { name: "another's token", path: "/health", token: "brg_wrong", status: 401 },
  { name: "an unknown path", path: "/nowhere", status: 404, holds: '"error"' },
  { name: "a path outside", path: "!/nowhere", status: 404, holds: '"error"' },
  { name: "a wrong method", method: "DELETE", path: "/health", status: 405, holds: "METHOD_NOT_ALLOWED" },
  { name: "a body that is no JSON", method: "POST", path: "/config/import", body: "{", status: 400, holds: '"error"' },
  { name: "the description", path: "!/openapi.json", status: 200, holds: '"openapi"' },
];

/** Asks for each and says what is wrong with the answers. Fifty requests at most, so no limit is met. */
export async function smoke(deployment: Deployment): Promise<readonly Step[]> {
  const steps: Step[] = [];
  for (const ask of ASKS) steps.push({ name: ask.name, wrong: wrongIn(ask, await send(deployment, ask)) });
  const metrics = await fetch(deployment.metricsUrl);
  const text = await metrics.text();
  const wrong = metrics.ok && text.includes("# TYPE bridge_") ? null : `${metrics.status} ${text.slice(0, 200)}`;
  return [...steps, { name: "metrics for a scraper without a token", wrong }];
}

async function send({ baseUrl, workspaceId, token }: Deployment, ask: Ask): Promise<Answer> {
  const { method = "GET", path, body, headers } = ask;
  const bearer = ask.token === undefined ? token : ask.token;
  const url = path.startsWith("!") ? baseUrl + path.slice(1) : `${baseUrl}/api/v1/t/${workspaceId}${path}`;
  const response = await fetch(url, {
    method,
    headers: {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function wrongIn({ status, holds }: Ask, answer: Answer): string | null {
  const said = `${answer.status} ${answer.text.slice(0, 300)}`;
  if (answer.status !== status) return `answered ${said} instead of ${status}`;
  if (holds !== undefined && !answer.text.includes(holds)) return `answered ${said}, without ${holds}`;
  return null;
}
