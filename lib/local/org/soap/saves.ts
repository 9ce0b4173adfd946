import { normalizeId } from "../ids.ts";
import type { Field } from "../metadata/field.ts";
import { inTransaction } from "../parts-before-bulk.ts";
import { Refusal } from "../refusal.ts";
import type { Draft } from "../saving/draft.ts";
import type { Outcome, RecordError } from "../saving/outcome.ts";
import type { SaveHeaders } from "../saving/save-headers.ts";
import type { Saving } from "../saving/saving.ts";
import { allOrNone, type SoapCall } from "./soap-call.ts";
import { draftOf } from "./soap-draft.ts";
import { child, children, tag, textOf } from "./xml.ts";

const MAX_RECORDS = 200;

/** `create(sObjects[])` (salesforce-facts 7). */
export function create(call: SoapCall): Promise<string> {
  const drafts = draftsOf(call);
  return saveRecords(call, drafts, (saving) => call.parts.dml.create(drafts, allOrNone(call), saving), null);
}

/** `update(sObjects[])`. */
export function update(call: SoapCall): Promise<string> {
  const drafts = draftsOf(call);
  return saveRecords(call, drafts, (saving) => call.parts.dml.update(drafts, allOrNone(call), saving), null);
}

/** `upsert(externalIDFieldName, sObjects[])`. */
export async function upsert(call: SoapCall): Promise<string> {
  const keyName = textOf(child(call.input, "externalIDFieldName")).trim();
  const drafts = draftsOf(call);
  const [first] = drafts;
  if (!first) return "";
  const key = first.object.field(keyName);
  if (!key?.idLookup)
    throw new Refusal(
      "INVALID_FIELD",
      `Field name provided, ${keyName} does not match an External ID, Salesforce Id, or indexed field for ${first.object.name}`,
    );
  return saveRecords(call, drafts, (saving) => call.parts.dml.upsert(drafts, key, allOrNone(call), saving), key);
}

function draftsOf(call: SoapCall): readonly Draft[] {
  const elements = children(call.input, "sObjects");
  refuseTooMany(elements.length);
  return elements.map((element) => draftOf(call.parts.catalog, element));
}

/** Saves the records of a call; `key` is that of an upsert. */
async function saveRecords(
  call: SoapCall,
  drafts: readonly Draft[],
  save: (saving: Saving) => readonly Outcome[],
  key: Field | null,
): Promise<string> {
  const [first] = drafts;
  const target = {
    session: call.session,
    ids: drafts.flatMap((draft) => draft.id ?? []),
    ...(key && { idsByKey: () => call.parts.dml.idsByKey(drafts, key) }),
    request: call.name,
    records: drafts.length,
    headers: headersOf(call),
    ...(first ? { object: first.object.name } : {}),
  };
  const outcomes = await inTransaction(call.parts, target, save);
  return outcomes.map((outcome) => resultXml(outcome, key !== null)).join("");
}

/** DuplicateRuleHeader and AssignmentRuleHeader; neither is there unless the client says so. */
function headersOf({ header }: SoapCall): SaveHeaders {
  const said = (name: string, part: string) => textOf(child(child(header, name), part)).trim();
  return {
    allowsDuplicates: said("DuplicateRuleHeader", "allowSave") === "true",
    assigns:
      said("AssignmentRuleHeader", "useDefaultRule") === "true" ||
      said("AssignmentRuleHeader", "assignmentRuleId") !== "",
  };
}

/** `delete(ids[])`. */
export function deleteIds(call: SoapCall): Promise<string> {
  return saveIds(call, (ids, saving) => call.parts.dml.delete(ids, allOrNone(call), saving));
}

/** `undelete(ids[])`. */
export function undelete(call: SoapCall): Promise<string> {
  return saveIds(call, (ids, saving) => call.parts.dml.undelete(ids, allOrNone(call), saving));
}

async function saveIds(
  call: SoapCall,
  save: (ids: readonly string[], saving: Saving) => readonly Outcome[],
): Promise<string> {
  const ids = children(call.input, "ids").map((id) => textOf(id).trim());
  refuseTooMany(ids.length);
  const known = ids.flatMap((id) => normalizeId(id) ?? []);
  const outcomes = await inTransaction(
    call.parts,
    { session: call.session, ids: known, request: call.name, records: ids.length },
    (saving) => save(ids, saving),
  );
  return outcomes.map((outcome) => resultXml(outcome, false)).join("");
}

function refuseTooMany(count: number): void {
  if (count > MAX_RECORDS)
    throw new Refusal(
      "EXCEEDED_ID_LIMIT",
      `record limit reached. cannot submit more than ${MAX_RECORDS} records into this call`,
    );
}

/** One result, its elements in the WSDL's order: created, errors, id, success. */
function resultXml({ id, success, created, errors }: Outcome, isUpsert: boolean): string {
  return `<result>${isUpsert ? tag("created", created) : ""}${errorsXml(errors)}${tag("id", id)}${tag("success", success)}</result>`;
}

/** The reasons of a refusal, as every result has them. */
export function errorsXml(errors: readonly RecordError[]): string {
  const one = ({ statusCode, message, fields }: RecordError) =>
    `<errors>${fields.map((field) => tag("fields", field)).join("")}${tag("message", message)}${tag("statusCode", statusCode)}</errors>`;
  return errors.map(one).join("");
}
