import { normalizeId } from "../ids.ts";
import { describe, describeBriefly } from "../metadata/describe.ts";
import type { Field } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import { inTransaction } from "../parts-before-bulk.ts";
import { notFound, Refusal } from "../refusal.ts";
import { jsonObject, noContent, ok, param, type RestCall, type RestReply } from "../rest-call.ts";
import { fromText } from "../saving/convert.ts";
import type { Draft } from "../saving/draft.ts";
import { restHeaders } from "../saving/save-headers.ts";
import type { Row } from "../store/database.ts";
import { metadataChangedAt } from "../store/schema.ts";
import { draftOf, objectAt } from "./rest-draft.ts";
import { restStyle } from "./rest-style.ts";

/** `GET /sobjects`: describeGlobal (salesforce-facts 2.2). */
export function describeGlobal(call: RestCall): RestReply {
  const sobjects = call.parts.catalog.objects.map((object) => describeBriefly(object, call.version));
  return unlessKnown(call, { encoding: "UTF-8", maxBatchSize: 200, sobjects });
}

/** `GET /sobjects/X/describe` (salesforce-facts 2.3). */
export function describeObject(call: RestCall): RestReply {
  const object = objectAt(call.parts.catalog, param(call, "object"));
  return unlessKnown(call, describe(call.parts.catalog, object, call.version));
}

/** Metadata, or 304 for those who have asked since it last changed. */
function unlessKnown(call: RestCall, answer: unknown): RestReply {
  const changedAt = metadataChangedAt(call.parts.database);
  const since = Date.parse(String(call.headers["if-modified-since"]));
  const headers = { "Last-Modified": changedAt.toUTCString() };
  // HTTP dates have whole seconds.
  return since >= Math.floor(changedAt.getTime() / 1000) * 1000
    ? { status: 304, json: undefined, headers }
    : { ...ok(answer), headers };
}

/** `POST /sobjects/X` (salesforce-facts 2.5). */
export async function createRecord(call: RestCall): Promise<RestReply> {
  const { parts } = call;
  const object = objectAt(parts.catalog, param(call, "object"));
  const draft = draftOf(parts.catalog, object, jsonObject(call), null);
  const id = await saveOne(call, object, [], (saving) => parts.dml.saver.create(draft, saving));
  return {
    status: 201,
    json: { id, success: true, errors: [] },
    headers: { Location: `${call.base}/sobjects/${object.name}/${id}` },
  };
}

/** `GET /sobjects/X/id?fields=a,b`. */
export function readRecord(call: RestCall): RestReply {
  const object = objectAt(call.parts.catalog, param(call, "object"));
  return ok(recordAnswer(call, object, existingId(call, object)));
}

/** `POST /sobjects/User/id/password`. */
export function setPassword(call: RestCall): RestReply {
  const { parts } = call;
  const user = parts.catalog.get("User");
  const id = existingId(call, user);
  const { NewPassword: password } = jsonObject(call);
  if (typeof password !== "string" || password === "") {
    throw new Refusal("REQUIRED_FIELD_MISSING", "Required fields are missing: [NewPassword]");
  }
  parts.sessions.setPassword(id, String(parts.records.find(user, id)?.["Username"]), password);
  return noContent;
}

/** `PATCH /sobjects/X/id`. */
export async function updateRecord(call: RestCall): Promise<RestReply> {
  const { parts } = call;
  const object = objectAt(parts.catalog, param(call, "object"));
  const id = existingId(call, object);
  const draft = draftOf(parts.catalog, object, jsonObject(call), id);
  await saveOne(call, object, [id], (saving) => parts.dml.saver.update(draft, saving));
  return noContent;
}

/** `DELETE /sobjects/X/id`. */
export async function deleteRecord(call: RestCall): Promise<RestReply> {
  const object = objectAt(call.parts.catalog, param(call, "object"));
  const id = existingId(call, object);
  await saveOne(call, object, [id], (saving) => call.parts.dml.remover.remove(id, saving));
  return noContent;
}

/** `GET /sobjects/X/Ext__c/value`. */
export function readByKey(call: RestCall): RestReply {
  const { object, key } = keyOf(call);
  const rows = call.parts.records.findBy(object, key.name, fromText(key, param(call, "value")), 200);
  const [row] = rows;
  if (!row) throw notFound();
  return rows.length > 1 ? choices(call, object, rows) : ok(recordAnswer(call, object, String(row["Id"])));
}

/** `DELETE /sobjects/X/Ext__c/value`. */
export async function deleteByKey(call: RestCall): Promise<RestReply> {
  const { object, key } = keyOf(call);
  const rows = call.parts.records.findBy(object, key.name, fromText(key, param(call, "value")), 200);
  const [row] = rows;
  if (!row) throw notFound();
  if (rows.length > 1) return choices(call, object, rows);
  await saveOne(call, object, [String(row["Id"])], (saving) =>
    call.parts.dml.remover.remove(String(row["Id"]), saving),
  );
  return noContent;
}

/** `PATCH /sobjects/X/Ext__c/value`: 201 created, 200 updated (204 up to v45), 300 when several match. */
export async function upsertRecord(call: RestCall): Promise<RestReply> {
  const { parts } = call;
  const { object, key } = keyOf(call);
  const value = fromText(key, param(call, "value"));
  const body = jsonObject(call);
  if (key.type !== "id" && Object.keys(body).some((name) => name.toLowerCase() === key.name.toLowerCase())) {
    throw new Refusal("INVALID_FIELD", `The ${key.name} field should not be specified in the sobject data.`, {
      fields: [key.name],
    });
  }
  const plain = draftOf(parts.catalog, object, body, key.type === "id" ? String(value) : null);
  const draft: Draft = key.type === "id" ? plain : { ...plain, values: new Map([...plain.values, [key, value]]) };
  const rows = key.type === "id" ? [] : parts.records.findBy(object, key.name, value, 200);
  if (rows.length > 1) return choices(call, object, rows);
  const ids = rows.map((row) => String(row["Id"]));
  const { id, created } = await saveOne(call, object, ids, (saving) => parts.dml.saver.upsert(draft, key, saving));
  if (!created && Number(call.version) < 46) return noContent;
  return { status: created ? 201 : 200, json: { id, success: true, errors: [], created } };
}

function keyOf(call: RestCall): { object: SObject; key: Field } {
  const object = objectAt(call.parts.catalog, param(call, "object"));
  const name = param(call, "key");
  const key = object.field(name);
  if (!key?.idLookup) throw notFound(`Provided external ID field does not exist or is not accessible: ${name}`);
  return { object, key };
}

/** 300: the paths of all records that hold the key. */
function choices(call: RestCall, object: SObject, rows: readonly Row[]): RestReply {
  return { status: 300, json: rows.map((row) => `${call.base}/sobjects/${object.name}/${String(row["Id"])}`) };
}

function recordAnswer(call: RestCall, object: SObject, id: string): unknown {
  const wanted = call.query.get("fields");
  const fields = wanted === null ? object.fields.map((field) => field.name).join(", ") : wanted;
  const soql = `SELECT ${fields} FROM ${object.name} WHERE Id = '${id}'`;
  const { records } = call.parts.queries.first(soql, {
    includeDeleted: true,
    batchSize: 2000,
    style: restStyle(call.base),
  });
  const [record] = records;
  if (wanted === null || record === undefined || "Id" in record) return record;
  return { ...record, Id: id };
}

/** The path's id in its long form; 404 for unknown ones and for deleted records. */
function existingId(call: RestCall, object: SObject): string {
  const id = normalizeId(param(call, "id"));
  const row = id?.startsWith(object.keyPrefix) ? call.parts.records.find(object, id) : undefined;
  if (id === null || !row) throw notFound();
  if (row["IsDeleted"] === 1) throw new Refusal("ENTITY_IS_DELETED", "entity is deleted", { status: 404 });
  return id;
}

function saveOne<T>(
  call: RestCall,
  object: SObject,
  ids: readonly string[],
  work: Parameters<typeof inTransaction<T>>[2],
): Promise<T> {
  return inTransaction(
    call.parts,
    { session: call.session, ids, request: call.name, object: object.name, headers: restHeaders(call.headers) },
    work,
  );
}
