import { totalOf } from "../counts.ts";
import type { Complain, Deed, Evidence, Logged } from "./evidence.ts";

/** What a complaint of no record names. */
const NOTHING = { table: "", tag: "" };

/** Whether the trigger log holds each change of the application once, nothing else, and nothing that is open. */
export function judgeCapture(evidence: Evidence, complain: Complain): void {
  const { application, log, totals, uncaptured } = evidence;
  // Rows that differ are captured as changes once capture is on again.
  const mayHaveMore = (table: string, action: string) =>
    action.toLowerCase() === "update" && uncaptured.some((one) => one.table === table);
  const captured = Map.groupBy(log, ({ table, recordId, action }) => `${table} ${recordId} ${action.toLowerCase()}`);
  const done = Map.groupBy(application, ({ table, recordId, action }) => `${table} ${recordId} ${action}`);
  for (const [key, deeds] of done) {
    const entries = captured.get(key) ?? [];
    const [deed] = deeds;
    const least = deeds.filter((one) => !isUncaptured(one, evidence)).length;
    const most = deed && mayHaveMore(deed.table, deed.action) ? Number.POSITIVE_INFINITY : deeds.length;
    if (!deed || (entries.length >= least && entries.length <= most)) continue;
    const name = entries.length < least ? "uncaptured change" : "change captured twice";
    const times = `${deeds.length} times ${deed.action}, ${entries.length} times in the trigger log`;
    complain(name, deed, `row ${deed.recordId}: ${times}`);
  }
  for (const [key, [entry]] of captured) {
    if (entry && !done.has(key) && !mayHaveMore(entry.table, entry.action))
      complain("unexplained change", { table: entry.table, tag: entry.values["tag__c"] ?? "" }, said(entry));
  }
  for (const entry of log) {
    if (entry.state !== "SUCCESS" && entry.state !== "FAILED")
      complain("open change", { table: entry.table, tag: tagOf(entry, application) }, said(entry));
  }
  for (const { table, success, failed } of totals) {
    const of = (state: string) => log.filter((entry) => entry.table === table && entry.state === state).length;
    if (of("SUCCESS") !== success || of("FAILED") !== failed)
      complain("wrong total", { table, tag: "" }, `${success} and ${failed}, not ${of("SUCCESS")} and ${of("FAILED")}`);
  }
}

/** Whether nothing captured the table when this was done to it. */
export const isUncaptured = ({ table, begunAt }: Deed, { uncaptured }: Evidence): boolean =>
  uncaptured.some((one) => one.table === table && one.from <= begunAt && begunAt <= one.until);

const said = ({ id, action, recordId, state, message }: Logged) =>
  `change ${id}: ${action} of row ${recordId} is ${state}${message ? ` (${message})` : ""}`;

const tagOf = ({ table, recordId }: Logged, application: Evidence["application"]) =>
  application.find((deed) => deed.table === table && deed.recordId === recordId)?.tag ?? "";

/** Whether each failed change was reported once, and every report has arrived. */
export function judgeAnnounced(
  { log, retried, announced, waitingToBeAnnounced, heard, application, restored }: Evidence,
  complain: Complain,
): void {
  const undone = new Set(restored.flatMap(({ unannounced }) => unannounced));
  // What DynamoDB knew of them went with its restore.
  const mayBeLost = (at: number) => restored.some(({ what, restoredAt }) => what !== "PostgreSQL" && at <= restoredAt);
  const announcements = Map.groupBy(
    announced.filter(({ event }) => event === "record.failed"),
    ({ logId }) => logId,
  );
  for (const entry of log) {
    const times = announcements.get(entry.id)?.length ?? 0;
    if (times === (entry.state === "FAILED" ? 1 : 0)) continue;
    const about = { table: entry.table, tag: tagOf(entry, application) };
    if (entry.state === "FAILED" && times === 0) complain("unreported failure", about, said(entry));
    // A newer change of its row tries a failed one again, and so does an operator; each time it may fail again.
    const newer = log.filter(({ table, recordId, id }) => {
      return recordId === entry.recordId && table === entry.table && id > entry.id;
    });
    if (times > 1 + newer.length + retried.filter((id) => id === entry.id).length)
      complain("failure reported twice", about, `${said(entry)} was reported ${times} times`);
  }
  if (waitingToBeAnnounced.length > 0)
    complain("outbox not empty", NOTHING, `${waitingToBeAnnounced.length} events wait`);
  const arrived = Map.groupBy(
    heard.filter(({ eventId }) => !undone.has(eventId)),
    ({ logId }) => logId,
  );
  for (const [logId, all] of announcements) {
    const { size } = new Set(arrived.get(logId)?.map(({ eventId }) => eventId));
    const what = `change ${logId} was reported ${all.length} times, ${size} events reached the webhook`;
    if (size < all.filter(({ at }) => !mayBeLost(at)).length) complain("lost event", NOTHING, what);
    if (size > all.length) complain("event made twice", NOTHING, what);
  }
}

/** Whether the engine's count of calls is the org's; after kills some may be missing, none too many. */
export function judgeCalls({ calls }: Evidence, complain: Complain): void {
  for (const label of new Set([...Object.keys(calls.engine), ...Object.keys(calls.wire)])) {
    const [engine, wire] = [calls.engine[label] ?? 0, calls.wire[label] ?? 0];
    if (calls.isQuiet ? engine !== wire : engine > wire)
      complain("wrong counter", NOTHING, `${label}: the engine counts ${engine} calls, the wire ${wire}`);
  }
  if (calls.isQuiet && totalOf(calls.engine) !== calls.org)
    complain("wrong counter", NOTHING, `the engine counts ${totalOf(calls.engine)} calls, the org ${calls.org}`);
}
