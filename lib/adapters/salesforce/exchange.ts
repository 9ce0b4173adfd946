import { ANSWER_BYTES, textOf, tooLarge } from "./answer-bytes.ts";
import type { CallMeter } from "./call-meter.ts";
import { parseBounded, parseExactly } from "./exact-json.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { lost } from "./lost-request.ts";
import { refusalIn } from "./refusal-in.ts";
import { jsonOrRefusal, refusalOfPage } from "./web-page.ts";

/** Where a request goes. */
interface Target {
  /** The URL that the request's path follows. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Counts the request where the org counts it. */
  readonly meter?: CallMeter;
  /** Breaks the request off. */
  readonly signal?: AbortSignal;
}

export interface Request<Content> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | URLSearchParams | ReadableStream<Uint8Array>;
  /**
   * Milliseconds until the whole answer must be there, 15 s if left out. Of a stream its beginning, and each next piece
   * from when it is asked for.
   */
  readonly deadline?: number | undefined;
  readonly reads: Reader<Content>;
}

export interface Answer<Content> {
  readonly answer: Content;
  /** The org's time, by the answer's `Date`. */
  readonly at: Date;
  /** The org's time when the request was sent: `at` without the seconds that the answer took. */
  readonly askedAt: Date;
  readonly headers: Headers;
}

/** What a good answer holds, and how many bytes it may have: one of the readers below. */
type Reader<Content> = (response: Response, url: string, alarm: Alarm) => Promise<Content>;

const READ_MILLISECONDS = 15_000;

type Alarm = ReturnType<typeof alarmAfter>;

/**
 * The one HTTP exchange with an org: guarded, never redirected, never repeated, counted once. Anything but a good answer
 * rejects with `SalesforceRefusal`.
 */
export async function exchange<Content>(
  { url: base, headers, meter, signal }: Target,
  request: Request<Content>,
): Promise<Answer<Content>> {
  const url = `${base.replace(/(?<!\/)\/+$/, "")}${request.path}`;
  const silence = new AbortController();
  const sentAt = performance.now();
  const alarm = alarmAfter(request.deadline ?? READ_MILLISECONDS, () =>
    silence.abort(new DOMException("no answer in time", "TimeoutError")),
  );
  alarm.start();
  try {
    const response = await guardedFetch(url, {
      method: request.method,
      headers: { ...headers, ...(request.json !== undefined && JSON_SENT), ...request.headers },
      body: (request.json === undefined ? request.body : JSON.stringify(request.json)) ?? null,
      duplex: "half",
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
    });
    const refused = response.ok ? "" : ((await textOf(response, ANSWER_BYTES.short)) ?? "");
    meter?.hear(url, response.headers.get("sforce-limit-info"), refused);
    if (!response.ok) throw refusalIn(response.status, refused);
    const at = new Date(response.headers.get("date") ?? Number.NaN);
    if (Number.isNaN(at.getTime())) throw new Error("the answer has no Date");
    const askedAt = new Date(at.getTime() - Math.floor((performance.now() - sentAt) / 1000) * 1000);
    const answer = await request.reads(response, url, alarm);
    meter?.count(url, null);
    return { answer, at, askedAt, headers: response.headers };
  } catch (error) {
    alarm.stop();
    silence.abort();
    const refusal = lost(error);
    meter?.count(url, refusal);
    throw refusal;
  }
}

const JSON_SENT = { "content-type": "application/json" };

const asJsonOf =
  (most: number, parse: (text: string) => unknown): Reader<unknown> =>
  async (response, url, alarm) =>
    jsonOrRefusal(url, await wholeOf(response, url, alarm, most), parse);

export const asJson = asJsonOf(ANSWER_BYTES.short, parseBounded);

export const asDescription = asJsonOf(ANSWER_BYTES.description, parseBounded);

/** A page, with every number as the digits that Salesforce wrote. */
export const asDigits = asJsonOf(ANSWER_BYTES.page, parseExactly);

export const asTextOf =
  (most: number): Reader<string> =>
  async (response, url, alarm) => {
    const text = await wholeOf(response, url, alarm, most);
    const page = refusalOfPage(url, text);
    if (page) throw page;
    return text;
  };

export const asText = asTextOf(ANSWER_BYTES.short);

/** The body while it arrives. By its type alone it is known that it is no page for people: nothing is read ahead. */
export const asStream: Reader<ReadableStream<Uint8Array> | null> = async (response, url, alarm) => {
  if (/^text\/html\b/i.test(response.headers.get("content-type") ?? "")) {
    const text = (await textOf(response, ANSWER_BYTES.short)) ?? "";
    throw refusalOfPage(url, text) ?? refusalIn(response.status, text);
  }
  alarm.stop();
  return response.body && attended(response.body, alarm);
};

async function wholeOf(response: Response, url: string, alarm: Alarm, most: number): Promise<string> {
  const text = await textOf(response, most);
  if (text === null) throw tooLarge(url, most);
  alarm.stop();
  return text;
}

/** Rings when it has been on for so long. */
function alarmAfter(milliseconds: number, ring: () => void) {
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(ring, milliseconds).unref();
  };
  return { start, stop: () => clearTimeout(timer) };
}

/** The body, with the alarm on only while a piece is waited for: the time between two is its reader's. */
function attended(body: ReadableStream<Uint8Array>, alarm: Alarm): ReadableStream<Uint8Array> {
  const pieces = body.getReader();
  const pull = async (onward: ReadableStreamDefaultController<Uint8Array>) => {
    alarm.start();
    const { done, value } = await pieces.read().finally(alarm.stop);
    if (done) onward.close();
    else onward.enqueue(value);
  };
  return new ReadableStream({ pull, cancel: (reason) => pieces.cancel(reason) }, { highWaterMark: 0 });
}
