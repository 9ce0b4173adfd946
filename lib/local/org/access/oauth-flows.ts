import { createHash } from "node:crypto";
import { grantTo, takeCode } from "./grants.ts";
import { checkClient, type Granted, OAuthRefusal, type TokenRequest } from "./token-request.ts";

/**
 * JWT bearer. The signature is not checked, because the org knows no certificate; issuer, subject, audience and expiry
 * are. `exp` in milliseconds is taken as well: Salesforce's own command line sends it so.
 */
export function jwtBearer({ parts, form, origin }: TokenRequest): Granted {
  const claims = claimsOf(form.get("assertion") ?? "");
  if (claims["iss"] !== parts.identity.clientId)
    throw new OAuthRefusal("invalid_client_id", "client identifier invalid");
  const expiry = Number(claims["exp"]);
  const expiresAt = expiry > 1e11 ? expiry : expiry * 1000;
  if (!(expiresAt > parts.clock.now().getTime())) throw new OAuthRefusal("invalid_grant", "assertion is expired");
  const audience = String(claims["aud"]).replace(/\/+$/, "");
  const isRight = audience === origin || /^https:\/\/(login|test)\.salesforce\.com$/.test(audience);
  if (!isRight) throw new OAuthRefusal("invalid_grant", "audience is invalid");
  const userId = parts.sessions.userNamed(String(claims["sub"] ?? claims["prn"] ?? ""));
  if (userId === null) throw new OAuthRefusal("invalid_grant", "user hasn't approved this consumer");
  return { userId };
}

function claimsOf(assertion: string): Record<string, unknown> {
  const [, payload = ""] = assertion.split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    if (typeof claims === "object" && claims !== null) return claims as Record<string, unknown>;
  } catch {
    // falls through to the refusal: what cannot be read is no assertion
  }
  throw new OAuthRefusal("invalid_grant", "invalid assertion");
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
