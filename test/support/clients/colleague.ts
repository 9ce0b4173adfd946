import type { SalesforceConnection } from "../../../lib/model/workspace/workspace.ts";

/** A REST call of a user who works in the org; what is not well rejects. */
export type Colleague = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>;

/** Signs in a user other than the service's. */
export async function openColleague({ loginUrl, credentials }: SalesforceConnection): Promise<Colleague> {
  if (credentials.kind !== "password") throw new Error("the local org is connected by password");
  const { clientId, clientSecret, username, password } = credentials;
  const form = { grant_type: "password", client_id: clientId, client_secret: clientSecret, username, password };
  const granted = await fetch(`${loginUrl}/services/oauth2/token`, { method: "POST", body: new URLSearchParams(form) });
  const { access_token } = (await granted.json()) as { access_token: string };
  return async (method, path, body) => {
    const answer = await fetch(`${loginUrl}/services/data/v66.0${path}`, {
      method,
      headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
  };
}
