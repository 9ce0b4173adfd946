import type { Parts } from "../parts.ts";
import { Refusal } from "../refusal.ts";
import type { SoapCall } from "./soap-call.ts";
import { child, type Element, tag, textOf } from "./xml.ts";

/** The last version that has login; it retires with Summer '27 (salesforce-facts 1.2). */
const LAST_VERSION = 64;

/** `login(username, password)`: the one operation without a session (salesforce-facts 1.2 and 7). */
export function login(parts: Parts, input: Element, { origin, version }: { origin: string; version: string }): string {
  if (Number(version) > LAST_VERSION) {
    throw new Refusal("UNSUPPORTED_API_VERSION", "SOAP API login() is not supported in API version 65.0 and later");
  }
  const text = (name: string) => textOf(child(input, name));
  const userId = parts.sessions.userOf(text("username"), text("password"));
  if (userId === null) {
    throw new Refusal("INVALID_LOGIN", "Invalid username, password, security token; or user locked out.");
  }
  const org15 = parts.identity.organizationId.slice(0, 15);
  const result = [
    tag("metadataServerUrl", `${origin}/services/Soap/m/${version}/${org15}`),
    tag("passwordExpired", false),
    tag("sandbox", false),
    tag("serverUrl", `${origin}/services/Soap/u/${version}/${org15}`),
    tag("sessionId", parts.sessions.open(userId)),
    tag("userId", userId),
    `<userInfo>${userInfoXml(parts, userId)}</userInfo>`,
  ];
  return `<loginResponse><result>${result.join("")}</result></loginResponse>`;
}

/** `getUserInfo()`. */
export function getUserInfo({ parts, session }: SoapCall): string {
  return `<result>${userInfoXml(parts, session.userId)}</result>`;
}

function userInfoXml({ catalog, records, identity }: Parts, userId: string): string {
  const user = records.find(catalog.get("User"), userId) ?? {};
  const text = (name: string) => (typeof user[name] === "string" ? user[name] : null);
  return [
    tag("accessibilityMode", false),
    tag("chatterExternal", false),
    tag("currencySymbol", "$"),
    tag("orgAttachmentFileSizeLimit", 5_242_880),
    tag("orgDefaultCurrencyIsoCode", "USD"),
    tag("orgDefaultCurrencyLocale", "en_US"),
    tag("orgDisallowHtmlAttachments", false),
    tag("orgHasPersonAccounts", false),
    tag("organizationId", identity.organizationId),
    tag("organizationMultiCurrency", false),
    tag("organizationName", "Bridge"),
    tag("profileId", text("ProfileId")),
    tag("roleId", text("UserRoleId")),
    tag("sessionSecondsValid", 7200),
    tag("userDefaultCurrencyIsoCode", null),
    tag("userEmail", text("Email")),
    tag("userFullName", text("Name")),
    tag("userId", userId),
    tag("userLanguage", text("LanguageLocaleKey")),
    tag("userLocale", text("LocaleSidKey")),
    tag("userName", text("Username")),
    tag("userTimeZone", text("TimeZoneSidKey")),
    tag("userType", "Standard"),
    tag("userUiSkin", "Theme3"),
  ].join("");
}
