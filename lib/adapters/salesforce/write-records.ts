import { SoapApi } from "jsforce/lib/api/soap.js";
import type { Connection } from "jsforce/lib/connection.js";
import * as z from "zod/mini";
import { barredFromSoap, JWT_REMEDY } from "../../model/api-version.ts";
import type { Operation, OutgoingRecord, RecordResult } from "../../model/record.ts";
import { SalesforceRefusal } from "../../model/refusal.ts";
import type { Call } from "./connect-org.ts";
import { understand } from "./understand.ts";

/** Saves up to 200 records by SOAP, each on its own; results in their order. */
export async function write(
  call: Call,
  operation: Operation,
  object: string,
  records: readonly OutgoingRecord[],
  externalIdField: string | null,
): Promise<{ readonly answeredAt: Date; readonly results: readonly RecordResult[] }> {
  const { answer, at } = await call((connection) => invoke(connection, operation, object, records, externalIdField));
  const results = understand(z.array(result), answer, `${operation} by SOAP`).map(asResult);
  if (results.length !== records.length) {
    const message = `${operation} of ${records.length} ${object} records was answered with ${results.length} results`;
    throw new SalesforceRefusal({ kind: "transient", code: "BROKEN_ANSWER", message, mayHaveRun: true });
  }
  return { answeredAt: at, results };
}

async function invoke(
  connection: Connection,
  operation: Operation,
  object: string,
  records: readonly OutgoingRecord[],
  externalIdField: string | null,
): Promise<unknown> {
  const barred = barredFromSoap({ accessToken: connection.accessToken ?? null, apiVersion: connection.version });
  if (barred !== null) {
    // jsforce would throw an error that is no refusal, and all that is saved would be in doubt.
    const message = `${barred}: ${JWT_REMEDY}`;
    throw new SalesforceRefusal({ kind: "session", code: "JWT_REFUSED", message, mayHaveRun: false });
  }
  const soap = new SoapApi(connection);
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
