import * as z from "zod/mini";
import type { OrgLogin } from "../../../settings/ports.ts";
import { asText, exchange } from "../exchange.ts";
import { grantOf, requestGrant, understandLogin } from "./request-token.ts";

const DEADLINE_MILLISECONDS = 10_000;

/** Salesforce's own word for a grant that a browser brought (OAuth 2.0 web-server flow with PKCE). */
const CODE = "authorization_code";

/** An org before it is connected, by plain fetch. */
export const orgLogin: OrgLogin = {
  logIn: (loginUrl, credentials, at) => requestGrant(loginUrl, grantOf(credentials, loginUrl, at)),

  exchangeCode: ({ loginUrl, clientId, clientSecret, redirectUri, codeVerifier }, code) =>
    requestGrant(loginUrl, {
      grant_type: CODE,
      code,
      redirect_uri: redirectUri,
      client_id: clientId,
      code_verifier: codeVerifier,
      ...(clientSecret !== null && { client_secret: clientSecret }),
    }),

  identify: async ({ instanceUrl, accessToken }) => {
    const answer = await get(instanceUrl, "/services/oauth2/userinfo", { authorization: `Bearer ${accessToken}` });
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
