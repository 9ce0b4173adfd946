import type { Complain, Deed, Evidence, Restored, Save, Thing } from "./evidence.ts";

/**
 * What is left of a change that a restore has undone: what had been saved in Salesforce stays, and nothing may undo it.
 * The rest is gone, as if it had never been written. A save without an answer leaves both open.
 */
export function survived({ saves }: Pick<Thing, "saves">, deed: Deed): Deed[] {
  const brings = (column: string, { values, success }: Save) =>
    success !== false && values[column] === deed.values[column];
  const columns = Object.keys(deed.values).filter((column) => saves.some((save) => brings(column, save)));
  const its = saves.filter((save) =>
    deed.action === "delete"
      ? save.operation === "delete" && save.success !== false && save.sentAt >= deed.begunAt - SKEW
      : columns.some((column) => brings(column, save)),
  );
  if (its.length === 0) return [];
  const values = Object.fromEntries(columns.map((column) => [column, deed.values[column] ?? null]));
  return [{ ...deed, recordId: null, values, isSure: its.some(({ success }) => success === true) }];
}

/** The clocks of a database and of a process. */
const SKEW = 1_000;

/**
 * A person let Salesforce's values stay, after a restore, where these were newer than the copy: this change may be lost.
 * Where nothing had changed there since the copy, it may not.
 */
export function isDecidedAgainst(thing: Thing, deed: Deed, { restored, merged }: Evidence): boolean {
  return restored.some(
    (one) =>
      one.decided.some((decided) => !decided.isOurs && isOf(decided, deed)) &&
      (isChangedThere(thing, one) || merged.some(({ table, tag }) => table === deed.table && tag === deed.tag)),
  );
}

/**
 * The application wrote it on a row of before, and the policy let Salesforce's value win over it, which a conflict records.
 */
export function isOverruled(
  thing: Thing,
  { recordId, values, begunAt }: Deed,
  { restored, conflicts }: Evidence,
): boolean {
  return (
    restored.some((one) => begunAt >= one.copiedAt && isChangedThere(thing, one)) &&
    conflicts.some(
      (one) =>
        one.recordId === recordId &&
        one.winner === "salesforce" &&
        one.column !== null &&
        one.postgres !== null &&
        values[one.column] === one.postgres,
    )
  );
}

/** A person sent an older value of ours over a newer one. */
export const isDecidedFor = (
  value: string | null,
  column: string,
  { table, tag }: Thing,
  { restored }: Evidence,
): boolean =>
  restored.some(({ decided }) =>
    decided.some((one) => one.isOurs && one.table === table && one.tag === tag && one.values[column] === value),
  );

type Decided = Restored["decided"][number];

const isOf = (decided: Decided, deed: Deed): boolean =>
  decided.table === deed.table &&
  decided.tag === deed.tag &&
  decided.action === deed.action &&
  Object.entries(deed.values).every(([column, value]) => decided.values[column] === value);

const isChangedThere = ({ colleagues, saves }: Thing, { copiedAt }: Restored): boolean =>
  colleagues.some(({ endedAt }) => endedAt >= copiedAt - SKEW) ||
  saves.some(({ sentAt, success }) => success !== false && sentAt >= copiedAt - SKEW);

/**
 * A change may fail where a user has deleted its record, where Salesforce's users changed the same field, and where the
 * operator retried it; else nothing is wrong with it.
 */
export function judgeFailures({ log, restored, retried }: Evidence, things: Iterable<Thing>, complain: Complain): void {
  if (restored.length === 0) return;
  const thingOf = new Map<string, Thing>();
  for (const thing of things)
    for (const { recordId } of thing.application)
      if (recordId !== null) thingOf.set(`${thing.table} ${recordId}`, thing);
  for (const entry of log) {
    if (entry.state !== "FAILED" || retried.includes(entry.id)) continue;
    const thing = thingOf.get(`${entry.table} ${entry.recordId}`);
    const isDeleted = thing && [...thing.application, ...thing.colleagues].some(({ action }) => action === "delete");
    const isWritten = thing?.colleagues.some(({ values }) =>
      Object.keys(values).some((column) => column in entry.values),
    );
    if (!isDeleted && !(isWritten && entry.message?.startsWith("CONFLICT")))
      complain("false failure", thing ?? { table: entry.table, tag: "" }, `change ${entry.id}: ${entry.message}`);
  }
}
