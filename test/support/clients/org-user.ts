import type { Org } from "../../../lib/local/org/start-org.ts";
import { askRest, signIn } from "./org-rest.ts";

/** A user of an org, and how to come in: the password, and a session. */
export type OrgUser = Awaited<ReturnType<typeof createOrgUser>>;

type Needed = Pick<Org, "url" | "accessToken" | "userId" | "clientId" | "clientSecret">;

/** Makes a user beside the administrator, with the same profile, and signs in. */
export async function createOrgUser(org: Needed, name: string) {
  const ask = async (method: string, path: string, body?: object) =>
    ((await askRest(org, method, path, body)) ?? {}) as Record<string, string>;
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
    ...{ TimeZoneSidKey: "GMT", LocaleSidKey: "en_US", EmailEncodingKey: "UTF-8", LanguageLocaleKey: "en_US" },
  });
  const userId = String(made["id"]);
  await ask("POST", `/sobjects/User/${userId}/password`, { NewPassword: password });
  return { userId, username, password, accessToken: await signIn(org.url, { ...org, username, password }) };
}
