import type { HttpAnswer } from "./proxy-answer.ts";
import type { RestApi } from "./rest-routes.ts";

/** Statuses of the gateway's own answers where the template does not say another. */
const DEFAULT_STATUS: Readonly<Record<string, number>> = {
  ACCESS_DENIED: 403,
  API_CONFIGURATION_ERROR: 500,
  BAD_REQUEST_BODY: 400,
  BAD_REQUEST_PARAMETERS: 400,
  DEFAULT_5XX: 502,
  INTEGRATION_FAILURE: 504,
  INTEGRATION_TIMEOUT: 504,
  MISSING_AUTHENTICATION_TOKEN: 403,
  REQUEST_TOO_LARGE: 413,
  THROTTLED: 429,
};

const MESSAGES: Readonly<Record<number, string>> = {
  403: "Missing Authentication Token",
  413: "Request Too Long",
  429: "Too Many Requests",
  502: "Internal server error",
  504: "Endpoint request timed out",
};

/** The gateway's own answer: the template's words for this type, or for its family, or the gateway's own. */
export function refusalOf(
  { gatewayResponses }: RestApi,
  type: string,
  requestId: string,
): HttpAnswer & { readonly body: string } {
  const byDefault = DEFAULT_STATUS[type] ?? 500;
  const family = byDefault < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX";
  const own = gatewayResponses.get(type) ?? gatewayResponses.get(family);
  const message = MESSAGES[byDefault] ?? "Internal server error";
  const template = own?.template ?? `{"message":$context.error.messageString}`;
  const body = template
    .replaceAll("$context.error.messageString", JSON.stringify(message))
    .replaceAll("$context.error.message", message)
    .replaceAll("$context.error.responseType", type)
    .replaceAll("$context.requestId", requestId);
  const headers = Object.entries(own?.headers ?? {});
  return {
    status: own?.status ?? byDefault,
    headers: [["Content-Type", "application/json"], ...headers],
    body,
  };
}
