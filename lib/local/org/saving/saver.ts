import { evaluate } from "../formula/evaluate.ts";
import type { Catalog } from "../metadata/catalog.ts";
import { type Field, isStored } from "../metadata/field.ts";
import type { Automation, SObject } from "../metadata/sobject.ts";
import { Refusal } from "../refusal.ts";
import type { Database, Row, Stored } from "../store/database.ts";
import type { Records } from "../store/records.ts";
import { nextNumber } from "../store/settings.ts";
import { applyStandardBehaviour } from "./behaviour.ts";
import { check, checkDuplicates, checkRules, formulaOf } from "./check.ts";
import { fromJson } from "./convert.ts";
import type { Draft } from "./draft.ts";
import { hasRollups, refreshRollups } from "./rollup.ts";
import { laterStamp, type Saving } from "./saving.ts";
import { rowScope } from "./scope.ts";

interface Needs {
  readonly database: Database;
  readonly records: Records;
  readonly catalog: Catalog;
  readonly saved: (object: string, id: string) => void;
}

/** Creates and updates single records by all rules of their object. Every method throws a Refusal, or has written all. */
export class Saver {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The new record's id. */
  create(draft: Draft, saving: Saving): string {
    const object = this.#whole(draft);
    if (draft.refusal) throw draft.refusal;
    if (draft.id !== null)
      throw new Refusal("INVALID_FIELD_FOR_INSERT_UPDATE", "cannot specify Id in an insert call", { fields: ["Id"] });
    if (!object.createable)
      throw new Refusal("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", `entity type cannot be inserted: ${object.label}`);
    saving.beforeRecord(object, null, () => textsOf(draft));
    refuseForbidden(draft, (field) => field.createable);
    const row = this.#newRow(object, saving);
    this.#fill(row, draft);
    this.#assign(object, row, saving);
    this.#settle(object, row, null, object.fields, saving);
    this.#number(object, row);
    this.#needs.records.insert(object, row);
    this.#follow(object, row, null, saving);
    return String(row["Id"]);
  }

  /** Updates the record with the draft's id; only what differs is written, the stamp always. */
  update(draft: Draft, saving: Saving): void {
    const object = this.#whole(draft);
    const { id } = draft;
    if (draft.refusal) throw draft.refusal;
    if (id === null) throw new Refusal("MISSING_ARGUMENT", "Id not specified in an update call");
    if (!object.updateable)
      throw new Refusal("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", `entity type cannot be updated: ${object.label}`);
    const prior = this.alive(object, id);
    this.lock(object, id, saving, () => textsOf(draft));
    refuseForbidden(draft, (field) => field.updateable);
    const row = { ...prior };
    this.#fill(row, draft);
    this.write(object, row, prior, saving);
  }

  /** True if it created a record, false if it updated the one that holds the key. */
  upsert(draft: Draft, key: Field, saving: Saving): { id: string; created: boolean } {
    const found = this.match(draft, key);
    if (found === null) return { id: this.create(withoutId(draft), saving), created: true };
    this.update({ ...draft, id: found }, saving);
    return { id: found, created: false };
  }

  /** The id of the one record that an upsert would update, null for none. */
  match(draft: Draft, key: Field): string | null {
    if (draft.refusal) throw draft.refusal;
    if (key.type === "id") return draft.id;
    const value = draft.values.get(key) ?? null;
    if (value === null) {
      throw new Refusal("MISSING_ARGUMENT", `${key.name} not specified`);
    }
    const [found, another] = this.#needs.records.idsBy(draft.object, key.name, value);
    if (another !== undefined) {
      const message = `${key.name}: more than one record found for external id field: [${found}, ${another}]`;
      throw new Refusal("DUPLICATE_EXTERNAL_ID", message, { fields: [key.name] });
    }
    return found ?? null;
  }

  /** The record's row, or the refusal that fits a deleted or an unknown one. */
  alive(object: SObject, id: string): Row {
    const row = this.#needs.records.find(object, id);
    if (!row) throw new Refusal("INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id");
    if (row["IsDeleted"] === 1) throw new Refusal("ENTITY_IS_DELETED", "entity is deleted");
    return row;
  }

  /** Refuses a record that another open transaction is holding. */
  lock(object: SObject, id: string, saving: Saving, values: () => readonly string[] = () => []): void {
    saving.beforeRecord(object, id, values);
    if (!saving.lockedIds.has(id)) return;
    throw new Refusal("UNABLE_TO_LOCK_ROW", `unable to obtain exclusive access to this record or 1 records: ${id}`);
  }

  /** Saves a changed row by all rules and lets the org's own automation follow. */
  write(object: SObject, row: Row, prior: Row, saving: Saving): void {
    const differing = object.fields.filter((field) => isStored(field) && row[field.name] !== prior[field.name]);
    this.#settle(object, row, prior, differing, saving);
    const changes: Row = {
      LastModifiedDate: saving.stamp,
      LastModifiedById: saving.userId,
      SystemModstamp: laterStamp(saving, prior),
    };
    for (const field of object.fields) {
      if (isStored(field) && row[field.name] !== prior[field.name]) changes[field.name] ??= row[field.name] ?? null;
    }
    this.#needs.records.update(object, String(row["Id"]), changes);
    this.#follow(object, { ...row, ...changes }, prior, saving);
  }

  #newRow(object: SObject, saving: Saving): Row {
    const row: Row = {
      Id: this.#needs.records.newId(object),
      CreatedDate: saving.stamp,
      CreatedById: saving.userId,
      LastModifiedDate: saving.stamp,
      LastModifiedById: saving.userId,
      SystemModstamp: saving.stamp,
    };
    for (const field of object.fields) if (isStored(field)) row[field.name] ??= defaultOf(field);
    if (object.field("OwnerId")) row["OwnerId"] = saving.userId;
    const recordType = object.recordTypes.find((type) => type.isDefault && !type.isMaster);
    if (recordType) row["RecordTypeId"] = recordType.id;
    return row;
  }

  /** The object with all its fields, also those that the user may not see. */
  #whole({ object }: Draft): SObject {
    return this.#needs.catalog.get(object.name);
  }

  /** Gives a new record to whom the assignment rules say, where the call asks for them. */
  #assign(object: SObject, row: Row, saving: Saving): void {
    if (!saving.headers.assigns) return;
    const scope = rowScope(this.#needs, object, row, null, saving.startedAt);
    const rule = object.assignmentRules.find(
      ({ condition }) => condition === null || evaluate(formulaOf(condition), scope) === true,
    );
    if (!rule) return;
    const [owner] = this.#needs.records.findBy(this.#needs.catalog.get("User"), "Username", rule.owner);
    if (!owner) throw new Error(`the assignment rules of ${object.name} name ${rule.owner}, who is no user`);
    row["OwnerId"] = owner["Id"] ?? null;
  }

  #fill(row: Row, draft: Draft): void {
    for (const [field, value] of draft.values) if (field.type !== "id") row[field.name] = value;
    for (const { field, parent, key, value } of draft.links) {
      const [found, another] =
        key.type === "id"
          ? [this.#needs.records.find(parent, String(value))]
          : this.#needs.records.findBy(parent, key.name, value);
      if (!found || another) {
        const message = `Foreign key external ID: ${String(value)} not found for field ${key.name} in entity ${parent.name}`;
        throw new Refusal("INVALID_FIELD", message, { fields: [] });
      }
      row[field.name] = found["Id"] ?? null;
    }
  }

  /** Standard behaviour, automation before the save, and every check. */
  #settle(object: SObject, row: Row, prior: Row | null, changed: readonly Field[], saving: Saving): void {
    applyStandardBehaviour(object, row, prior, saving.stamp);
    this.#automate(object, "before", row, prior, saving);
    check(this.#needs.catalog, this.#needs.records, object, row, changed);
    checkDuplicates(this.#needs.records, object, row, changed, saving.headers.allowsDuplicates);
    if (object.validationRules.length > 0)
      checkRules(object, rowScope(this.#needs, object, row, prior, saving.startedAt));
  }

  #number(object: SObject, row: Row): void {
    for (const field of object.fields) {
      if (field.autoNumberFormat === null) continue;
      row[field.name] = numbered(
        field.autoNumberFormat,
        nextNumber(this.#needs.database, `${object.name}.${field.name}`),
        String(row["CreatedDate"]),
      );
    }
  }

  /** Roll-ups of the parents, then automation that saves the record again. */
  #follow(object: SObject, row: Row, prior: Row | null, saving: Saving): void {
    this.#needs.saved(object.name, String(row["Id"]));
    if (hasRollups(this.#needs.catalog, object))
      refreshRollups(this.#needs, object, prior ? [row, prior] : [row], saving.stamp);
    if (!object.automations.some((automation) => automation.when === "after")) return;
    const again = { ...row };
    if (!this.#automate(object, "after", again, prior, saving)) return;
    const { SystemModstamp: _, ...changes } = Object.fromEntries(
      Object.entries(again).filter(([name, value]) => row[name] !== value),
    );
    if (Object.keys(changes).length > 0) this.#needs.records.update(object, String(row["Id"]), changes);
  }

  #automate(object: SObject, when: Automation["when"], row: Row, prior: Row | null, saving: Saving): boolean {
    const due = object.automations.filter(
      (automation) => automation.when === when && automation.on.includes(prior ? "update" : "create"),
    );
    for (const automation of due) {
      const scope = rowScope(this.#needs, object, row, prior, saving.startedAt);
      if (automation.condition !== null && evaluate(formulaOf(automation.condition), scope) !== true) continue;
      for (const [name, formula] of Object.entries(automation.set)) {
        const field = object.field(name);
        if (!field) throw new Error(`automation ${automation.name} sets ${object.name}.${name}, which is not there`);
        row[field.name] = fromJson(field, evaluate(formulaOf(formula), scope));
      }
    }
    return due.length > 0;
  }
}

function defaultOf(field: Field): Stored {
  if (field.type === "boolean") return field.defaultValue ? 1 : 0;
  const chosen = field.picklist.find((entry) => entry.isDefault);
  if (chosen) return chosen.value;
  return field.defaultValue === null ? null : fromJson(field, field.defaultValue);
}

/** `INV-{0000}` and 7 give `INV-0007`; `{YYYY}`, `{MM}` and `{DD}` are the day's. */
function numbered(format: string, serial: number, day: string): string {
  return format
    .replace("{YYYY}", day.slice(0, 4))
    .replace("{MM}", day.slice(5, 7))
    .replace("{DD}", day.slice(8, 10))
    .replace(/\{(0+)\}/, (_, zeros: string) => String(serial).padStart(zeros.length, "0"));
}

function refuseForbidden(draft: Draft, isAllowed: (field: Field) => boolean): void {
  const names: string[] = [];
  for (const field of draft.values.keys()) if (!isAllowed(field) && field.type !== "id") names.push(field.name);
  for (const { field } of draft.links) if (!isAllowed(field)) names.push(field.name);
  if (names.length === 0) return;
  const message = `Unable to create/update fields: ${names.join(", ")}. Please check the security settings of this field and verify that it is read/write for your profile or permission set.`;
  throw new Refusal("INVALID_FIELD_FOR_INSERT_UPDATE", message, { fields: names });
}

/** The draft's values as text, by which a fault may have been ordered. */
export function textsOf(draft: Draft): string[] {
  return [...draft.values.values()].flatMap((value) => (typeof value === "string" ? [value] : []));
}

function withoutId(draft: Draft): Draft {
  return { ...draft, id: null };
}
