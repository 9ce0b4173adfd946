import { createSign } from "node:crypto";
import * as z from "zod/mini";
import { SalesforceRefusal } from "../../model/refusal.ts";
import type { SalesforceConnection, SalesforceCredentials } from "../../model/workspace.ts";
import { CallMeter } from "./call-meter.ts";
import { FetchTransport } from "./fetch-transport.ts";

/** What the token endpoint gave. */
interface Granted {
  readonly accessToken: string;
  readonly instanceUrl: string;
  /** Null unless the org rotates refresh tokens: then the old one has ended. */
  readonly refreshToken: string | null;
  readonly userId: string | null;
  readonly organizationId: string | null;
}

const JWT_MINUTES = 3;

/**
 * A new session from the org's token endpoint (Salesforce, OAuth 2.0 flows). Tokens go to the host that the connection
 * was authorised at. Rejects with a `session` refusal when the org says no, else as any lost request.
 */
export async function requestToken({ loginUrl, credentials }: SalesforceConnection, at: Date): Promise<Granted> {
  const body = new URLSearchParams(grantOf(credentials, loginUrl, at)).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const transport = new FetchTransport(new CallMeter(), new AbortController().signal);
  const url = `${loginUrl.replace(/\/+$/, "")}/services/oauth2/token`;
  const answer = await transport.httpRequest({ method: "POST", url, headers, body }).catch((error: unknown) => {
    throw asSessionRefusal(error);
  });
  const { access_token, instance_url, refresh_token, id } = granted.parse(JSON.parse(answer.body));
  const [organizationId, userId] = (id ?? "").split("/").slice(-2);
  return {
    accessToken: access_token,
    instanceUrl: instance_url,
    refreshToken: refresh_token ?? null,
    organizationId: organizationId || null,
    userId: userId || null,
  };
}

const granted = z.object({
  access_token: z.string(),
  instance_url: z.string(),
  refresh_token: z.optional(z.string()),
  id: z.optional(z.string()),
});

function grantOf(credentials: SalesforceCredentials, loginUrl: string, at: Date): Record<string, string> {
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
    case "jwt_bearer":
      return {
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: assertionOf(credentials, loginUrl, at),
      };
  }
}

type JwtBearer = Extract<SalesforceCredentials, { readonly kind: "jwt_bearer" }>;

function assertionOf({ clientId, username, privateKey }: JwtBearer, loginUrl: string, at: Date): string {
  const expires = Math.floor(at.getTime() / 1000) + JWT_MINUTES * 60;
  const claims = { iss: clientId, sub: username, aud: loginUrl.replace(/\/+$/, ""), exp: expires };
  const signed = [{ alg: "RS256", typ: "JWT" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${signed}.${createSign("RSA-SHA256").update(signed).sign(privateKey, "base64url")}`;
}

/** `invalid_grant` and its like need a person; an outage of the login host passes. */
function asSessionRefusal(error: unknown): unknown {
  if (!(error instanceof SalesforceRefusal)) return error;
  const { kind, code, message } = error.refusal;
  if (kind === "transient" || code === "rate_limit_exceeded") return error;
  const remedy = "connect the workspace to Salesforce again";
  return new SalesforceRefusal({ kind: "session", code, message: `${message}; ${remedy}`, mayHaveRun: false }, error);
}
