import { type Log, type LogLine, logToStderr } from "../../../lib/local/cloud/lambda/log.ts";
import { operatorEnvironment } from "../../../lib/local/operator-file.ts";
import { checkDescribed } from "../checks/described-api.ts";
import type { Envelope } from "../clients/call.ts";
import { expectNoRefusals, ISOLATES } from "../run/isolation.ts";
import { keepSecretsOf } from "../run/secrets.ts";
import { startConnectedOrg } from "./connected-org.ts";
import { startHostedBridge } from "./hosted-bridge.ts";
import { createTestDatabase } from "./postgres.ts";
import { createTestWorkspace, type TestWorkspace } from "./workspace.ts";

/** The deployed bundles on the embedded cloud, with an org and a database, asked over HTTP. End it with `close()`. */
export type RunningBridge = Awaited<ReturnType<typeof startRunningBridge>>;

export interface HttpRequest {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Null when the answer is not JSON. */
  readonly json: Envelope | null;
}

interface Settings {
  /** The contract's 300 only where the limit itself is tested. */
  readonly requestsPerMinute?: number;
  readonly things?: number;
  /** Opens the org's controls. */
  readonly controls?: boolean;
  /** A process per function. Each is allowed what its policy allows, with it and without. */
  readonly isolate?: boolean;
}

export async function startRunningBridge({
  requestsPerMinute = 1_000_000,
  things = 0,
  controls = false,
  isolate = ISOLATES,
}: Settings = {}) {
  const environment = { RATE_LIMIT_PER_MINUTE: String(requestsPerMinute) };
  const said: LogLine[] = [];
  const log: Log = (line) => {
    said.push(line);
    logToStderr(line);
  };
  const [hosted, org, database] = await Promise.all([
    startHostedBridge({ environment, log, isolate, guarded: true }),
    startConnectedOrg({ things, controls }),
    createTestDatabase(),
  ]);
  const { cloud, host } = hosted;
  // Functions that run inside bring their variables along; else this process makes workspaces as the operator does.
  if (isolate) Object.assign(process.env, operatorEnvironment(cloud.environment));
  return {
    baseUrl: host.baseUrl,
    metricsUrl: host.metricsUrl ?? "",
    host,
    org,
    database,
    /** A workspace with both sides connected, in a schema of its own. */
    createWorkspace: (schema = "salesforce"): Promise<TestWorkspace> =>
      createTestWorkspace({ salesforce: org.connection, postgres: { url: database.url, schema } }),
    /** A request as any client sends it; `path` is below the base URL. */
    request: (method: string, path: string, request?: HttpRequest): Promise<HttpAnswer> =>
      send(host.baseUrl, method, path, request),
    close: async () => {
      await hosted.close();
      await Promise.all([org.close(), database.close()]);
      expectNoRefusals(said);
    },
  };
}

async function send(
  baseUrl: string,
  method: string,
  path: string,
  { token, headers = {}, body }: HttpRequest = {},
): Promise<HttpAnswer> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.ok) keepSecretsOf(body);
  checkDescribed(method, path, response, text);
  const { status, headers: said } = response;
  const isJson = said.get("content-type") === "application/json" && text !== "";
  return { status, headers: said, text, json: isJson ? (JSON.parse(text) as Envelope) : null };
}
