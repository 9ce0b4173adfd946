import type { Evidence, Thing, Values } from "./evidence.ts";

/** What happened to one thing, a line each, in the order of time; then its changes and conflicts, and what is left of it. */
export function storyOf(thing: Thing, { log, conflicts }: Evidence): string[] {
  const ids = new Set([
    ...thing.rows.map(({ id }) => Number(id)),
    ...thing.application.map(({ recordId }) => recordId),
    ...thing.seen.map(({ recordId }) => recordId),
  ]);
  const sfids = new Set([...thing.records, ...thing.deletedRecords].map(({ id }) => id));
  const moments = [
    ...thing.application.map((deed) => [deed.endedAt, "application", deed] as const),
    ...thing.colleagues.map((deed) => [deed.endedAt, "colleague", deed] as const),
    ...thing.seen
      .filter(({ by }) => by === "bridge")
      .map(({ at, recordId, old, now }) => [at, `Bridge writes row ${recordId}`, changed(old, now)] as const),
    ...thing.saves.map((save) => [save.sentAt, "Bridge saves", save] as const),
  ];
  const entries = [
    ...log.filter(({ table, recordId }) => table === thing.table && ids.has(recordId)).map((one) => ["change", one]),
    ...conflicts.filter(({ recordId, sfid }) => ids.has(recordId) && sfids.has(sfid)).map((one) => ["conflict", one]),
    ...thing.rows.map((row) => ["row", row]),
    ...thing.records.map((record) => ["record", record]),
    ...thing.deletedRecords.map((record) => ["deleted record", record]),
  ] as const;
  return [
    ...moments.toSorted(([one], [other]) => one - other).map(([at, who, what]) => `${time(at)} ${who}: ${shown(what)}`),
    ...entries.map(([name, what]) => `${name} ${shown(what)}`),
  ];
}

function changed(old: Values | null, now: Values | null): Values {
  if (now === null) return { deleted: "true" };
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => (old?.[name] ?? null) !== value));
}

/** Without what all lines share, and with times as people read them. */
const shown = (what: unknown) =>
  JSON.stringify(what, (key, value) => {
    if (key === "table" || key === "tag") return undefined;
    return /At$/.test(key) && typeof value === "number" ? time(value) : value;
  });

const time = (at: number) => new Date(at).toISOString().slice(11, 23);
