import type { Evidence, Values } from "./evidence.ts";
import type { Thing } from "./thing.ts";

/** What happened to one thing, a line each, in the order of time. */
export function storyOf(thing: Thing, { log, conflicts }: Evidence): string[] {
  const ids = new Set([
    ...thing.rows.map(({ id }) => Number(id)),
    ...thing.application.map(({ recordId }) => recordId),
    ...thing.seen.map(({ recordId }) => recordId),
  ]);
  const moments = [
    ...thing.application.map((deed) => ({
      at: deed.endedAt,
      text: `application: ${deed.action} row ${deed.recordId} ${shown(deed.values)}`,
    })),
    ...thing.colleagues.map((deed) => ({
      at: deed.endedAt,
      text: `colleague: ${deed.action} ${shown(deed.values)} (begun ${time(deed.begunAt)}${deed.isSure ? "" : ", answer lost"})`,
    })),
    ...thing.seen
      .filter(({ by }) => by === "bridge")
      .map((one) => ({ at: one.at, text: `Bridge writes row ${one.recordId}: ${shown(changed(one.old, one.now))}` })),
    ...thing.saves.map((save) => ({
      at: save.sentAt,
      text: `Bridge saves: ${save.operation} ${save.sfid ?? ""} ${shown(save.values)} -> ${save.success === null ? "no answer" : save.success ? "accepted" : "refused"} (${save.answeredAt === null ? "" : time(save.answeredAt)})${save.wasHeld ? ", held between check and send" : ""}`,
    })),
  ];
  const lines = moments.sort((one, other) => one.at - other.at).map(({ at, text }) => `${time(at)} ${text}`);
  const logged = log
    .filter(({ table, recordId }) => table === thing.table && ids.has(recordId))
    .map(
      (entry) =>
        `change ${entry.id}: ${entry.action} row ${entry.recordId} ${shown(entry.values)} ${entry.state} ${entry.message ?? ""}`,
    );
  const collided = conflicts
    .filter(
      ({ recordId, sfid }) =>
        ids.has(recordId) && [...thing.records, ...thing.deletedRecords].some(({ id }) => id === sfid),
    )
    .map((one) => `conflict: ${one.column} ${one.postgres} against ${one.salesforce}, ${one.winner} wins`);
  const left = [
    ...thing.rows.map(({ id, sfid, values }) => `row ${id} ${sfid} ${shown(values)}`),
    ...thing.records.map(({ id, values }) => `record ${id} ${shown(values)}`),
    ...thing.deletedRecords.map(({ id, values }) => `deleted record ${id} ${shown(values)}`),
  ];
  return [...lines, ...logged, ...collided, ...left];
}

function changed(old: Values | null, now: Values | null): Values {
  if (now === null) return { deleted: "true" };
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => (old?.[name] ?? null) !== value));
}

const shown = (values: Values) => JSON.stringify(values);
const time = (at: number) => new Date(at).toISOString().slice(11, 23);
