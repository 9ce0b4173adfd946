import type { Complain, Evidence, Held, Save, Seen, Thing } from "./evidence.ts";
import { isUncaptured, judgeAnnounced, judgeCalls, judgeCapture } from "./judge-books.ts";
import { judgeOrder } from "./judge-order.ts";
import { isDecidedAgainst, isOverruled, judgeFailures, survived } from "./judge-restores.ts";
import { storyOf } from "./story.ts";

/** Something that must not be. */
export interface Finding {
  readonly name: string;
  readonly table: string;
  readonly tag: string;
  readonly what: string;
  readonly story: readonly string[];
}

/** Compares both sides and all books. Nothing of the engine is asked or believed; no finding means that all is explained. */
export function judge(evidence: Evidence): Finding[] {
  const things = gather(evidence);
  const findings: Finding[] = [];
  const complain: Complain = (name, { table, tag }, what) => {
    const thing = things.get(`${table} ${tag}`);
    findings.push({ name, table, tag, what, story: thing ? storyOf(thing, evidence) : [] });
  };
  for (const thing of things.values()) {
    judgeSides(thing, complain);
    judgeOrder(thing, evidence, complain);
  }
  judgeMerged(evidence, complain);
  judgeFailures(evidence, things.values(), complain);
  judgeCapture(evidence, complain);
  judgeAnnounced(evidence, complain);
  judgeCalls(evidence, complain);
  return findings;
}

/** Whether the thing is there once, on both sides, with the same values; or nowhere. */
function judgeSides(thing: Thing, complain: Complain): void {
  const { rows, records, deletedRecords, application, colleagues } = thing;
  const [row, ...otherRows] = rows;
  const [record, ...otherRecords] = records;
  if (otherRows.length > 0)
    complain("doubled row", thing, `${rows.length} rows: ${rows.map(({ id }) => id).join(", ")}`);
  if (otherRecords.length > 0)
    complain("doubled record", thing, `${records.length} records: ${records.map(({ id }) => id).join(", ")}`);

  const made = [...application, ...colleagues].filter(({ action }) => action === "insert").length;
  // An upsert that is repeated after a user has deleted its record creates it again, as any user's would.
  const deletedThere = colleagues.filter(({ action }) => action === "delete").length;
  const ever = records.length + deletedRecords.length;
  if (otherRecords.length === 0 && ever > made + deletedThere + heldBeyondDelete(thing))
    complain("doubled creation", thing, `${made} inserts made ${ever} records, ${deletedRecords.length} now deleted`);

  const isDeleted = [...application, ...colleagues].some(({ action }) => action === "delete");
  const isSure = [...application, ...colleagues].some((deed) => deed.action === "insert" && deed.isSure);
  if (!row && !record) {
    if (isSure && !isDeleted) complain("lost insert", thing, "it is on neither side, and was not deleted");
    return;
  }
  if (!row) complain("missing row", thing, `record ${record?.id} has no row`);
  if (!record) complain("missing record", thing, `row ${row?.id} (sfid ${row?.sfid}) has no record`);
  if (row && record) compare(thing, row, record, complain);
}

/**
 * Upserts that were stopped between their last check and the sending while a newer cycle deleted the record: they make it
 * again, which no fence keeps from Salesforce. That it is deleted again then, `undead record` asks.
 */
function heldBeyondDelete({ saves }: Thing): number {
  const isDeletedBefore = ({ sentAt }: Save) =>
    saves.some(
      (one) => one.operation === "delete" && one.success && one.answeredAt !== null && one.answeredAt <= sentAt,
    );
  const late = saves.filter(
    ({ operation, success, wasHeld }) => operation === "upsert" && success !== false && wasHeld,
  );
  return late.filter(isDeletedBefore).length;
}

/** What a merge has deleted never comes back to life. */
function judgeMerged({ merged, records }: Evidence, complain: Complain): void {
  const alive = new Set(records.flatMap(({ id, isDeleted }) => (isDeleted ? [] : [id])));
  for (const one of merged)
    if (alive.has(one.id)) complain("undead merged record", one, `${one.id} was merged into ${one.master}, and lives`);
}

function compare(thing: Thing, row: Held, record: Held, complain: Complain): void {
  if (row.sfid !== record.id)
    complain("wrong sfid", thing, `row ${row.id} says ${row.sfid}, its record is ${record.id}`);
  for (const column of Object.keys(row.values)) {
    const [here, there] = [row.values[column] ?? null, record.values[column] ?? null];
    if (here !== there) complain("different field", thing, `${column}: the row says ${here}, the record ${there}`);
  }
}

function gather(evidence: Evidence): Map<string, Thing> {
  const things = new Map<string, Thing>();
  const thingOf = (table: string, tag: string) => {
    const key = `${table} ${tag}`;
    const known = things.get(key);
    if (known) return known;
    const lists = { rows: [], records: [], deletedRecords: [], application: [], colleagues: [], seen: [], saves: [] };
    const made: Thing = { table, tag, ...lists };
    things.set(key, made);
    return made;
  };
  for (const row of evidence.rows) thingOf(row.table, row.tag).rows.push(row);
  const bySfid = new Map<string, { readonly table: string; readonly tag: string }>();
  for (const record of evidence.records) {
    const thing = thingOf(record.table, record.tag);
    (record.isDeleted ? thing.deletedRecords : thing.records).push(record);
    bySfid.set(record.id, record);
  }
  for (const deed of evidence.colleagues) thingOf(deed.table, deed.tag).colleagues.push(deed);
  for (const one of evidence.seen) thingOf(one.table, tagOf(one)).seen.push(one);
  for (const save of evidence.saves) {
    const known = bySfid.get(save.sfid ?? "") ?? (save.tag === null ? undefined : { table: save.table, tag: save.tag });
    if (known) thingOf(known.table, known.tag).saves.push(save);
  }
  const undone = evidence.restored.flatMap((one) =>
    one.undone.flatMap((deed) => survived(thingOf(deed.table, deed.tag), deed)),
  );
  const inOrder = [...evidence.application, ...undone].sort((one, other) => one.begunAt - other.begunAt);
  for (const deed of inOrder) {
    const thing = thingOf(deed.table, deed.tag);
    // Uncaptured writes may be lost: Salesforce's values win again, or the rows' do. So may what a person decided against.
    const isSure =
      deed.isSure &&
      !isUncaptured(deed, evidence) &&
      !isDecidedAgainst(thing, deed, evidence) &&
      !isOverruled(thing, deed, evidence);
    thing.application.push({ ...deed, isSure });
  }
  return things;
}

const tagOf = ({ old, now }: Seen) => now?.["tag__c"] ?? old?.["tag__c"] ?? "";
