import type { SalesforceRefusal } from "../../model/refusal.ts";
import type { SalesforceConnection } from "../../model/workspace.ts";
import { type CallMeter, labelOf, wasCounted } from "./call-meter.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { lost } from "./lost-request.ts";
import { refusalIn } from "./refusal-in.ts";
import { refusalOfPage } from "./web-page.ts";

/** Milliseconds until the answer has begun, and within which each next piece of it must come. */
const SILENCE_MILLISECONDS = 60_000;

/** A GET below `/services/data/v…` whose answer is read as it arrives: a minute of silence breaks it off. */
export async function streamAnswer(
  { instanceUrl, apiVersion, accessToken }: SalesforceConnection,
  path: string,
  meter: CallMeter,
  signal: AbortSignal,
): Promise<Response> {
  const url = `${instanceUrl.replace(/\/+$/, "")}/services/data/v${apiVersion}${path}`;
  const headers = { authorization: `Bearer ${accessToken}`, accept: "text/csv" };
  const silence = new AbortController();
  const alarm = setTimeout(
    () => silence.abort(new DOMException("no answer in time", "TimeoutError")),
    SILENCE_MILLISECONDS,
  );
  const response = await guardedFetch(url, { headers, signal: AbortSignal.any([signal, silence.signal]) }).catch(
    (error: unknown) => {
      clearTimeout(alarm);
      throw lost(error);
    },
  );
  const refusal = isRead(response) ? null : refusalOfAnswer(url, response.status, await response.text());
  const label = labelOf(url);
  if (label !== null && (!refusal || wasCounted(refusal))) meter.count(label);
  if (refusal) {
    clearTimeout(alarm);
    throw refusal;
  }
  return new Response(response.body?.pipeThrough(attended(alarm)) ?? null, response);
}

/** Good, and no page for people by what it calls itself: of a good answer nothing is read ahead. */
const isRead = ({ ok, headers }: Response) => ok && !/^text\/html\b/i.test(headers.get("content-type") ?? "");

function refusalOfAnswer(url: string, status: number, body: string): SalesforceRefusal {
  return (status < 300 ? refusalOfPage(url, body) : null) ?? refusalIn(status, body);
}

/** Puts the alarm off with every piece that comes. */
function attended(alarm: NodeJS.Timeout): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(piece, onward) {
      alarm.refresh();
      onward.enqueue(piece);
    },
    flush: () => clearTimeout(alarm),
  });
}
