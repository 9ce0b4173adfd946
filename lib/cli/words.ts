/** A number with what it counts: `1 row`, `2 rows`, `no rows`. */
export const count = (number: number, one: string, many: string): string =>
  number === 0 ? `no ${many}` : `${number} ${number === 1 ? one : many}`;

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** A time of the service for a table: `05:43:12` of today, `27 Nov 05:43`, or `27 Nov 2025`, on this machine's clock. */
export function shortTime(text: string, now = new Date()): string {
  if (!ISO.test(text)) return text;
  const at = new Date(text);
  const [, month, date, year, time = ""] = at.toString().split(" ");
  if (at.toDateString() === now.toDateString()) return time;
  const day = `${Number(date)} ${month}`;
  return at.getFullYear() === now.getFullYear() ? `${day} ${time.slice(0, 5)}` : `${day} ${year}`;
}

const relative = new Intl.RelativeTimeFormat("en");

/** The same in a sentence: `5 minutes ago`, `in 3 hours`, and the date where it is a day or more away. */
export function spokenTime(text: string, now = new Date()): string {
  if (!ISO.test(text)) return text;
  const seconds = Math.round((Date.parse(text) - now.getTime()) / 1000);
  const size = Math.abs(seconds);
  if (size < 60) return relative.format(seconds, "second");
  if (size < 3600) return relative.format(Math.trunc(seconds / 60), "minute");
  return size < 86_400 ? relative.format(Math.trunc(seconds / 3600), "hour") : shortTime(text, now);
}

/** Names of the API that people call otherwise. */
const LABELS: Readonly<Record<string, string>> = {
  sf_object: "object",
  pg_table: "table",
  sync_direction: "direction",
  sf_polling_seconds: "seconds between pulls",
  when_quiet_seconds: "seconds between pulls when quiet",
  sf_notify_enabled: "doorbell",
  calls_used: "calls used by all clients",
  own_calls: "calls used by Bridge",
  allowed_calls: "calls that Bridge may use",
  most_calls: "calls that Bridge may use at most",
};

/** A name of the API as people read it: `last run` for `last_run_at`. */
export const labelOf = (name: string): string =>
  LABELS[name] ??
  name
    .replace(/_at$/, "")
    .replaceAll("_", " ")
    .replace(/\bsf\b/, "Salesforce")
    .replace(/\bpg\b/, "PostgreSQL")
    .replace(/\b(?:api|url)\b/g, (word) => word.toUpperCase());
