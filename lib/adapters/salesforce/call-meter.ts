import type { RefusalKind, SalesforceRefusal } from "../../model/change/refusal.ts";
import { type API_LABELS, judgedCount } from "../../model/totals.ts";

type ApiLabel = (typeof API_LABELS)[number];

/** Counts the requests that an org counts, and reads from its answers how many it has counted in all. */
export class CallMeter {
  readonly #calls = new Map<ApiLabel, number>();
  #usage: { readonly used: number; readonly limit: number } | null = null;

  /** Counts a request; `refusal` is how it was refused, null: it was not. */
  count(url: string, refusal: SalesforceRefusal | null): void {
    const label = labelOf(url);
    if (label === null || (refusal && !wasCounted(refusal))) return;
    this.#calls.set(label, (this.#calls.get(label) ?? 0) + 1);
  }

  /** Reads the org's own count from an answer: of REST from its header, of SOAP from its body. */
  hear(url: string, limitInfo: string | null, body: string): void {
    const soapHeader = labelOf(url) === "SOAP" ? body.slice(0, SOAP_HEADER_LENGTH) : "";
    const usage = /api-usage=(\d+)\/(\d+)/.exec(limitInfo ?? "") ?? SOAP_USAGE.exec(soapHeader);
    if (usage) this.#usage = { used: judgedCount(usage[1]), limit: judgedCount(usage[2]) };
  }

  calls(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#calls);
  }

  usage(): { readonly used: number; readonly limit: number } | null {
    return this.#usage;
  }
}

const SOAP_HEADER_LENGTH = 2_000;
const SOAP_USAGE = /<(?:\w+:)?current>(\d+)<\/(?:\w+:)?current>\s*<(?:\w+:)?limit>(\d+)<\/(?:\w+:)?limit>/;

/** The label of a request, null for those that cost nothing (login, token, the list of versions). */
function labelOf(url: string): ApiLabel | null {
  const { pathname } = new URL(url);
  if (/^\/+services\/Soap\//i.test(pathname)) return "SOAP";
  const resource = /^\/+services\/data\/v[\d.]+\/+(\w+)/.exec(pathname)?.[1];
  if (resource === undefined) return null;
  if (resource === "jobs") return "BULK";
  return resource === "composite" ? "COMPOSITE" : "REST";
}

/** Salesforce counts the calls that it lets in: none without a session, beyond the day's limit, or while the API is off. */
function wasCounted({ refusal: { kind, code } }: SalesforceRefusal): boolean {
  return code !== "UNREACHABLE" && code !== "NOT_SALESFORCE" && !UNCOUNTED.has(kind);
}

const UNCOUNTED: ReadonlySet<RefusalKind> = new Set(["session", "limit", "disabled"]);
