import type { Org } from "../../../lib/local/org/start-org.ts";
import { keepSecret } from "../run/secrets.ts";

/** A request to an org as any client of Salesforce sends it; null where it says nothing. What is not well rejects. */
export async function askOrg(
  { url, accessToken }: Pick<Org, "url" | "accessToken">,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return text === "" ? null : JSON.parse(text);
}

/** The same to its REST API. */
export const askRest = (org: Parameters<typeof askOrg>[0], method: string, path: string, body?: unknown) =>
  askOrg(org, method, `/services/data/v66.0${path}`, body);

type Login = Pick<Org, "clientId" | "clientSecret" | "username" | "password">;

/** Signs a user in; gives the session's token. */
export async function signIn(url: string, { clientId, clientSecret, username, password }: Login): Promise<string> {
  const form = { grant_type: "password", client_id: clientId, client_secret: clientSecret, username, password };
  const granted = await fetch(`${url}/services/oauth2/token`, { method: "POST", body: new URLSearchParams(form) });
  return ((await granted.json()) as { access_token: string }).access_token;
}

/** How a workspace is connected to a local org; its secrets are looked for from then on. */
export function connectionOf({ url, organizationId, clientId, clientSecret, username, password }: Org) {
  for (const secret of [clientSecret, password]) keepSecret(secret);
  return {
    ...{ loginUrl: url, instanceUrl: url, organizationId, userId: "", formerUserIds: [], apiVersion: "66.0" },
    credentials: { kind: "password", clientId, clientSecret, username, password },
    accessToken: null,
  } as const;
}
