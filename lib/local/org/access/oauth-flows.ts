import { createHash, type KeyObject, verify } from "node:crypto";
import { grantTo, takeCode } from "./grants.ts";
import { checkClient, type Granted, OAuthRefusal, type TokenRequest } from "./token-request.ts";

/**
 * JWT bearer. The signature is checked where the org was given the key; issuer, subject, audience and expiry always.
 * `exp` in milliseconds is accepted as well: Salesforce's own command line sends it so.
 */
export function jwtBearer({ parts, form, origin }: TokenRequest): Granted {
  const assertion = form.get("assertion") ?? "";
  if (parts.assertionKey && !isSignedBy(parts.assertionKey, assertion)) throw invalidAssertion();
  const claims = claimsOf(assertion);
  if (claims["iss"] !== parts.identity.clientId)
    throw new OAuthRefusal("invalid_client_id", "client identifier invalid");
  const expiry = Number(claims["exp"]);
  const expiresAt = expiry > 1e11 ? expiry : expiry * 1000;
  if (!(expiresAt > parts.clock.now().getTime())) throw new OAuthRefusal("invalid_grant", "assertion is expired");
  const audience = String(claims["aud"]).replace(/(?<!\/)\/+$/, "");
  const { audiences, scopes } = parts.release;
  const accepted = audiences ?? [origin, "https://login.salesforce.com", "https://test.salesforce.com"];
  if (!accepted.includes(audience)) throw new OAuthRefusal("invalid_grant", "audience is invalid");
  const userId = parts.sessions.userNamed(String(claims["sub"] ?? claims["prn"] ?? ""));
  if (userId === null) throw new OAuthRefusal("invalid_grant", "user hasn't approved this consumer");
  if (scopes?.includes("refresh_token") === false) {
    const needed = "refresh_token scope is required and the connected app should be installed and preauthorized";
    throw new OAuthRefusal("invalid_request", needed);
  }
  return { userId };
}

function isSignedBy(key: KeyObject, assertion: string): boolean {
  const [header = "", claims = "", signature = ""] = assertion.split(".");
  if (jsonIn(header)["alg"] !== "RS256") return false;
  return verify("sha256", Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, "base64url"));
}

function claimsOf(assertion: string): Record<string, unknown> {
  const [, claims = ""] = assertion.split(".");
  return jsonIn(claims);
}

/** A part of an assertion, which must hold a JSON object. */
function jsonIn(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // falls through to the refusal: what cannot be read is no assertion
  }
  throw invalidAssertion();
}

function invalidAssertion(): OAuthRefusal {
  return new OAuthRefusal("invalid_grant", "invalid assertion");
}

/** Client credentials run as the administrator. */
export function clientCredentials(request: TokenRequest): Granted {
  checkClient(request, true);
  return { userId: request.parts.identity.userId };
}

/** Authorization code, with PKCE where the authorization asked for it. */
export function authorizationCode(request: TokenRequest): Granted {
  checkClient(request, false);
  const { parts, form } = request;
  const taken = takeCode(parts, form.get("code") ?? "");
  if (!taken) throw new OAuthRefusal("invalid_grant", "expired authorization code");
  const { detail, userId } = taken;
  if (detail["redirect_uri"] !== form.get("redirect_uri"))
    throw new OAuthRefusal("redirect_uri_mismatch", "redirect_uri must match configuration");
  if (detail["code_challenge"] !== undefined) {
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (verifier !== detail["code_challenge"]) throw new OAuthRefusal("invalid_grant", "invalid code verifier");
  } else if (form.get("client_secret") === null) {
    throw new OAuthRefusal("invalid_client", "invalid client credentials");
  }
  return { userId, refreshToken: grantTo(parts, "refresh", userId, {}) };
}
