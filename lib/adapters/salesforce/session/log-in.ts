import * as z from "zod/mini";
import { isUnsupported } from "../../../model/change/refusal.ts";
import type { OrgLogin } from "../../../settings/ports.ts";
import { asText, exchange } from "../exchange.ts";
import { logIn, requestGrant, understandLogin } from "./request-token.ts";

const DEADLINE_MILLISECONDS = 10_000;

/** Salesforce's own word for a grant that a browser brought (OAuth 2.0 web-server flow with PKCE). */
const CODE = "authorization_code";

/** An org before it is connected, by plain fetch. */
export const orgLogin: OrgLogin = {
  logIn,

  exchangeCode: ({ loginUrl, clientId, clientSecret, redirectUri, codeVerifier }, code) =>
    requestGrant(loginUrl, {
      grant_type: CODE,
      code,
      redirect_uri: redirectUri,
      client_id: clientId,
      code_verifier: codeVerifier,
      ...(clientSecret !== null && { client_secret: clientSecret }),
    }),

  identify: async ({ instanceUrl, accessToken, organizationId, userId }) => {
    const headers = { authorization: `Bearer ${accessToken}` };
    const answer = await get(instanceUrl, "/services/oauth2/userinfo", headers).catch((error: unknown) => {
      // An app without the scope `openid` may not ask. The token endpoint has named the user, though not its username.
      if (isUnsupported(error) && organizationId !== null && userId !== null) return null;
      throw error;
    });
    if (answer === null) return { organizationId: organizationId ?? "", userId: userId ?? "", username: userId ?? "" };
    const { organization_id, user_id, preferred_username } = understandLogin(userinfo, answer, instanceUrl);
    return { organizationId: organization_id, userId: user_id, username: preferred_username };
  },

  versions: async (instanceUrl) => {
    const answer = await get(instanceUrl, "/services/data", {});
    return understandLogin(versionList, answer, instanceUrl).map(({ version }) => version);
  },
};

const userinfo = z.object({ organization_id: z.string(), user_id: z.string(), preferred_username: z.string() });
const versionList = z.array(z.object({ version: z.string() }));

async function get(url: string, path: string, headers: Readonly<Record<string, string>>): Promise<string> {
  return (await exchange({ url, headers }, { method: "GET", path, deadline: DEADLINE_MILLISECONDS, reads: asText }))
    .answer;
}
