import { isNumeric } from "../metadata/field.ts";
import { traitsOf } from "../metadata/field-type.ts";
import { Refusal } from "../refusal.ts";
import { ok, param, type RestCall, type RestReply } from "../rest-call.ts";
import type { Output } from "../soql/plan.ts";
import type { Page } from "../soql/query.ts";
import { TOO_LARGE } from "../soql/soql-errors.ts";
import { restStyle } from "./rest-style.ts";

/** `GET /query?q=`: alive records only (salesforce-facts 2.4). */
export const query = (call: RestCall): RestReply => run(call, false);

/** `GET /queryAll?q=`: the recycle bin too. */
export const queryAll = (call: RestCall): RestReply => run(call, true);

function run(call: RestCall, includeDeleted: boolean): RestReply {
  const explained = call.query.get("explain");
  if (explained !== null) return explain(call, explained);
  const soql = call.query.get("q");
  if (soql === null) throw new Refusal("MALFORMED_QUERY", "A query string has to be specified");
  if (call.query.get("columns") === "true") return describeColumns(call, soql);
  const page = call.parts.queries.first(soql, {
    includeDeleted,
    batchSize: batchSize(call),
    style: restStyle(call.base),
  });
  refuseLarge(call, soql, page);
  return ok(pageBody(call, page));
}

/** Refuses a query that was ordered to be too much: one that finds too many records. */
function refuseLarge({ parts: { faults }, name }: RestCall, soql: string, { plan, totalSize }: Page): void {
  const occasion = { request: `${name} ${soql}`, object: plan.object.name };
  if (faults.on("queryTimeout", { ...occasion, size: totalSize }))
    throw new Refusal("QUERY_TIMEOUT", "Your query request was running for too long.");
  if (faults.on("largeOperation", { ...occasion, size: totalSize }))
    throw new Refusal("OPERATION_TOO_LARGE", TOO_LARGE);
}

/** `GET /query/{locator}`: the next page. */
export function queryMore(call: RestCall): RestReply {
  const locator = param(call, "locator");
  if (call.parts.faults.on("expiredLocator", { request: call.name }))
    throw new Refusal("INVALID_QUERY_LOCATOR", "invalid query locator");
  return ok(
    pageBody(call, call.parts.queries.next(locator, { batchSize: batchSize(call), style: restStyle(call.base) })),
  );
}

function pageBody(call: RestCall, { totalSize, records, locator }: Page) {
  if (locator === null) return { totalSize, done: true, records };
  return { totalSize, done: false, nextRecordsUrl: `${call.base}/query/${locator}`, records };
}

/** 2,000, or what the client asks for within 200 to 2,000. */
function batchSize(call: RestCall): number {
  const small = call.parts.faults.on("smallBatches", { request: call.name });
  if (small) return small.size;
  const wanted = /batchSize=(\d+)/.exec(String(call.headers["sforce-query-options"] ?? ""))?.[1];
  return wanted === undefined ? 2000 : Math.min(2000, Math.max(200, Number(wanted)));
}

function explain(call: RestCall, soql: string): RestReply {
  const { object } = call.parts.queries.plan(soql, false);
  const cardinality = Number(call.parts.database.first(`SELECT count(*) AS n FROM "${object.name}"`)?.["n"] ?? 0);
  const plan = {
    cardinality,
    fields: [],
    leadingOperationType: "TableScan",
    notes: [],
    relativeCost: 1,
    sobjectCardinality: cardinality,
    sobjectType: object.name,
  };
  return ok({ plans: [plan], sourceQuery: soql });
}

function describeColumns(call: RestCall, soql: string): RestReply {
  const plan = call.parts.queries.plan(soql, false);
  return ok({
    columnMetadata: plan.outputs.map(columnOf),
    entityName: plan.object.name,
    groupBy: plan.tail.includes("GROUP BY"),
    idSelected: plan.outputs.some((output) => output.name === "Id"),
    keyPrefix: plan.object.keyPrefix,
  });
}

function columnOf(output: Output): unknown {
  const field = output.kind === "value" ? output.field : null;
  return {
    aggregate: output.kind === "children",
    apexType: field ? traitsOf(field.type).apex : "complexvalue",
    booleanType: field?.type === "boolean",
    columnName: output.name,
    custom: field?.custom ?? false,
    displayName: output.name,
    foreignKeyName: output.kind === "parent" ? output.name : null,
    insertable: field?.createable ?? false,
    joinColumns:
      output.kind === "parent"
        ? output.outputs.map(columnOf)
        : output.kind === "children"
          ? output.plan.outputs.map(columnOf)
          : [],
    numberType: field ? isNumeric(field) : false,
    textType: field ? ["String", "Id"].includes(traitsOf(field.type).apex) : false,
    updatable: field?.updateable ?? false,
  };
}
