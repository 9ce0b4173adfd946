import { refusalOf, SalesforceRefusal } from "../../model/change/refusal.ts";

/** The refusal that an answer of 300 or above holds: a JSON array of REST, an object of OAuth, a SOAP fault, a word, or HTML. */
export function refusalIn(status: number, body: string): SalesforceRefusal {
  const fault = fromFault(body);
  const [word] = /^[A-Za-z]+(?:_[A-Za-z]+)+$/.exec(body.slice(0, CODE_CHARACTERS).trim()) ?? [];
  const error = fault ?? fromJson(body) ?? { code: word ?? `HTTP_${status}`, message: "no reason was given" };
  return new SalesforceRefusal(refusalOf(status, error.code, error.message, fault !== null));
}

interface OrgError {
  readonly code: string;
  readonly message: string;
}

function fromFault(body: string): OrgError | null {
  const code = between(body, "<faultcode>", "</faultcode>")?.split(":").at(-1);
  if (!code || code.length > CODE_CHARACTERS) return null;
  const text = between(body, "<faultstring>", "</faultstring>") ?? "";
  return { code, message: unescapeXml(text).replace(`${code}: `, "") };
}

/** Longer than any code of Salesforce's. */
const CODE_CHARACTERS = 200;

function between(text: string, open: string, close: string): string | null {
  const from = text.indexOf(open);
  const until = from < 0 ? -1 : text.indexOf(close, from);
  return until < 0 ? null : text.slice(from + open.length, until);
}

function fromJson(body: string): OrgError | null {
  const parsed = parse(body);
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (typeof first !== "object" || first === null) return null;
  const { errorCode, message, error, error_description } = first as Record<string, unknown>;
  if (typeof errorCode === "string") return { code: errorCode, message: String(message ?? "") };
  return typeof error === "string" ? { code: error, message: String(error_description ?? "") } : null;
}

/** Null for what is not JSON, an outage's HTML page mostly. */
function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

function unescapeXml(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}
