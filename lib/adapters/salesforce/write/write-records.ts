import { PassThrough } from "node:stream";
import { SoapApi } from "jsforce/lib/api/soap.js";
import { Connection } from "jsforce/lib/connection.js";
import { StreamPromise } from "jsforce/lib/util/promise.js";
import * as z from "zod/mini";
import { barredFromSoap, JWT_REMEDY } from "../../../model/api-version.ts";
import { SalesforceRefusal } from "../../../model/change/refusal.ts";
import type { Operation, OutgoingRecord, RecordResult } from "../../../model/record/record.ts";
import type { SalesforceConnection } from "../../../model/workspace/workspace.ts";
import { ANSWER_BYTES } from "../answer-bytes.ts";
import type { CallMeter } from "../call-meter.ts";
import { type Client, underSession } from "../client.ts";
import { asTextOf, exchange } from "../exchange.ts";
import { understand } from "../understand.ts";

/** Milliseconds until a save is given up. Salesforce itself ends a save's transaction after ten minutes. */
const SAVE_MILLISECONDS = 110_000;

/** Saves up to 200 records by SOAP, each on its own; results in their order. */
export async function write(
  { sessions, meter }: Client,
  operation: Operation,
  object: string,
  records: readonly OutgoingRecord[],
  externalIdField: string | null,
): Promise<{ readonly answeredAt: Date; readonly results: readonly RecordResult[] }> {
  const { answer, at } = await underSession(sessions, async (session) => {
    refuseBarred(session);
    const { soap, answered } = soapUnder(session, meter);
    return { answer: await invoke(soap, operation, object, records, externalIdField), at: answered.at };
  });
  const results = understand(z.array(result), answer, `${operation} by SOAP`).map(asResult);
  if (results.length !== records.length) {
    const message = `${operation} of ${records.length} ${object} records was answered with ${results.length} results`;
    throw new SalesforceRefusal({ kind: "transient", code: "BROKEN_ANSWER", message, mayHaveRun: true });
  }
  return { answeredAt: at, results };
}

/** Results of 200 records with twenty errors each have fewer tags; a million would take jsforce some seconds. */
const MOST_TAGS = 50_000;

/** jsforce would throw an error that is no refusal, and all that is saved would be in doubt. */
function refuseBarred(session: SalesforceConnection): void {
  const barred = barredFromSoap(session);
  if (barred === null) return;
  const message = `${barred}: ${JWT_REMEDY}`;
  throw new SalesforceRefusal({ kind: "session", code: "JWT_REFUSED", message, mayHaveRun: false });
}

/** jsforce's client of SOAP over the one exchange, and when that was answered by the org's time. */
function soapUnder({ instanceUrl, apiVersion, accessToken }: SalesforceConnection, meter: CallMeter) {
  const callOptions = { client: "bridge" };
  const connection = new Connection({ instanceUrl, version: apiVersion, accessToken: accessToken ?? "", callOptions });
  const answered = { at: new Date(Number.NaN) };
  const post = async (url: string, envelope: string) => {
    const { answer, at, headers } = await exchange(
      { url, meter },
      {
        method: "POST",
        path: "",
        headers: { "content-type": "text/xml", soapaction: '""' },
        body: envelope.replaceAll("\r", "&#13;"), // an XML parser reads a bare carriage return as a line feed
        deadline: SAVE_MILLISECONDS, // and no signal: a save that we break off is in doubt
        reads: asTextOf(ANSWER_BYTES.saved + 2 * Buffer.byteLength(envelope)),
      },
    );
    if (answer.split("<", MOST_TAGS + 1).length > MOST_TAGS) {
      const message = `a save was answered with more than ${MOST_TAGS} tags`;
      throw new SalesforceRefusal({ kind: "transient", code: "BROKEN_ANSWER", message, mayHaveRun: true });
    }
    answered.at = at;
    meter.hear(url, null, answer);
    return { statusCode: 200, headers: Object.fromEntries(headers), body: answer };
  };
  // Its own transport never settles after a reset in mid answer. Private, so the version of jsforce is pinned and a test
  // breaks when it moves.
  connection._transport.httpRequest = ({ url, body }) =>
    StreamPromise.create(() => ({ stream: new PassThrough(), promise: post(url, String(body)) }));
  return { soap: new SoapApi(connection), answered };
}

async function invoke(
  soap: InstanceType<typeof SoapApi>,
  operation: Operation,
  object: string,
  records: readonly OutgoingRecord[],
  externalIdField: string | null,
): Promise<unknown> {
  const ids = () => records.map(({ id }) => id ?? "");
  const rows = () => records.map((record) => soapRecord(object, record));
  switch (operation) {
    case "create":
      return soap.create(rows());
    case "update":
      return soap.update(rows());
    case "upsert":
      if (externalIdField === null) throw new Error(`an upsert of ${object} needs an external id field`);
      return soap.upsert(externalIdField, rows());
    case "delete":
      return soap.delete(ids());
    case "undelete":
      return soap.undelete(ids());
  }
}

/** The WSDL's order: type, fieldsToNull (jsforce makes it of the nulls), Id, then the fields; a parent is a record in it. */
function soapRecord(object: string, { id, values, parents = [] }: OutgoingRecord): SoapRecord {
  const nested = parents.map(({ relationship, object: type, field, value }) => [
    relationship,
    { type, [field]: value },
  ]);
  return { type: object, ...(id !== null && { Id: id }), ...values, ...Object.fromEntries(nested) };
}

type SoapRecord = { readonly type: string } & Readonly<
  Record<string, string | null | Readonly<Record<string, string>>>
>;

const text = z.union([z.string(), z.null()]);

const error = z.object({
  statusCode: z.string(),
  message: z.string(),
  fields: z.optional(z.union([z.null(), z.string(), z.array(z.string())])),
});

const result = z.object({
  id: z.optional(text),
  success: z.boolean(),
  created: z.optional(z.nullable(z.boolean())),
  errors: z.optional(z.nullable(z.array(error))),
});

function asResult({ id, success, created, errors }: z.infer<typeof result>): RecordResult {
  return {
    id: id || null,
    success,
    created: created ?? false,
    errors: (errors ?? []).map(({ statusCode, message, fields }) => ({
      code: statusCode,
      message,
      fields: typeof fields === "string" ? [fields] : (fields ?? []),
    })),
  };
}
