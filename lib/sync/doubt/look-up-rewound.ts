import type { ClaimedChange } from "../../model/change/change.ts";
import { findingOf, type Group } from "../../model/change/rewound.ts";
import { chunks } from "../../model/chunks.ts";
import { traitsOf } from "../../model/mapping/field-type.ts";
import { pulls } from "../../model/mapping/mapping.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import { withUpsertValues } from "../../model/mapping/soql.ts";
import { columnText, sfidOf, stampOf, valueIn } from "../../model/record/incoming.ts";
import { isSameValue } from "../../model/record/same-value.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { Doubt, Finding } from "../ports/doubt-ports.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import { readPage, recordsOf } from "../pull/read-page.ts";
import { startPushProgress } from "../push/push-progress.ts";
import { type InDoubtWrite, refold } from "./in-doubt-writes.ts";
import { matchLostInserts } from "./match-lost-inserts.ts";
import { holds } from "./read-back-updates.ts";
import { settleLookedUp } from "./resolve-in-doubt.ts";

type Living = Readonly<Record<string, unknown>>;

/** A restored write, and its changes. */
interface Restored extends InDoubtWrite {
  readonly changes: readonly ClaimedChange[];
}

/** What was found of a row. */
interface Found extends Finding {
  readonly recordId: number;
}

/** The writes that have ended, and what a person is shown of the others. */
interface LookedUp {
  readonly ended: PushOutcome[];
  readonly findings: Found[];
}

/**
 * Looks up what waits in a restored database, once the pull has come to its end. What Salesforce holds has ended well;
 * of the rest is written down what a person decides by. Nothing is sent.
 */
export async function lookUpRewound(cycle: Cycle): Promise<void> {
  for (;;) {
    const doubts = await cycle.store.rewoundDoubts(cycle.lease);
    if (doubts.length === 0) return;
    const { ended, findings } = await lookUp(cycle, doubts);
    await settleLookedUp(cycle, startPushProgress(), ended);
    await cycle.store.noteFindings(cycle.lease, findings);
  }
}

async function lookUp(cycle: Cycle, doubts: readonly Doubt[]): Promise<LookedUp> {
  const ended: PushOutcome[] = [];
  const findings: Found[] = [];
  const writes: Restored[] = [];
  for (const doubt of doubts) {
    const known = refold(cycle, doubt);
    if ("write" in known) writes.push({ ...known, changes: doubt.changes });
    else if (known.kind === "accepted" || known.kind === "settled") ended.push(known);
    else findings.push(finding(known, "only_here")); // what cannot be sent says so when it is
  }
  const { create = [], others = [] } = Object.groupBy(writes, ({ write }) =>
    write.operation === "create" ? "create" : "others",
  );
  const looked = [await byIds(cycle, others), propose(await matchLostInserts(cycle, create))];
  // A row may wait with more than the write that was looked up: a person decides for the row.
  const all = new Map(doubts.flatMap(({ changes }) => changes.map((one) => [one.recordId, changes] as const)));
  const whole = (one: Found): Found => ({ ...one, changeIds: all.get(one.recordId)?.map(({ id }) => id) ?? [] });
  return {
    ended: [...ended, ...looked.flatMap((one) => one.ended)],
    findings: [...findings, ...looked.flatMap((one) => one.findings)].map(whole),
  };
}

const finding = ({ recordId, changeIds }: Omit<Found, "message">, group: Group, more?: string): Found => ({
  ...{ recordId, changeIds, message: findingOf(group, more) },
});

/** A record that equals an insert is only proposed: another row, lost since, may have become it. */
function propose(outcomes: readonly PushOutcome[]): LookedUp {
  const findings = outcomes.map((outcome) => {
    if (outcome.kind === "accepted") return finding(outcome, "proposed", ` (${outcome.sfid})`);
    return outcome.kind === "refused"
      ? finding(outcome, "unclear", `; ${outcome.error}`)
      : finding(outcome, "only_here");
  });
  return { ended: [], findings };
}

async function byIds(cycle: Cycle, writes: readonly Restored[]): Promise<LookedUp> {
  const found = new Map<string, Living>();
  const ids = writes.flatMap(({ write }) => write.record.id ?? []);
  for await (const { records } of recordsOf(cycle, ids))
    for (const record of records) found.set(keyOf(sfidOf(record)), record);

  const byValues = await byUpsertValues(cycle, writes);
  const all: LookedUp = { ended: [], findings: [] };
  for (const restored of writes) {
    const { write, sentAt } = restored;
    const { recordId, changeIds, action, record } = write;
    const living =
      record.id === null
        ? byValues.get(upsertKey(cycle, record.values[cycle.shape.upsertField ?? ""] ?? ""))
        : found.get(keyOf(record.id));
    const group = record.id === null && !living ? "only_here" : judge(cycle.shape, restored, living);
    const sfid = record.id ?? (living ? sfidOf(living) : null);
    if (group === "held") all.ended.push({ recordId, changeIds, kind: "accepted", action, sfid, answeredAt: sentAt });
    else all.findings.push(finding(write, group));
  }
  return all;
}

/** Where nothing is pulled, records of upserts, whose rows never meet them; by their values. */
async function byUpsertValues(cycle: Cycle, writes: readonly Restored[]): Promise<ReadonlyMap<string, Living>> {
  const field = cycle.shape.upsertField ?? "";
  const meet = pulls(cycle.shape.direction);
  const upserts = meet ? [] : writes.filter(({ write: { operation, record } }) => operation === "upsert" && !record.id);
  const values = upserts.flatMap(({ write }) => write.record.values[field] ?? []);
  const found = new Map<string, Living>();
  for (const some of chunks(values, VALUES_AT_ONCE)) {
    // Wide records may end an answer early: what is not found is asked for again.
    for (let rest = some, isMore = true; isMore && rest.length > 0; ) {
      const asked = rest;
      const { records, complete } = await readPage(cycle, withUpsertValues(cycle.shape, asked));
      for (const record of records) found.set(upsertKey(cycle, String(record[field])), record);
      rest = rest.filter((value) => !found.has(upsertKey(cycle, value)));
      isMore = !complete && rest.length < asked.length;
    }
  }
  return found;
}

/** Upsert values of one query. */
const VALUES_AT_ONCE = 50;

/** Salesforce knows external ids whatever their case (Help, External ID), and writes a number in several ways. */
function upsertKey({ shape }: Cycle, value: string): string {
  const column = shape.columns.find(({ field }) => field === shape.upsertField);
  return column && traitsOf(column.type).kind === "number" ? String(Number(value)) : value.toLowerCase();
}

/** `held`: Salesforce has it already. */
function judge(shape: TableShape, restored: Restored, record: Living | undefined): Group | "held" {
  const { write, changes } = restored;
  const isGone = record === undefined || record["IsDeleted"] === true;
  if (write.operation === "delete") return isGone ? "held" : isChangedSince(restored, record) ? "newer" : "only_here";
  if (isGone) return "newer";
  if (holds(shape, record, write.record)) return "held";
  return isChangedSince(restored, record) || !isBefore(shape, record, changes) ? "newer" : "only_here";
}

const isChangedSince = ({ changes }: Restored, record: Living): boolean =>
  changes.some(({ capturedAt }) => stampOf(record) > capturedAt);

/** Whether a record shows in each changed column what the row held before, or holds now. */
function isBefore({ columns }: TableShape, record: Living, changes: readonly ClaimedChange[]): boolean {
  return columns.every((column) => {
    const touching = changes.filter(({ values }) => column.column in values);
    const [first] = touching;
    if (!first) return true;
    const shown = columnText(column, valueIn(column, record));
    const sides = [first.old[column.column] ?? null, touching.at(-1)?.values[column.column] ?? null];
    return sides.some((side) => isSameValue(column, shown, side));
  });
}

const keyOf = (sfid: string) => sfid.slice(0, 15);
