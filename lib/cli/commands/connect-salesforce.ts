import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { AuthorizeSalesforceData, SetSalesforceData, TestSalesforceData } from "bridge/api";
import { type Context, isSet, text, wholeNumber } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { type OwnMachine, ownMachine } from "../own-machine.ts";
import { readSecret } from "../secret.ts";
import { reportChecked } from "./connect.ts";

/** Connects the org by one of Salesforce's OAuth flows, or looks at the connection that is there. */
export async function connectSalesforce(context: Context): Promise<void> {
  const api = context.api();
  if (isSet(context, "test")) {
    return reportChecked(context, (await api.post<TestSalesforceData>("/connections/salesforce/test")).data);
  }
  const flow = text(context, "flow") ?? "web";
  const isNamed = flow !== "web" || text(context, "clientId") !== null || text(context, "loginUrl") !== null;
  const own = isNamed ? null : ownMachine(context);
  const data =
    own !== null
      ? await toOwn(context, own)
      : flow === "web"
        ? await byBrowser(context)
        : await byCredentials(context, flow);
  context.out.done(`Connected to org ${data.organization_id} at ${data.instance_url} as ${data.username}.`, data);
}

/** The embedded org, which no browser has to sign in to. */
async function toOwn({ api, out }: Context, { org }: OwnMachine): Promise<SetSalesforceData> {
  out.note(`Connecting the org of this machine, ${org.url}; --client-id connects another.`);
  const credentials = { kind: "client_credentials", client_id: org.clientId, client_secret: org.clientSecret };
  return (await api().put<SetSalesforceData>("/connections/salesforce", { body: { login_url: org.url, credentials } }))
    .data;
}

async function byCredentials(context: Context, flow: string): Promise<SetSalesforceData> {
  const credentials = await credentialsOf(context, flow);
  const login_url = text(context, "loginUrl") ?? "https://login.salesforce.com";
  return (await context.api().put<SetSalesforceData>("/connections/salesforce", { body: { login_url, credentials } }))
    .data;
}

async function credentialsOf(context: Context, flow: string): Promise<Readonly<Record<string, string | null>>> {
  const client_id = needed(context, "clientId", "--client-id");
  const secret = () => readSecret(context.terminal, "Client secret", text(context, "clientSecretFile"));
  const file = (option: string) => text(context, option);
  switch (flow) {
    case "jwt": {
      const private_key = await readSecret(context.terminal, "Private key", needed(context, "keyFile", "--key-file"));
      return { kind: "jwt_bearer", client_id, username: needed(context, "username", "--username"), private_key };
    }
    case "client-credentials":
      return { kind: "client_credentials", client_id, client_secret: await secret() };
    case "refresh-token": {
      const client_secret = file("clientSecretFile") === null ? null : await secret();
      const refresh_token = await readSecret(context.terminal, "Refresh token", file("tokenFile"));
      return { kind: "refresh_token", client_id, client_secret, refresh_token };
    }
    case "password": {
      const client_secret = await secret();
      const password = await readSecret(context.terminal, "Password", file("passwordFile"));
      const username = needed(context, "username", "--username");
      return { kind: "password", client_id, client_secret, username, password };
    }
    default:
      throw new CommandFailure("invalid", "--flow must be web, jwt, client-credentials, refresh-token or password");
  }
}

function needed(context: Context, name: string, option: string): string {
  const value = text(context, name);
  if (value === null) throw new CommandFailure("usage", `this flow needs ${option}`);
  return value;
}

/**
 * The web-server flow: the person signs in with a browser, which comes back to a port of this machine with a code. The
 * service made the PKCE verifier and exchanges the code; neither the secret nor a token ever comes here.
 */
async function byBrowser(context: Context): Promise<SetSalesforceData> {
  const api = context.api();
  const server = createServer();
  server.listen(wholeNumber(context, "port") ?? 0, "127.0.0.1");
  await once(server, "listening");
  try {
    const redirect_uri = `http://localhost:${(server.address() as AddressInfo).port}/callback`;
    const secretFile = text(context, "clientSecretFile");
    const { data } = await api.post<AuthorizeSalesforceData>("/connections/salesforce/authorize", {
      body: {
        login_url: text(context, "loginUrl") ?? "https://login.salesforce.com",
        client_id: needed(context, "clientId", "--client-id"),
        client_secret: secretFile === null ? null : await readSecret(context.terminal, "Client secret", secretFile),
        redirect_uri,
      },
    });
    for (const line of [
      `Open this address and sign in (the app must allow ${redirect_uri}):`,
      "",
      `  ${data.authorize_url}`,
      "",
    ])
      context.out.note(line);
    const code = await codeFrom(server, data.state, context.terminal.interrupted);
    const body = { state: data.state, code };
    return (await api.post<SetSalesforceData>("/connections/salesforce/complete", { body })).data;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The code that the browser brings; a visit with another state is not ours and is turned away. */
function codeFrom(server: Server, state: string, interrupted: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    interrupted.addEventListener("abort", () => reject(new CommandFailure("interrupted", "interrupted")));
    server.on("request", (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
      if (pathname !== "/callback" || searchParams.get("state") !== state) {
        response.writeHead(404).end("Nothing is here.\n");
        return;
      }
      const code = searchParams.get("code");
      const page = code === null ? "Salesforce refused. Look at the terminal." : "Done. You can close this page.";
      response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8" }).end(`${page}\n`);
      if (code !== null) resolve(code);
      else reject(new CommandFailure("refused", refusalText(searchParams)));
    });
  });
}

function refusalText(answer: URLSearchParams): string {
  return `Salesforce refused the sign-in: ${answer.get("error")}: ${answer.get("error_description") ?? "no reason given"}`;
}
