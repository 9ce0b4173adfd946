import { SalesforceRefusal } from "../../model/change/refusal.ts";

/** Whether a request that got no whole answer was carried out; a redirect is a refusal already. */
export function lost(error: unknown): SalesforceRefusal {
  if (error instanceof SalesforceRefusal) return error;
  const { name, message, cause } = error instanceof Error ? error : new Error(String(error));
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (name === "TimeoutError") return loss("TIMEOUT", "no answer in time", true, error);
  if (name === "AbortError") return loss("ABORTED", "the cycle was asked to stop", true, error);
  if (code === "EHOSTREFUSED" && cause instanceof Error) return loss("UNREACHABLE", cause.message, false, error);
  if (NEVER_SENT.has(code)) return loss("UNREACHABLE", `the org cannot be reached (${code})`, false, error);
  return loss("BROKEN_ANSWER", `the connection broke (${code || message})`, true, error);
}

const NEVER_SENT = new Set([
  "EHOSTREFUSED",
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

function loss(code: string, message: string, mayHaveRun: boolean, cause: unknown): SalesforceRefusal {
  return new SalesforceRefusal({ kind: "transient", code, message, mayHaveRun }, cause);
}
