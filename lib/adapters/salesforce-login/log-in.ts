import * as z from "zod/mini";
import type { OrgLogin, Session } from "../../settings/ports.ts";
import { guardedFetch } from "../salesforce/guarded-fetch.ts";
import { lost } from "../salesforce/lost-request.ts";
import { refusalIn } from "../salesforce/refusal-in.ts";
import { type Granted, grantOf, jsonOf, notSalesforce, requestGrant } from "../salesforce/request-token.ts";

const DEADLINE_MILLISECONDS = 10_000;

/** Salesforce's own word for a grant that a browser brought (OAuth 2.0 web-server flow with PKCE). */
const CODE = "authorization_code";

/** An org before it is connected, by plain fetch. */
export const orgLogin: OrgLogin = {
  logIn: async (loginUrl, credentials, at) =>
    sessionOf(await requestGrant(loginUrl, grantOf(credentials, loginUrl, at))),

  exchangeCode: async ({ loginUrl, clientId, clientSecret, redirectUri, codeVerifier }, code) => {
    const grant = {
      grant_type: CODE,
      code,
      redirect_uri: redirectUri,
      client_id: clientId,
      code_verifier: codeVerifier,
    };
    return sessionOf(
      await requestGrant(loginUrl, clientSecret === null ? grant : { ...grant, client_secret: clientSecret }),
    );
  },

  identify: async ({ instanceUrl, accessToken }) => {
    const answer = userinfo.safeParse(await get(instanceUrl, "/services/oauth2/userinfo", accessToken));
    if (!answer.success) throw notSalesforce(instanceUrl);
    const { organization_id, user_id, preferred_username } = answer.data;
    return { organizationId: organization_id, userId: user_id, username: preferred_username };
  },

  versions: async (instanceUrl) => {
    const answer = versionList.safeParse(await get(instanceUrl, "/services/data", null));
    if (!answer.success) throw notSalesforce(instanceUrl);
    return answer.data.map(({ version }) => version);
  },
};

const userinfo = z.object({ organization_id: z.string(), user_id: z.string(), preferred_username: z.string() });
const versionList = z.array(z.object({ version: z.string() }));

const sessionOf = ({ accessToken, instanceUrl, refreshToken }: Granted): Session => ({
  accessToken,
  instanceUrl,
  refreshToken,
});

async function get(instanceUrl: string, path: string, accessToken: string | null): Promise<unknown> {
  const { status, body } = await guardedFetch(`${instanceUrl.replace(/\/+$/, "")}${path}`, {
    headers: { accept: "application/json", ...(accessToken !== null && { authorization: `Bearer ${accessToken}` }) },
    signal: AbortSignal.timeout(DEADLINE_MILLISECONDS),
  })
    .then(async (response) => ({ status: response.status, body: await response.text() }))
    .catch((error: unknown) => {
      throw lost(error);
    });
  if (status >= 300) throw refusalIn(status, body);
  return jsonOf(body);
}
