import { createSign } from "node:crypto";
import * as z from "zod/mini";
import { type RefusalKind, SalesforceRefusal } from "../../../model/change/refusal.ts";
import { orgOrigin } from "../../../model/workspace/org-origin.ts";
import type { SalesforceConnection, SalesforceCredentials } from "../../../model/workspace/workspace.ts";
import type { LoggedIn, Session } from "../../../settings/ports.ts";
import { asText, exchange } from "../exchange.ts";

const JWT_MINUTES = 3;

/**
 * A new session from the org's token endpoint (Salesforce, OAuth 2.0 flows). Tokens go to the host that the connection
 * was authorised at. Rejects with a `session` refusal when the org says no, else as any lost request.
 */
export async function requestToken({ loginUrl, credentials }: SalesforceConnection, at: Date): Promise<LoggedIn> {
  try {
    return await logIn(loginUrl, credentials, at);
  } catch (error) {
    throw error instanceof SalesforceRefusal ? asSessionRefusal(error) : error;
  }
}

/** A session by a connection's credentials; refusals as they came. */
export async function logIn(loginUrl: string, credentials: SalesforceCredentials, at: Date): Promise<LoggedIn> {
  if (credentials.kind === "jwt_bearer") return byAssertion(loginUrl, credentials, at);
  const session = await requestGrant(loginUrl, grantOf(credentials));
  const { refreshToken } = session;
  if (credentials.kind !== "refresh_token" || refreshToken === null) return { ...session, credentials };
  return { ...session, credentials: { ...credentials, refreshToken, rotatedAt: at.toISOString() } };
}

type JwtBearer = Extract<SalesforceCredentials, { readonly kind: "jwt_bearer" }>;

/** Asks with one audience after the other until one is accepted, which is kept with the credentials. */
async function byAssertion(loginUrl: string, credentials: JwtBearer, at: Date): Promise<LoggedIn> {
  let refusal: unknown;
  for (const audience of audiencesOf(loginUrl, credentials)) {
    try {
      const assertion = assertionOf(credentials, audience, at);
      const session = await requestGrant(loginUrl, { grant_type: JWT_BEARER, assertion });
      return { ...session, credentials: { ...credentials, audience } };
    } catch (error) {
      if (!(error instanceof SalesforceRefusal && /\baudience\b/i.test(error.refusal.message))) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/**
 * What an org may want as audience: External Client Apps its own address, classic apps and government clouds the common
 * login of production or sandboxes. An assertion for these goes to hosts of Salesforce alone: another one could log in by it.
 */
function audiencesOf(loginUrl: string, { audience }: JwtBearer): readonly string[] {
  const own = loginUrl.replace(/(?<!\/)\/+$/, "");
  const common = ["https://login.salesforce.com", "https://test.salesforce.com"] as const;
  const isSandbox = /--|\.(?:sandbox|scratch)\./.test(new URL(loginUrl).hostname);
  const others = orgOrigin(loginUrl, common[0]) === null ? [] : isSandbox ? common.toReversed() : common;
  return [...new Set([audience ?? own, own, ...others])];
}

/** A session for a grant, in the form of the org's token endpoint; its refusals as they came. */
export async function requestGrant(url: string, grant: Readonly<Record<string, string>>): Promise<Session> {
  const body = new URLSearchParams(grant);
  const { answer } = await exchange({ url }, { method: "POST", path: "/services/oauth2/token", body, reads: asText });
  const { access_token, instance_url, refresh_token, id } = understandLogin(granted, answer, url);
  const [organizationId, userId] = (id ?? "").split("/").slice(-2);
  return {
    accessToken: access_token,
    instanceUrl: instance_url,
    refreshToken: refresh_token ?? null,
    organizationId: organizationId || null,
    userId: userId || null,
  };
}

/** The JSON of a login host's answer, in its shape. Of another shape it is no org's: the host is mistyped. */
export function understandLogin<Shape extends z.ZodMiniType>(shape: Shape, text: string, url: string): z.output<Shape> {
  const read = shape.safeParse(jsonOf(text));
  if (read.success) return read.data;
  const message = `${new URL(url).host} does not answer like a Salesforce org`;
  throw new SalesforceRefusal({ kind: "transient", code: "NOT_SALESFORCE", message, mayHaveRun: false });
}

/** Undefined: it is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const granted = z.object({
  access_token: z.string(),
  instance_url: z.string(),
  refresh_token: z.optional(z.string()),
  id: z.optional(z.string()),
});

/** The form that asks for a session by these credentials. */
function grantOf(credentials: Exclude<SalesforceCredentials, JwtBearer>): Record<string, string> {
  switch (credentials.kind) {
    case "refresh_token":
      return {
        grant_type: "refresh_token",
        refresh_token: credentials.refreshToken,
        client_id: credentials.clientId,
        ...(credentials.clientSecret !== null && { client_secret: credentials.clientSecret }),
      };
    case "password":
      return {
        grant_type: "password",
        client_id: credentials.clientId,
        client_secret: credentials.clientSecret,
        username: credentials.username,
        password: credentials.password,
      };
    case "client_credentials":
      return {
        grant_type: "client_credentials",
        client_id: credentials.clientId,
        client_secret: credentials.clientSecret,
      };
  }
}

function assertionOf({ clientId, username, privateKey }: JwtBearer, audience: string, at: Date): string {
  const expires = Math.floor(at.getTime() / 1000) + JWT_MINUTES * 60;
  const claims = { iss: clientId, sub: username, aud: audience, exp: expires };
  const signed = [{ alg: "RS256", typ: "JWT" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${signed}.${createSign("RSA-SHA256").update(signed).sign(privateKey, "base64url")}`;
}

/**
 * `invalid_grant` and its like need a person. What passes, what is the org's, and an answer without words of OAuth, which
 * is no verdict on the credentials, do not. What the session was wanted for has not been sent.
 */
function asSessionRefusal(error: SalesforceRefusal): SalesforceRefusal {
  const { kind, code, message } = error.refusal;
  const verdict = code.startsWith("HTTP_") ? "transient" : "session";
  const refusal = { kind: VERDICTS.has(kind) ? verdict : kind, code, message, mayHaveRun: false } as const;
  return new SalesforceRefusal(refusal, error);
}

const VERDICTS: ReadonlySet<RefusalKind> = new Set(["bug", "mapping", "session"]);
