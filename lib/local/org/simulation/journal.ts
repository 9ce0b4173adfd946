import type { Call } from "../http/call.ts";
import { nameOf } from "../http/call.ts";

/** Requests; a query may name hundreds of records. */
const KEPT = 2_000;

/** One request as the journal keeps it. */
export interface Entry {
  readonly at: string;
  readonly api: "REST" | "SOAP" | "BULK" | "OAUTH" | "OTHER";
  readonly method: string;
  readonly path: string;
  readonly request: string;
  readonly operation: string | null;
  readonly bodyBytes: number;
  /** Null while it is being answered, or when no answer was sent. */
  status: number | null;
}

/** The requests that came in, oldest first, in memory; kept only where the controls are on. */
export class Journal {
  readonly #entries: Entry[] = [];

  note(at: Date, call: Call): Entry {
    const soapOperation = /<(?:\w+:)?Body[^>]*>\s*<(?:\w+:)?(\w+)/.exec(
      isSoap(call) ? call.body.toString("utf8", 0, 4000) : "",
    )?.[1];
    const entry: Entry = {
      at: at.toISOString(),
      api: apiOf(call),
      method: call.method,
      path: call.path,
      request: nameOf(call),
      operation: soapOperation ?? null,
      bodyBytes: call.body.length,
      status: null,
    };
    this.#entries.push(entry);
    if (this.#entries.length > KEPT) this.#entries.shift();
    return entry;
  }

  entries(): readonly Entry[] {
    return this.#entries;
  }

  clear(): void {
    this.#entries.length = 0;
  }
}

function isSoap(call: Call): boolean {
  return /^\/services\/Soap\//i.test(call.path);
}

function apiOf(call: Call): Entry["api"] {
  if (isSoap(call)) return "SOAP";
  if (/^\/services\/data\/v[\d.]+\/jobs\//.test(call.path)) return "BULK";
  if (call.path.startsWith("/services/oauth2/")) return "OAUTH";
  return call.path.startsWith("/services/data") ? "REST" : "OTHER";
}
