import { normalizeId } from "../ids.ts";
import type { Catalog, ChildRelationship } from "../metadata/catalog.ts";
import type { SObject } from "../metadata/sobject.ts";
import { Refusal } from "../refusal.ts";
import { type Database, quoted, type Row } from "../store/database.ts";
import type { Records } from "../store/records.ts";
import { refreshRollups } from "./rollup.ts";
import type { Saver } from "./saver.ts";
import { laterStamp, type Saving } from "./saving.ts";

interface Needs {
  readonly database: Database;
  readonly records: Records;
  readonly catalog: Catalog;
  readonly saver: Saver;
}

/** Deletes records into the recycle bin, brings them back, and removes them for good. */
export class Remover {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Deletes a record with its master-detail children; lookups to it are cleared. */
  remove(writtenId: string, saving: Saving): string {
    const { object, id } = this.locate(writtenId);
    if (!object.deletable)
      throw new Refusal("INSUFFICIENT_ACCESS_OR_READONLY", `entity type cannot be deleted: ${object.label}`);
    const row = this.#needs.saver.alive(object, id);
    this.#needs.saver.lock(object, id, saving);
    this.#bury(object, row, id, saving);
    return id;
  }

  /** Brings a record back from the recycle bin, with all that went there because of it. */
  undelete(writtenId: string, saving: Saving): string {
    const { object, id } = this.locate(writtenId);
    const root = this.#needs.database.first("SELECT root FROM _bin WHERE id = ?", id)?.["root"];
    if (root === undefined || !object.undeletable)
      throw new Refusal("UNDELETE_FAILED", "Entity is not in the recycle bin");
    if (root !== id) throw new Refusal("UNDELETE_FAILED", "Entity was deleted with its parent: undelete the parent");
    this.#needs.saver.lock(object, id, saving);
    for (const { id: buried } of this.#needs.database.all("SELECT id FROM _bin WHERE root = ?", id))
      this.#revive(String(buried), saving);
    for (const link of this.#needs.database.all("SELECT id, field, target FROM _bin_link WHERE root = ?", id))
      this.#relink(link, saving);
    this.#forget(id);
    return id;
  }

  /** Removes a record for good; only the delete log still knows it. */
  destroy(writtenId: string, saving: Saving): string {
    const { object, id } = this.locate(writtenId);
    const row = this.#needs.records.find(object, id);
    if (!row) throw new Refusal("INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id");
    if (row["IsDeleted"] !== 1) this.remove(id, saving);
    for (const { id: buried } of this.#needs.database.all("SELECT id FROM _bin WHERE root = ?", id)) {
      this.#needs.records.remove(this.locate(String(buried)).object, String(buried));
    }
    this.#needs.records.remove(object, id);
    this.#forget(id);
    return id;
  }

  /** The object and the 18-character form of an id. */
  locate(writtenId: string): { object: SObject; id: string } {
    const id = normalizeId(writtenId);
    if (id === null) throw new Refusal("MALFORMED_ID", `malformed id ${writtenId}`);
    const object = this.#needs.catalog.ofId(id);
    if (!object) throw new Refusal("INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id");
    return { object, id };
  }

  #bury(object: SObject, row: Row, root: string, saving: Saving): void {
    const id = String(row["Id"]);
    for (const relationship of this.#needs.catalog.childRelationships(object))
      this.#orphan(relationship, id, root, saving);
    const { database, records } = this.#needs;
    database.run("INSERT OR REPLACE INTO _deleted VALUES (?, ?, ?)", object.name, id, saving.stamp);
    if (object.undeletable) {
      database.run("INSERT OR REPLACE INTO _bin VALUES (?, ?, ?)", id, root, saving.stamp);
      records.update(object, id, { IsDeleted: 1, ...stampsOf(saving, row) });
    } else {
      records.remove(object, id);
    }
    refreshRollups(this.#needs, object, [row], saving.stamp);
  }

  /** Children go with their master, forbid the deletion, or lose their lookup. */
  #orphan({ child, field }: ChildRelationship, parentId: string, root: string, saving: Saving): void {
    if (!child.deletable || field.name === "MasterRecordId") return;
    const alive = child.field("IsDeleted") ? ' AND "IsDeleted" = 0' : "";
    const children = this.#needs.database.all(
      `SELECT * FROM ${quoted(child.name)} WHERE ${quoted(field.name)} = ?${alive}`,
      parentId,
    );
    const [first] = children;
    if (first && field.restrictedDelete) {
      const message = `Your attempt to delete ${parentId} could not be completed because it is associated with the following ${child.labelPlural.toLowerCase()}.: ${String(first["Id"])}`;
      throw new Refusal("DELETE_FAILED", message);
    }
    for (const row of children) {
      if (field.cascadeDelete) this.#bury(child, row, root, saving);
      else this.#unlink(child, row, field.name, root, saving);
    }
  }

  #unlink(child: SObject, row: Row, field: string, root: string, saving: Saving): void {
    const [id, target] = [String(row["Id"]), row[field] ?? null];
    this.#needs.database.run("INSERT OR REPLACE INTO _bin_link VALUES (?, ?, ?, ?)", root, id, field, target);
    this.#needs.records.update(child, id, { [field]: null, SystemModstamp: laterStamp(saving, row) });
  }

  #revive(id: string, saving: Saving): void {
    const { object } = this.locate(id);
    const { database, records } = this.#needs;
    const row = records.find(object, id);
    if (!row) return;
    records.update(object, id, {
      IsDeleted: 0,
      ...(object.field("MasterRecordId") && { MasterRecordId: null }),
      ...stampsOf(saving, row),
    });
    database.run("DELETE FROM _deleted WHERE object = ? AND id = ?", object.name, id);
    refreshRollups(this.#needs, object, [row], saving.stamp);
  }

  #relink(link: Row, saving: Saving): void {
    const { object, id } = this.locate(String(link["id"]));
    const field = String(link["field"]);
    const row = this.#needs.records.find(object, id);
    if (row?.[field] === null)
      this.#needs.records.update(object, id, {
        [field]: link["target"] ?? null,
        SystemModstamp: laterStamp(saving, row),
      });
  }

  #forget(root: string): void {
    this.#needs.database.run("DELETE FROM _bin WHERE root = ?", root);
    this.#needs.database.run("DELETE FROM _bin_link WHERE root = ?", root);
  }
}

function stampsOf(saving: Saving, prior: Row): Row {
  return {
    LastModifiedDate: saving.stamp,
    LastModifiedById: saving.userId,
    SystemModstamp: laterStamp(saving, prior),
  };
}
