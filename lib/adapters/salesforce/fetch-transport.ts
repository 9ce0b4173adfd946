import { PassThrough } from "node:stream";
import { Transport } from "jsforce/lib/transport.js";
import { StreamPromise } from "jsforce/lib/util/promise.js";
import { SalesforceRefusal } from "../../model/refusal.ts";
import { type CallMeter, labelOf, wasCounted } from "./call-meter.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { lost } from "./lost-request.ts";
import { refusalIn } from "./refusal-in.ts";
import { refusalOfPage } from "./web-page.ts";

type Request = Parameters<Transport["httpRequest"]>[0];
type Answer = Awaited<ReturnType<Transport["httpRequest"]>>;

/** Milliseconds until a read, or a save, is given up. Salesforce itself ends a save's transaction after ten minutes. */
const READ_MILLISECONDS = 15_000;
const SAVE_MILLISECONDS = 110_000;

/**
 * One request of jsforce's by the runtime's own fetch: with a deadline, never repeated, counted once. Whatever is not a
 * good answer rejects with `SalesforceRefusal`. (jsforce's own transport never settles after a reset in mid answer.)
 */
export class FetchTransport extends Transport {
  /** The org's time as its last answer told it. */
  answeredAt: Date = new Date(0);
  readonly #meter: CallMeter;
  readonly #signal: AbortSignal;

  constructor(meter: CallMeter, signal: AbortSignal) {
    super();
    this.#meter = meter;
    this.#signal = signal;
  }

  override httpRequest(request: Request): StreamPromise<Answer> {
    return StreamPromise.create(() => ({ stream: new PassThrough(), promise: this.#exchange(request) }));
  }

  async #exchange(request: Request): Promise<Answer> {
    const label = labelOf(request.url);
    const outcome = await this.#send(request, label === "SOAP");
    const refusal = outcome instanceof SalesforceRefusal ? outcome : refusalOfAnswer(request.url, outcome);
    if (label !== null && (!refusal || wasCounted(refusal))) this.#meter.count(label);
    if (outcome instanceof SalesforceRefusal) throw outcome;

    this.#meter.hear(outcome.headers["sforce-limit-info"] ?? null, label === "SOAP" ? outcome.body : "");
    this.answeredAt = new Date(outcome.headers["date"] ?? Number.NaN);
    if (refusal) throw refusal;
    if (Number.isNaN(this.answeredAt.getTime())) throw lost(new Error(`${request.url} answered without a Date`));
    return outcome;
  }

  /** The whole answer, or why there is none. */
  async #send(request: Request, saves: boolean): Promise<Answer | SalesforceRefusal> {
    try {
      const response = await guardedFetch(request.url, {
        method: request.method,
        headers: withoutLength(request.headers ?? {}),
        body: bodyOf(request, saves),
        signal: this.#deadline(saves),
      });
      const headers = Object.fromEntries(response.headers);
      return { statusCode: response.status, headers, body: await response.text() };
    } catch (error) {
      return lost(error);
    }
  }

  /** A save is never broken off by us before its time: its outcome would be in doubt. */
  #deadline(saves: boolean): AbortSignal {
    if (saves) return AbortSignal.timeout(SAVE_MILLISECONDS);
    return AbortSignal.any([AbortSignal.timeout(READ_MILLISECONDS), this.#signal]);
  }
}

function refusalOfAnswer(url: string, { statusCode, body }: Answer): SalesforceRefusal | null {
  return statusCode >= 300 ? refusalIn(statusCode, body) : refusalOfPage(url, body);
}

function withoutLength(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "content-length"));
}

function bodyOf(request: Request, soap: boolean): string | null {
  if (request.body === null || request.body === undefined) return null;
  if (typeof request.body !== "string") throw new Error(`${request.method} ${request.url}: only text is sent`);
  // An XML parser reads a bare carriage return as a line feed.
  return soap ? request.body.replaceAll("\r", "&#13;") : request.body;
}
