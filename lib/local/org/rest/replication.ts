import type { SObject } from "../metadata/sobject.ts";
import type { Parts } from "../parts.ts";
import { Refusal } from "../refusal.ts";
import { ok, param, type RestCall, type RestReply } from "../rest-call.ts";
import { quoted } from "../store/database.ts";
import { objectAt } from "./rest-draft.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MAX_IDS = 600_000;
const TOO_MANY = "too many ids in this window: choose a shorter one";

/** A window of whole minutes, and up to when the org's answer is complete. */
interface Window {
  readonly start: Date;
  readonly end: Date;
  readonly latestDateCovered: Date;
}

/** `GET /sobjects/X/updated?start=&end=`: what changed in a window (salesforce-facts 4), as far as it is covered. */
export function updated(call: RestCall): RestReply {
  const { parts } = call;
  const object = objectAt(parts.catalog, param(call, "object"));
  const window = windowOf(call, object, 30);
  const alive = object.field("IsDeleted") ? ' AND "IsDeleted" = 0' : "";
  const sql = `SELECT "Id" FROM ${quoted(object.name)} WHERE "SystemModstamp" >= ? AND "SystemModstamp" < ?${alive} LIMIT ${MAX_IDS + 1}`;
  const ids = parts.database
    .tuples(sql, [window.start.toISOString(), window.end.toISOString()])
    .map(([id]) => String(id));
  if (ids.length > MAX_IDS) throw new Refusal("EXCEEDED_ID_LIMIT", TOO_MANY);
  return ok({ ids, latestDateCovered: restDate(window.latestDateCovered) });
}

/** `GET /sobjects/X/deleted?start=&end=`: what the delete log knows of a window; one that starts before the log does is refused. */
export function deleted(call: RestCall): RestReply {
  const { parts } = call;
  const object = objectAt(parts.catalog, param(call, "object"));
  const window = windowOf(call, object, 15);
  const earliestDateAvailable = earliest(parts);
  if (window.start < earliestDateAvailable) {
    throw new Refusal(
      "INVALID_REPLICATION_DATE",
      `startDate before org replication enabled date: ${earliestDateAvailable.toISOString()}`,
    );
  }
  const sql = `SELECT id, deleted_at FROM _deleted WHERE object = ? AND deleted_at >= ? AND deleted_at < ? ORDER BY deleted_at, id LIMIT ${MAX_IDS + 1}`;
  const rows = parts.database.all(sql, object.name, window.start.toISOString(), window.end.toISOString());
  if (rows.length > MAX_IDS) throw new Refusal("EXCEEDED_ID_LIMIT", TOO_MANY);
  return ok({
    deletedRecords: rows.map((row) => ({ id: String(row["id"]), deletedDate: restDate(String(row["deleted_at"])) })),
    earliestDateAvailable: restDate(earliestDateAvailable),
    latestDateCovered: restDate(window.latestDateCovered),
  });
}

/** Empties the delete log up to now: older windows are refused from here on. */
export function purgeDeleteLog(parts: Parts): void {
  parts.database.run("DELETE FROM _deleted");
  parts.database.run(
    "INSERT OR REPLACE INTO _setting VALUES ('delete_log_from', ?)",
    toMinute(parts.clock.now()).toISOString(),
  );
}

/** Fifteen days back, or since the last purge. */
function earliest(parts: Parts): Date {
  const floor = toMinute(new Date(parts.clock.now().getTime() - 15 * DAY_MS - MINUTE_MS));
  const purged = parts.database.first("SELECT value FROM _setting WHERE name = 'delete_log_from'")?.["value"];
  return typeof purged === "string" && new Date(purged) > floor ? new Date(purged) : floor;
}

function windowOf({ parts, query }: RestCall, object: SObject, days: number): Window {
  if (!object.replicateable) throw new Refusal("INVALID_TYPE", `${object.name} is not replicateable`);
  const moment = (part: string) => toMinute(dateOf(query.get(part) ?? "", `${part}Date`));
  const window = { start: moment("start"), end: moment("end") };
  const now = parts.clock.now();
  if (window.end <= window.start)
    throw new Refusal("INVALID_REPLICATION_DATE", "endDate must be at least one minute greater than startDate");
  if (window.start.getTime() < now.getTime() - days * DAY_MS - MINUTE_MS) {
    throw new Refusal("INVALID_REPLICATION_DATE", `startDate cannot be more than ${days} days ago`);
  }
  const lag = parts.faults.on("laggingReplication", { object: object.name });
  const settled = Math.min(
    window.end.getTime(),
    now.getTime() - (lag?.milliseconds ?? 0),
    parts.transactions.oldestStart?.getTime() ?? now.getTime(),
  );
  const latestDateCovered = toMinute(new Date(settled));
  return { ...window, ...(lag && { end: latestDateCovered }), latestDateCovered };
}

function toMinute(date: Date): Date {
  return new Date(Math.floor(date.getTime() / MINUTE_MS) * MINUTE_MS);
}

function dateOf(text: string, name: string): Date {
  const date = new Date(text.replace(" ", "+").replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  if (Number.isNaN(date.getTime())) throw new Refusal("INVALID_REPLICATION_DATE", `${name} is not a date: ${text}`);
  return date;
}

const restDate = (date: Date | string): string =>
  (typeof date === "string" ? date : date.toISOString()).replace("Z", "+0000");
