import { normalizeId } from "../ids.ts";
import type { Catalog, ChildRelationship } from "../metadata/catalog.ts";
import { Refusal } from "../refusal.ts";
import { type Database, quoted, type Row } from "../store/database.ts";
import type { Records } from "../store/records.ts";
import type { Draft } from "./draft.ts";
import type { Saver } from "./saver.ts";
import { laterStamp, type Saving } from "./saving.ts";

interface Needs {
  readonly database: Database;
  readonly records: Records;
  readonly catalog: Catalog;
  readonly saver: Saver;
}

/** What a merge did. */
export interface Merged {
  readonly id: string;
  readonly mergedRecordIds: readonly string[];
  readonly updatedRelatedIds: readonly string[];
}

const MAX_LOSERS = 2;

/** Merges up to two records into a master: it takes the draft's values and their children, they go to the recycle bin (salesforce-facts 9). */
export function mergeRecords(needs: Needs, master: Draft, loserIds: readonly string[], saving: Saving): Merged {
  const { object, id } = master;
  if (!object.mergeable) throw new Refusal("INVALID_OPERATION", `entity type cannot be merged: ${object.label}`);
  if (id === null) throw new Refusal("MISSING_ARGUMENT", "the master record needs an Id");
  if (loserIds.length === 0 || loserIds.length > MAX_LOSERS)
    throw new Refusal("INVALID_ARGUMENT_TYPE", `a merge takes one or ${MAX_LOSERS} records`);
  const losers = loserIds.map((written) => normalizeId(written) ?? "");
  if (losers.includes(id)) throw new Refusal("INVALID_ARGUMENT_TYPE", "a record cannot be merged with itself");
  const rows = losers.map((loser) => needs.saver.alive(object, loser));
  needs.saver.update(master, saving);
  const moved = losers.flatMap((loser) =>
    needs.catalog.childRelationships(object).flatMap((relationship) => adopt(needs, relationship, loser, id, saving)),
  );
  for (const row of rows) bury(needs, master, row, saving);
  return { id, mergedRecordIds: losers, updatedRelatedIds: moved };
}

/** Children get the master as their parent, with a new stamp and without any rules. */
function adopt(
  { database }: Needs,
  { child, field }: ChildRelationship,
  loser: string,
  masterId: string,
  saving: Saving,
): string[] {
  if (field.name === "MasterRecordId" || !child.updateable) return [];
  const sql = `UPDATE ${quoted(child.name)} SET ${quoted(field.name)} = ?, "SystemModstamp" = max("SystemModstamp", ?) WHERE ${quoted(field.name)} = ? RETURNING "Id"`;
  return database.all(sql, masterId, saving.stamp, loser).map((row) => String(row["Id"]));
}

function bury({ database, records }: Needs, { object, id: masterId }: Draft, row: Row, saving: Saving): void {
  const loser = String(row["Id"]);
  database.run("INSERT OR REPLACE INTO _deleted VALUES (?, ?, ?)", object.name, loser, saving.stamp);
  database.run("INSERT OR REPLACE INTO _bin VALUES (?, ?, ?)", loser, loser, saving.stamp);
  records.update(object, loser, {
    IsDeleted: 1,
    MasterRecordId: masterId,
    LastModifiedDate: saving.stamp,
    LastModifiedById: saving.userId,
    SystemModstamp: laterStamp(saving, row),
  });
}
