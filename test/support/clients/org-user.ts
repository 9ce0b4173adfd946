import type { Org } from "../../../lib/local/org/start-org.ts";

/** A user of an org and how to come in. */
export interface OrgUser {
  readonly userId: string;
  readonly username: string;
  readonly password: string;
  /** A session of the user's own. */
  readonly accessToken: string;
}

type Needed = Pick<Org, "url" | "accessToken" | "userId" | "clientId" | "clientSecret">;

/** Makes a user beside the administrator, with the same profile, and signs in. */
export async function createOrgUser(org: Needed, name: string): Promise<OrgUser> {
  const { url, clientId, clientSecret } = org;
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}/services/data/v66.0${path}`, {
      method,
      headers: { authorization: `Bearer ${org.accessToken}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return (text === "" ? {} : JSON.parse(text)) as Record<string, string>;
  };
  const { ProfileId } = await ask("GET", `/sobjects/User/${org.userId}?fields=ProfileId`);
  const username = `${name}@bridge.example`;
  const password = `${name}-password`;
  const made = await ask("POST", "/sobjects/User", {
    Username: username,
    LastName: name,
    Email: username,
    Alias: name.slice(0, 8),
    CommunityNickname: name,
    ProfileId,
    TimeZoneSidKey: "GMT",
    LocaleSidKey: "en_US",
    EmailEncodingKey: "UTF-8",
    LanguageLocaleKey: "en_US",
  });
  const userId = String(made["id"]);
  await ask("POST", `/sobjects/User/${userId}/password`, { NewPassword: password });
  const form = { grant_type: "password", client_id: clientId, client_secret: clientSecret, username, password };
  const granted = await fetch(`${url}/services/oauth2/token`, { method: "POST", body: new URLSearchParams(form) });
  const { access_token: accessToken } = (await granted.json()) as { access_token: string };
  return { userId, username, password, accessToken };
}
