import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SalesforceConnection } from "../../../lib/model/workspace/workspace.ts";
import { type CommandLine, openCommandLine } from "../processes/command-line.ts";
import type { RunningBridge } from "../worlds/running-bridge.ts";

/** What setting up a workspace takes, with any client. */
export type SettingsClient = Awaited<ReturnType<typeof byCommandLine>>;

/** A workspace that the command line made, and the token that came with it. */
async function workspaceFromNothing(line: CommandLine): Promise<{ readonly id: string; readonly token: string }> {
  // The instance writes its operator's environment in this file; in a test it is this process's own.
  mkdirSync(join(line.folder, "data"), { recursive: true });
  writeFileSync(join(line.folder, "data", "operator.json"), JSON.stringify({ environment: {} }));
  const create = "workspace create Acme --owner ada@example.com".split(" ");
  const made = await line.json<{ workspace_id: string; token: string }>(create);
  return { id: made.workspace_id, token: made.token };
}

/** By the command line alone. */
export async function byCommandLine(bridge: RunningBridge) {
  const line = openCommandLine();
  const { id, token } = await workspaceFromNothing(line);
  const login = await line.run(["login", bridge.baseUrl, "--workspace", id], { stdin: `${token}\n` });
  if (login.code !== 0) throw new Error(login.stderr);

  const ok = async (args: readonly string[], stdin?: string): Promise<void> => {
    const { code, stderr, stdout } = await line.run(args, stdin === undefined ? {} : { stdin });
    if (code !== 0) throw new Error(`bridge ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
  };
  return {
    connectPostgres: (url: string, schema: string) => ok(["connect", "postgres", "--schema", schema], url),
    connectSalesforce: async ({ loginUrl, credentials }: SalesforceConnection) => {
      if (credentials.kind !== "password") throw new Error("the local org is connected by password");
      const { clientId, clientSecret, username, password } = credentials;
      const [secretFile, passwordFile] = [line.file("secret", clientSecret), line.file("pw", password)];
      const files = ["--client-secret-file", secretFile, "--password-file", passwordFile];
      const flow = ["--flow", "password", "--login-url", loginUrl, "--client-id", clientId, "--username", username];
      await ok(["connect", "salesforce", ...flow, ...files]);
    },
    objects: async () => (await line.json<readonly { name: string }[]>(["objects"])).map(({ name }) => name),
    createMapping: (object: string, fields: readonly string[]) =>
      ok(["mapping", "create", object, "--fields", fields.join(",")]),
    states: async (): Promise<Readonly<Record<string, string>>> => {
      const all = await line.json<readonly { sf_object: string; state: string }[]>(["mapping", "list"]);
      return Object.fromEntries(all.map(({ sf_object, state }) => [sf_object, state]));
    },
    createWebhook: (url: string) =>
      line.json<{ readonly id: string; readonly secret: string }>(["webhook", "create", url]),
    testWebhook: (webhook: string) => ok(["webhook", "test", webhook]),
    createToken: async (scope: string) =>
      (await line.run(["token", "create", scope, "--owner", "ada@example.com", "--scope", scope])).stdout.trim(),
    poll: (object: string) => ok(["poll", object]),
    /** States of the changes of a table, newest first. */
    activity: async (table: string) =>
      (await line.json<readonly { state: string }[]>(["activity", "--table", table])).map(({ state }) => state),
    importDryRun: (document: object) =>
      line.json<{ readonly created: number }>(["config", "import", "-", "--dry-run"], {
        stdin: JSON.stringify(document),
      }),
    import: (document: object) =>
      line.json<{ readonly created: number; readonly updated: number }>(["config", "import", "-"], {
        stdin: JSON.stringify(document),
      }),
    exported: async (): Promise<{ readonly mappings: readonly { readonly object_name: string }[] }> =>
      JSON.parse((await line.run(["config", "export"])).stdout),
    auditedActions: async () =>
      (await line.json<readonly { action: string }[]>(["audit", "--limit", "100"])).map(({ action }) => action),
    close: line.close,
  };
}

/** By HTTP alone, but for the workspace itself, which only the operator can make. */
export async function byHttp(bridge: RunningBridge): Promise<SettingsClient> {
  const line = openCommandLine();
  const { id, token } = await workspaceFromNothing(line);
  const ask = async <Data>(method: string, path: string, body?: object): Promise<Data> => {
    const sent = body === undefined ? {} : { body };
    const { status, text, json } = await bridge.request(method, `/api/v1/t/${id}${path}`, { token, ...sent });
    if (status !== 200) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return json?.data as Data;
  };
  const mappings = () =>
    ask<readonly { id: string; sf_object: string; state: string }[]>("GET", "/monitoring/mappings");
  return {
    connectPostgres: async (url, schema) => {
      await ask("PUT", "/connections/postgres", { url, schema });
    },
    connectSalesforce: async ({ loginUrl, credentials }) => {
      if (credentials.kind !== "password") throw new Error("the local org is connected by password");
      const { clientId: client_id, clientSecret: client_secret, username, password, kind } = credentials;
      const given = { kind, client_id, client_secret, username, password };
      await ask("PUT", "/connections/salesforce", { login_url: loginUrl, credentials: given });
    },
    objects: async () => (await ask<readonly { name: string }[]>("GET", "/objects")).map(({ name }) => name),
    createMapping: async (sf_object, fields) => {
      await ask("POST", "/mappings", { sf_object, fields });
    },
    states: async () => Object.fromEntries((await mappings()).map(({ sf_object, state }) => [sf_object, state])),
    createWebhook: (url) => ask("POST", "/webhooks", { url, events: ["sync.broken", "record.failed"] }),
    testWebhook: async (webhook) => {
      await ask("POST", `/webhooks/${webhook}/test`);
    },
    createToken: async (scope) => {
      const body = { name: scope, owner: "ada@example.com", scopes: [scope] };
      return (await ask<{ token: string }>("POST", "/tokens", body)).token;
    },
    poll: async (object) => {
      const mapping = (await mappings()).find(({ sf_object }) => sf_object === object);
      await ask("POST", `/mappings/${mapping?.id}/poll-now`);
    },
    activity: async (table) =>
      (await ask<readonly { state: string }[]>("GET", `/monitoring/activity?table=${table}`)).map(({ state }) => state),
    importDryRun: (document) => ask("POST", "/config/import?dry_run=true", document),
    import: (document) => ask("POST", "/config/import", document),
    exported: () => ask("GET", "/config/export"),
    auditedActions: async () =>
      (await ask<readonly { action: string }[]>("GET", "/audit-log?limit=100")).map(({ action }) => action),
    close: line.close,
  };
}
