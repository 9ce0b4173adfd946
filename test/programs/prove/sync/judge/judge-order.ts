import type { Complain, Deed, Evidence, Save, Thing } from "./evidence.ts";
import { isDecidedFor } from "./judge-restores.ts";

/** Whether the last value of each field is one that should be the last, and whether older values ever came after newer. */
export function judgeOrder(thing: Thing, evidence: Evidence, complain: Complain): void {
  if (thing.records.length > 0) {
    for (const column of ["here__c", "nested__c"] as const)
      lastOfOneSide(thing, column, thing.application, evidence, complain);
    lastOfOneSide(thing, "there__c", thing.colleagues, evidence, complain);
    lastOfBoth(thing, evidence, complain);
    judgeLife(thing, complain);
  }
  staleSaves(thing, evidence, complain);
  staleRows(thing, complain);
}

/** Deleted by one side while the other side did nothing: then it stays deleted. */
function judgeLife(thing: Thing, complain: Complain): void {
  const { application, colleagues } = thing;
  for (const [deeds, others] of [
    [application, colleagues],
    [colleagues, application],
  ] as const) {
    const last = deeds.at(-1);
    if (last?.action === "delete" && last.isSure && others.length === 0)
      complain("undead record", thing, "it was deleted, and the other side did nothing");
  }
}

/** The value that its record ended with. */
const lastOf = ({ records }: Thing, column: string): string | null => records[0]?.values[column] ?? null;

/** A field that one side alone writes ends as that side wrote it last. */
function lastOfOneSide(
  thing: Thing,
  column: string,
  deeds: readonly Deed[],
  evidence: Evidence,
  complain: Complain,
): void {
  const final = lastOf(thing, column);
  const possible = possibleLast(deeds, column);
  if (possible.length === 0 ? final === null : possible.includes(final)) return;
  if (isDecidedFor(final, column, thing, evidence)) return;
  if (wasRestarted(thing) || isRefused(thing, column, deeds, evidence)) return;
  complain(
    "lost value",
    thing,
    `${column} ends as ${final}, but ${possible.join(" or ") || "nothing"} was written last`,
  );
}

/** A field that both sides write ends as one of them wrote it last, and the other's value was not lost unseen. */
function lastOfBoth(thing: Thing, evidence: Evidence, complain: Complain): void {
  const column = "both__c";
  const final = lastOf(thing, column);
  const here = possibleLast(thing.application, column);
  const there = possibleLast(thing.colleagues, column);
  if (here.length + there.length === 0 ? final === null : [...here, ...there].includes(final)) {
    const sure = thing.application.findLast(({ isSure, values }) => isSure && column in values)?.values[column];
    if (
      there.includes(final) &&
      sure !== undefined &&
      !here.includes(final) &&
      // What the application wrote after it, which may not have been captured, may have met Salesforce's instead.
      !here.some((value) => isExplained(thing, column, value, evidence))
    )
      complain("lost value", thing, `${column} ends as ${final}; the result of ${sure} is unknown`);
    return;
  }
  if (isDecidedFor(final, column, thing, evidence)) return;
  if (wasRestarted(thing) || here.some((value) => isWithoutBase(thing, column, value, evidence))) return;
  complain("lost value", thing, `${column} ends as ${final}, but ${[...here, ...there].join(" or ")} was written last`);
}

/**
 * A value that replaced one that nothing captured: Bridge cannot know whether Salesforce's is older, so that the policy
 * may decide for it, and records the conflict.
 */
function isWithoutBase({ application }: Thing, column: string, value: string | null, { conflicts }: Evidence): boolean {
  const ids = new Set(application.map(({ recordId }) => recordId));
  const at = application.findLastIndex(({ values }) => values[column] === value);
  const replaced = application.slice(0, Math.max(0, at)).findLast(({ values }) => column in values);
  const isOver = (one: Evidence["conflicts"][number]) =>
    ids.has(one.recordId) && one.column === column && one.postgres === value && one.winner === "salesforce";
  return replaced !== undefined && !replaced.isSure && conflicts.some(isOver);
}

/** A value of the application that Salesforce's overruled: it was there before, or its end is written down. */
function isExplained(thing: Thing, column: string, value: string | null, { conflicts, log }: Evidence): boolean {
  if (wasRestarted(thing)) return true;
  if (thing.saves.some((save) => save.success !== false && save.values[column] === value)) return true;
  const ids = new Set(thing.application.map(({ recordId }) => recordId));
  if (conflicts.some((one) => ids.has(one.recordId) && one.column === column && one.postgres === value)) return true;
  return log.some((one) => ids.has(one.recordId) && one.state === "FAILED" && one.values[column] === value);
}

function isRefused(thing: Thing, column: string, deeds: readonly Deed[], { log }: Evidence): boolean {
  const value = possibleLast(deeds, column)[0];
  return log.some(
    ({ recordId, state, values }) =>
      state === "FAILED" && values[column] === value && thing.application.some((deed) => deed.recordId === recordId),
  );
}

/** Deleted by a user at some time: what lived on, or came again, is a merger of both. */
const wasRestarted = ({ application, colleagues }: Thing) =>
  [...application, ...colleagues].some(({ action }) => action === "delete");

/** The last value that was surely written, and those after it that may be; the sure one first. */
function possibleLast(deeds: readonly Deed[], column: string): (string | null)[] {
  const unsure: (string | null)[] = [];
  for (const deed of deeds.toReversed()) {
    if (!(column in deed.values)) continue;
    if (deed.isSure) return [deed.values[column] ?? null, ...unsure];
    unsure.push(deed.values[column] ?? null);
  }
  return unsure.length > 0 ? [...unsure, null] : [];
}

/** A save that brings an older value of the application's than an earlier save had brought. */
function staleSaves(thing: Thing, evidence: Evidence, complain: Complain): void {
  for (const column of ["here__c", "both__c"]) {
    const age = ageOf(thing.application, column);
    const saves = thing.saves.filter(({ success, values }) => success !== false && age.has(values[column] ?? null));
    for (const [earlier, later] of pairs(saves.toSorted((one, other) => one.sentAt - other.sentAt))) {
      const isAfter = earlier.answeredAt !== null && earlier.answeredAt <= later.sentAt;
      if (!isAfter || (age.get(later.values[column] ?? null) ?? 0) >= (age.get(earlier.values[column] ?? null) ?? 0))
        continue;
      if (isDecidedFor(later.values[column] ?? null, column, thing, evidence)) continue;
      const what = `${column}: ${later.values[column]} was saved after ${earlier.values[column]}`;
      // Stopped between check and send: it must have been seen, and repaired, which the last values show.
      if (!later.wasHeld) complain("stale save", thing, what);
      else if (!isSeen(later, evidence)) complain("unseen stale save", thing, what);
    }
  }
}

/** Its sender said so, or could not, because it, the host or PostgreSQL was struck after the save. */
function isSeen({ table, sender, answeredAt, success }: Save, { lateReports, struck }: Evidence): boolean {
  if (answeredAt === null || success === null) return true; // its results are lost: it is in doubt, and looked up
  if (lateReports.some((report) => report.table === table && report.at >= answeredAt)) return true;
  const others = [sender, "host", "PostgreSQL"];
  return struck.some(({ whom, at }) => others.includes(whom) && at >= answeredAt && at < answeredAt + STRUCK_WITHIN);
}

/** A sender that was not disturbed for so long has reported all. */
const STRUCK_WITHIN = 60_000;

/** A row that Bridge gives an older value of the colleagues' than it had given it before. */
function staleRows(thing: Thing, complain: Complain): void {
  const age = ageOf(thing.colleagues, "there__c");
  const given = thing.seen
    .filter(({ by, now, old }) => by === "bridge" && now !== null && now["there__c"] !== old?.["there__c"])
    .map(({ now }) => now?.["there__c"] ?? null)
    .filter((value) => age.has(value));
  for (const [earlier, later] of pairs(given)) {
    if ((age.get(later) ?? 0) < (age.get(earlier) ?? 0))
      complain("stale row", thing, `there__c: the row was given ${later} after ${earlier}`);
  }
}

/** Each value's place in the order of its side. */
const ageOf = (deeds: readonly Deed[], column: string) =>
  new Map(
    deeds.flatMap(({ values, isSure }, index) =>
      isSure && column in values ? [[values[column] ?? null, index] as const] : [],
    ),
  );

const pairs = <Item>(items: readonly Item[]) =>
  items.slice(1).map((later, index) => [items[index] as Item, later] as const);
