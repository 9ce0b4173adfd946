import { csvLines } from "../../../lib/adapters/salesforce/bulk/csv-lines.ts";
import { CallMeter } from "../../../lib/adapters/salesforce/call-meter.ts";
import { parseBounded, parseExactly } from "../../../lib/adapters/salesforce/exact-json.ts";
import { refusalIn } from "../../../lib/adapters/salesforce/refusal-in.ts";
import { jsonOrRefusal, refusalOfPage } from "../../../lib/adapters/salesforce/web-page.ts";
import { bulkError } from "../../../lib/model/change/bulk-error.ts";
import { missingParentIn } from "../../../lib/model/change/missing-parent.ts";
import { orgKindOf } from "../../../lib/model/change/refusal.ts";
import { cutText } from "../../../lib/model/cut-text.ts";
import { valueIn, valuesIn } from "../../../lib/model/record/csv-line.ts";
import { explainRefusal } from "../../../lib/settings/explain-refusal.ts";

const SOAP_URL = "https://an.org/services/Soap/u/68.0";

/** Letters of a piece of a file: the smallest that a network brings. */
const PIECE = 500;

/** Every function that reads a text of an org's, a whole one. What it throws is thrown to its caller. */
export const FOREIGN_READERS: Readonly<Record<string, (text: string) => unknown>> = {
  refusalOfPage: (text) => refusalOfPage(SOAP_URL, text),
  refusalIn: (text) => refusalIn(500, text),
  "jsonOrRefusal of digits": (text) => jsonOrRefusal(SOAP_URL, text, parseExactly),
  "jsonOrRefusal of a description": (text) => jsonOrRefusal(SOAP_URL, text, parseBounded),
  "CallMeter.hear": (text) => new CallMeter().hear(SOAP_URL, text, text),
  bulkError: (text) => bulkError(text),
  missingParentIn: (text) => missingParentIn([{ code: "INVALID_FIELD", message: text, fields: [] }]),
  orgKindOf: (text) => orgKindOf("REQUEST_LIMIT_EXCEEDED", text),
  explainRefusal: (text) => explainRefusal({ kind: "session", code: text, message: text, mayHaveRun: false }),
  cutText: (text) => cutText(text),
  valuesIn: (text) => valuesIn({ names: [], text }),
  valueIn: (text) => valueIn({ names: ["Id", "Name"], text }, "Name"),
  csvLines: (text) => linesOf(text),
};

/** The lines, drawn as far as they come without waiting: the pieces are all there. */
async function linesOf(text: string): Promise<number> {
  let lines = 0;
  for await (const piece of csvLines(piecesOf(text))) lines += piece.lines.length;
  return lines;
}

async function* piecesOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += PIECE) yield text.slice(at, at + PIECE);
}
