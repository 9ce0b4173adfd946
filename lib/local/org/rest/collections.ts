import { normalizeId } from "../ids.ts";
import type { Field } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import { inTransaction } from "../parts-before-bulk.ts";
import { notFound, Refusal } from "../refusal.ts";
import { jsonObject, objectsIn, ok, param, type RestCall, type RestReply } from "../rest-call.ts";
import type { Draft } from "../saving/draft.ts";
import type { Outcome } from "../saving/outcome.ts";
import { restHeaders } from "../saving/save-headers.ts";
import type { Saving } from "../saving/saving.ts";
import { textOf } from "../text-of.ts";
import { draftOf, objectAt } from "./rest-draft.ts";
import { restStyle } from "./rest-style.ts";

const MAX_RECORDS = 200;
const MAX_CHUNKS = 10;

/** `POST /composite/sobjects` (salesforce-facts 3.1). */
export function createAll(call: RestCall): Promise<RestReply> {
  return saveRecords(call, null, (drafts, allOrNone, saving) => call.parts.dml.create(drafts, allOrNone, saving), null);
}

/** `PATCH /composite/sobjects`: each record carries its `id`. */
export function updateAll(call: RestCall): Promise<RestReply> {
  return saveRecords(
    call,
    "inBody",
    (drafts, allOrNone, saving) => call.parts.dml.update(drafts, allOrNone, saving),
    null,
  );
}

/** `PATCH /composite/sobjects/X/Ext__c`: each record carries the key. */
export function upsertAll(call: RestCall): Promise<RestReply> {
  const object = objectAt(call.parts.catalog, param(call, "object"));
  const key = upsertKey(object, param(call, "key"));
  return saveRecords(
    call,
    key.type === "id" ? "inBody" : null,
    (drafts, allOrNone, saving) => call.parts.dml.upsert(drafts, key, allOrNone, saving),
    key,
  );
}

/** `DELETE /composite/sobjects?ids=a,b&allOrNone=false`. */
export async function deleteAll(call: RestCall): Promise<RestReply> {
  const ids = (call.query.get("ids") ?? "").split(",").filter((id) => id !== "");
  refuseTooMany(ids.length);
  refuseManyChunks(ids.map((id) => id.slice(0, 3)));
  const allOrNone = call.query.get("allOrNone") === "true";
  const work = (saving: Saving) => call.parts.dml.delete(ids, allOrNone, saving);
  const outcomes = await inTransaction(
    call.parts,
    {
      session: call.session,
      ids: ids.flatMap((id) => normalizeId(id) ?? []),
      request: call.name,
      records: ids.length,
    },
    work,
  );
  return ok(outcomes.map((outcome) => answerOf(outcome, false)));
}

/** `POST /composite/sobjects/X {ids, fields}` or `GET …?ids=&fields=`: records in the order asked for, null where there is none. */
export function readAll(call: RestCall): RestReply {
  const object = objectAt(call.parts.catalog, param(call, "object"));
  const { ids, fields } = call.method === "GET" ? askedInQuery(call) : askedInBody(call);
  if (ids.length > 2000)
    throw new Refusal("EXCEEDED_ID_LIMIT", "The number of ids specified exceeds the limit of 2000");
  const known = ids.flatMap((id) => normalizeId(id) ?? []);
  if (known.length === 0) return ok(ids.map(() => null));
  const names = [...new Set(["Id", ...fields])].join(", ");
  const soql = `SELECT ${names} FROM ${object.name} WHERE Id IN (${known.map((id) => `'${id}'`).join(", ")})`;
  const { records } = call.parts.queries.first(soql, {
    includeDeleted: false,
    batchSize: 2000,
    style: restStyle(call.base),
  });
  const byId = new Map(records.map((record) => [String(record["Id"]), record]));
  return ok(ids.map((id) => byId.get(normalizeId(id) ?? "") ?? null));
}

function askedInQuery({ query }: RestCall) {
  const list = (name: string) => (query.get(name) ?? "").split(",").filter((part) => part !== "");
  return { ids: list("ids"), fields: list("fields") };
}

function askedInBody(call: RestCall) {
  const body = jsonObject(call);
  return { ids: textsOf(body["ids"]), fields: textsOf(body["fields"]) };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

type Save = (drafts: readonly Draft[], allOrNone: boolean, saving: Saving) => readonly Outcome[];

/** Saves the body's records; `key` is that of an upsert. */
async function saveRecords(call: RestCall, id: "inBody" | null, save: Save, key: Field | null): Promise<RestReply> {
  const body = jsonObject(call);
  const records = objectsIn(body["records"]);
  refuseTooMany(records.length);
  const drafts = records.map((record) => readable(draftOf(call.parts.catalog, objectOf(call, record), record, id)));
  refuseManyChunks(drafts.map(({ object }) => object.name));
  const ids = drafts.flatMap((draft) => draft.id ?? []);
  const target = {
    session: call.session,
    ids,
    ...(key && { idsByKey: () => call.parts.dml.idsByKey(drafts, key) }),
    request: call.name,
    headers: restHeaders(call.headers),
    records: drafts.length,
    ...(drafts[0] ? { object: drafts[0].object.name } : {}),
  };
  const outcomes = await inTransaction(call.parts, target, (saving) =>
    save(drafts, body["allOrNone"] === true, saving),
  );
  return ok(outcomes.map((outcome) => answerOf(outcome, key !== null)));
}

/** JSON that cannot be read as the object's fields refuses the whole request; any other fault of a record is its own. */
function readable(draft: Draft): Draft {
  if (draft.refusal?.code === "JSON_PARSER_ERROR") throw draft.refusal;
  return draft;
}

function objectOf(call: RestCall, record: Record<string, unknown>): SObject {
  const attributes = record["attributes"];
  const type =
    typeof attributes === "object" && attributes !== null && "type" in attributes
      ? textOf(attributes.type)
      : call.params["object"];
  const object = type === undefined ? undefined : call.parts.catalog.find(type);
  if (!object) throw new Refusal("INVALID_TYPE", `sObject type '${type ?? ""}' is not supported.`);
  return object;
}

/** The field to upsert by, or 404 with its name. */
function upsertKey(object: SObject, name: string): Field {
  const key = object.field(name);
  if (key?.idLookup) return key;
  throw notFound(`Provided external ID field does not exist or is not accessible: ${name}`);
}

function refuseTooMany(count: number): void {
  if (count > MAX_RECORDS)
    throw new Refusal("EXCEEDED_ID_LIMIT", `The number of records specified exceeds the limit of ${MAX_RECORDS}`);
}

/** Neighbours of one object are saved together; a request has at most ten such chunks. */
function refuseManyChunks(objects: readonly string[]): void {
  const chunks = objects.filter((object, index) => object !== objects[index - 1]).length;
  if (chunks <= MAX_CHUNKS) return;
  const remedy = "Please rearrange the data to reduce chunking.";
  throw new Refusal("LIMIT_EXCEEDED", `Cannot have more than ${MAX_CHUNKS} chunks in a single operation. ${remedy}`);
}

/** One record's result; `id` only where there is one, `created` for upserts only. */
function answerOf({ id, success, created, errors }: Outcome, isUpsert: boolean) {
  return { ...(id === null ? {} : { id }), success, errors, ...(isUpsert ? { created } : {}) };
}
