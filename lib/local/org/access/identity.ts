import { type Call, emptyReply, jsonReply, type Reply } from "../http/call.ts";
import { normalizeId } from "../ids.ts";
import type { Parts } from "../parts.ts";
import type { Row } from "../store/database.ts";
import { grantTo, revokeGrant } from "./grants.ts";
import type { Session } from "./sessions.ts";

/** `GET /services/oauth2/userinfo` (salesforce-facts 1.1). */
export function userInfo(parts: Parts, call: Call, { userId }: Session): Reply {
  const { scopes } = parts.release;
  if (scopes !== null && !scopes.includes("openid")) {
    return { status: 403, headers: { "Content-Type": "text/html;charset=UTF-8" }, body: "Bad_OAuth_Token" };
  }
  const user = userRow(parts, userId);
  const organizationId = parts.identity.organizationId;
  return jsonReply(200, {
    sub: `${secure(call.origin)}/id/${organizationId}/${userId}`,
    user_id: userId,
    organization_id: organizationId,
    preferred_username: user["Username"],
    nickname: user["CommunityNickname"],
    name: user["Name"],
    email: user["Email"],
    email_verified: true,
    given_name: user["FirstName"],
    family_name: user["LastName"],
    zoneinfo: user["TimeZoneSidKey"],
    photos: { picture: `${call.origin}/profilephoto/005/F`, thumbnail: `${call.origin}/profilephoto/005/T` },
    profile: `${call.origin}/${userId}`,
    picture: `${call.origin}/profilephoto/005/F`,
    address: {},
    urls: urlsOf(call.origin, organizationId),
    active: user["IsActive"] === 1,
    user_type: "STANDARD",
    language: user["LanguageLocaleKey"],
    locale: user["LocaleSidKey"],
    utcOffset: 0,
    updated_at: user["SystemModstamp"],
  });
}

/** `GET /id/{organization}/{user}`; null where there is no such user in this org. */
export function identityOf(parts: Parts, call: Call): Reply | null {
  const [, , organization = "", userId = ""] = call.path.split("/");
  const { organizationId } = parts.identity;
  const id = normalizeId(userId);
  if (normalizeId(organization) !== organizationId || id === null) return null;
  const user = parts.records.find(parts.catalog.get("User"), id);
  if (!user) return null;
  return jsonReply(200, {
    id: `${secure(call.origin)}/id/${organizationId}/${id}`,
    asserted_user: true,
    user_id: id,
    organization_id: organizationId,
    username: user["Username"],
    nick_name: user["CommunityNickname"],
    display_name: user["Name"],
    email: user["Email"],
    email_verified: true,
    first_name: user["FirstName"],
    last_name: user["LastName"],
    timezone: user["TimeZoneSidKey"],
    photos: { picture: `${call.origin}/profilephoto/005/F`, thumbnail: `${call.origin}/profilephoto/005/T` },
    addr_street: null,
    addr_city: null,
    addr_state: null,
    addr_country: null,
    addr_zip: null,
    mobile_phone: null,
    mobile_phone_verified: false,
    is_lightning_login_user: false,
    status: { created_date: null, body: null },
    urls: urlsOf(call.origin, organizationId),
    active: user["IsActive"] === 1,
    user_type: "STANDARD",
    language: user["LanguageLocaleKey"],
    locale: user["LocaleSidKey"],
    utcOffset: 0,
    last_modified_date: user["SystemModstamp"],
    is_app_installed: true,
  });
}

function userRow(parts: Parts, userId: string): Row {
  return parts.records.find(parts.catalog.get("User"), userId) ?? {};
}

function urlsOf(origin: string, organizationId: string): Readonly<Record<string, string>> {
  const rest = `${origin}/services/data/v{version}/`;
  return {
    enterprise: `${origin}/services/Soap/c/{version}/${organizationId.slice(0, 15)}`,
    metadata: `${origin}/services/Soap/m/{version}/${organizationId.slice(0, 15)}`,
    partner: `${origin}/services/Soap/u/{version}/${organizationId.slice(0, 15)}`,
    rest,
    sobjects: `${rest}sobjects/`,
    search: `${rest}search/`,
    query: `${rest}query/`,
    recent: `${rest}recent/`,
    profile: `${origin}/{user_id}`,
    custom_domain: origin,
  };
}

/** `POST /services/oauth2/revoke`: ends an access token, or a refresh token. */
export function revoke(parts: Parts, call: Call): Reply {
  const token = new URLSearchParams(call.body.toString("utf8")).get("token") ?? call.query.get("token") ?? "";
  parts.sessions.end(token);
  revokeGrant(parts, token);
  return emptyReply(200);
}

/**
 * `GET /services/oauth2/authorize`: the embedded org asks no user. It sends the browser back at once with a code that
 * speaks for the administrator; a challenge for PKCE is kept with the code.
 */
export function authorize(parts: Parts, call: Call): Reply {
  const asked = (name: string) => call.query.get(name) ?? "";
  const refuse = (error: string, description: string) => jsonReply(400, { error, error_description: description });
  if (asked("client_id") !== parts.identity.clientId) return refuse("invalid_client_id", "client identifier invalid");
  if (asked("response_type") !== "code") return refuse("unsupported_response_type", "response type not supported");
  if (!URL.canParse(asked("redirect_uri")))
    return refuse("redirect_uri_mismatch", "redirect_uri must match configuration");
  const challenge = asked("code_challenge");
  const detail = { redirect_uri: asked("redirect_uri"), ...(challenge === "" ? {} : { code_challenge: challenge }) };
  const target = new URL(asked("redirect_uri"));
  target.searchParams.set("code", grantTo(parts, "code", parts.identity.userId, detail));
  if (call.query.has("state")) target.searchParams.set("state", asked("state"));
  return emptyReply(302, { Location: target.toString() });
}

/** What identifies a user begins with https:// even where the org itself is reached without. */
function secure(origin: string): string {
  return origin.replace(/^http:/, "https:");
}
