import type { SObject } from "../metadata/sobject.ts";
import { Refusal, unsupportedType } from "../refusal.ts";
import { deletedIds, updatedIds } from "../rest/replication.ts";
import type { Page } from "../soql/query.ts";
import type { SoapCall } from "./soap-call.ts";
import { recordXml, soapStyle } from "./soap-style.ts";
import { child, tag, textOf } from "./xml.ts";

/** `query(queryString)`. */
export const query = (call: SoapCall): string => first(call, false);

/** `queryAll(queryString)`: the recycle bin too. */
export const queryAll = (call: SoapCall): string => first(call, true);

function first(call: SoapCall, includeDeleted: boolean): string {
  const soql = textOf(child(call.input, "queryString"));
  return pageXml(call.parts.queries.first(soql, { includeDeleted, batchSize: batchSize(call), style: soapStyle }));
}

/** `queryMore(queryLocator)`. */
export function queryMore(call: SoapCall): string {
  const locator = textOf(child(call.input, "queryLocator")).trim();
  if (call.parts.faults.on("expiredLocator", { request: call.name }))
    throw new Refusal("INVALID_QUERY_LOCATOR", "invalid query locator");
  return pageXml(call.parts.queries.next(locator, { batchSize: batchSize(call), style: soapStyle }));
}

function pageXml({ totalSize, records, locator }: Page): string {
  const inner = records.map((record) => recordXml("records", record)).join("");
  return `<result xsi:type="QueryResult">${tag("done", locator === null)}${tag("queryLocator", locator)}${inner}${tag("size", totalSize)}</result>`;
}

/** 500 unless the QueryOptions header asks for something within 200 to 2,000. */
function batchSize(call: SoapCall): number {
  const small = call.parts.faults.on("smallBatches", { request: call.name });
  if (small) return small.size;
  const wanted = Number(textOf(child(child(call.header, "QueryOptions"), "batchSize")));
  return wanted > 0 ? Math.min(2000, Math.max(200, wanted)) : 500;
}

/** `getUpdated(sObjectType, startDate, endDate)`. */
export function getUpdated(call: SoapCall): string {
  const { ids, latestDateCovered } = updatedIds(call.parts, ...window(call));
  return `<result>${ids.map((id) => tag("ids", id)).join("")}${tag("latestDateCovered", latestDateCovered.toISOString())}</result>`;
}

/** `getDeleted(sObjectType, startDate, endDate)`. */
export function getDeleted(call: SoapCall): string {
  const { records, earliestDateAvailable, latestDateCovered } = deletedIds(call.parts, ...window(call));
  const list = records.map(
    ({ id, deletedDate }) => `<deletedRecords>${tag("deletedDate", deletedDate)}${tag("id", id)}</deletedRecords>`,
  );
  return `<result>${list.join("")}${tag("earliestDateAvailable", earliestDateAvailable.toISOString())}${tag("latestDateCovered", latestDateCovered.toISOString())}</result>`;
}

function window(call: SoapCall): [object: SObject, start: string, end: string] {
  const part = (name: string) => textOf(child(call.input, name)).trim();
  return [objectNamed(call, part("sObjectType")), part("startDate"), part("endDate")];
}

/** The object of this name, or the INVALID_TYPE fault. */
export function objectNamed(call: SoapCall, name: string): SObject {
  const object = call.parts.catalog.find(name);
  if (object) return object;
  throw unsupportedType(name);
}
