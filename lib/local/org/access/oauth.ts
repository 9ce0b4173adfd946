import { createHmac } from "node:crypto";
import { type Call, jsonReply, type Reply } from "../http/call.ts";
import type { Parts } from "../parts.ts";
import { redeemRefreshToken } from "./grants.ts";
import { authorizationCode, clientCredentials, jwtBearer } from "./oauth-flows.ts";
import { checkClient, type Granted, OAuthRefusal, type TokenRequest } from "./token-request.ts";

const FLOWS: Readonly<Record<string, (request: TokenRequest) => Granted>> = {
  password,
  refresh_token: refresh,
  "urn:ietf:params:oauth:grant-type:jwt-bearer": jwtBearer,
  client_credentials: clientCredentials,
  authorization_code: authorizationCode,
};

/** `POST /services/oauth2/token`. */
export function token(parts: Parts, call: Call): Reply {
  const form = new URLSearchParams(call.body.toString("utf8"));
  try {
    useBasic(call, form);
    const flow = FLOWS[form.get("grant_type") ?? ""];
    if (!flow) throw new OAuthRefusal("unsupported_grant_type", "grant type not supported");
    return jsonReply(200, tokenAnswer(parts, call.origin, flow({ parts, form, origin: call.origin })));
  } catch (error) {
    if (!(error instanceof OAuthRefusal)) throw error;
    return jsonReply(400, { error: error.error, error_description: error.message });
  }
}

/** Client id and secret may come in an HTTP Basic header instead. */
function useBasic(call: Call, form: URLSearchParams): void {
  const basic = /^Basic (.+)$/i.exec(call.headers.authorization ?? "")?.[1];
  if (basic === undefined) return;
  const [id = "", secret = ""] = Buffer.from(basic, "base64").toString("utf8").split(":");
  form.set("client_id", decodeURIComponent(id));
  form.set("client_secret", decodeURIComponent(secret));
}

function tokenAnswer({ identity, sessions, clock, release }: Parts, origin: string, { userId, refreshToken }: Granted) {
  const id = `${origin}/id/${identity.organizationId}/${userId}`;
  const issuedAt = String(clock.now().getTime());
  return {
    access_token: sessions.open(userId, release.jsonWebTokens),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    signature: createHmac("sha256", identity.clientSecret)
      .update(id + issuedAt)
      .digest("base64"),
    scope: release.scopes?.join(" ") ?? "api refresh_token",
    instance_url: origin,
    id,
    token_type: "Bearer",
    issued_at: issuedAt,
  };
}

/** Has no refresh token: the client has the password and asks again with it. */
function password(request: TokenRequest): Granted {
  checkClient(request, true);
  const { parts, form } = request;
  const userId = parts.sessions.userOf(form.get("username") ?? "", form.get("password") ?? "");
  if (userId === null) throw new OAuthRefusal("invalid_grant", "authentication failure");
  return { userId };
}

function refresh(request: TokenRequest): Granted {
  checkClient(request, false);
  const granted = redeemRefreshToken(request.parts, request.form.get("refresh_token") ?? "");
  if (!granted) throw new OAuthRefusal("invalid_grant", "expired access/refresh token");
  return granted;
}
