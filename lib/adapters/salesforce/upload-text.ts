import { SalesforceRefusal } from "../../model/refusal.ts";
import type { SalesforceConnection } from "../../model/workspace.ts";
import { type CallMeter, labelOf, wasCounted } from "./call-meter.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { lost } from "./lost-request.ts";
import { refusalIn } from "./refusal-in.ts";
import { refusalOfPage } from "./web-page.ts";

/** An upload that is not through by then is given up. */
const UPLOAD_MILLISECONDS = 110_000;

const PIECE_CHARACTERS = 65_536;

/** A PUT of CSV below `/services/data/v…`, sent while its lines are made, so that it is never whole in memory. */
export async function uploadText(
  { instanceUrl, apiVersion, accessToken }: SalesforceConnection,
  path: string,
  lines: Iterable<string>,
  meter: CallMeter,
  signal: AbortSignal,
): Promise<void> {
  const url = `${instanceUrl.replace(/\/+$/, "")}/services/data/v${apiVersion}${path}`;
  const headers = { authorization: `Bearer ${accessToken}`, "content-type": "text/csv; charset=UTF-8" };
  const deadline = AbortSignal.any([AbortSignal.timeout(UPLOAD_MILLISECONDS), signal]);
  const body = ReadableStream.from(piecesOf(lines));
  const refusal = await guardedFetch(url, { method: "PUT", headers, body, duplex: "half", signal: deadline }).then(
    (response) => refusalOfAnswer(url, response),
    lost,
  );
  const label = labelOf(url);
  if (label !== null && (!refusal || wasCounted(refusal))) meter.count(label);
  if (refusal) throw refusal;
}

async function refusalOfAnswer(url: string, response: Response): Promise<SalesforceRefusal | null> {
  const body = await response.text().catch((error: unknown) => lost(error));
  if (body instanceof SalesforceRefusal) return body;
  return response.ok ? refusalOfPage(url, body) : refusalIn(response.status, body);
}

/** Lines by the packet instead of each in a write of its own. */
function* piecesOf(lines: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  let piece = "";
  for (const line of lines) {
    piece += line;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield encoder.encode(piece);
    piece = "";
  }
  if (piece !== "") yield encoder.encode(piece);
}
