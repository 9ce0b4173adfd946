import { Refusal } from "../refusal.ts";

/** The text inside a SOQL string literal. */
export function unquoted(literal: string): string {
  const inner = literal.replace(/^'|'$/g, "");
  return inner.replace(/\\(u[0-9a-fA-F]{4}|.)/g, (_, code: string) => {
    if (code.startsWith("u")) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }[code.toLowerCase()] ?? code;
  });
}

/** A SOQL datetime with any offset, as the org stores datetimes: UTC, whole seconds. */
export function storedDateTime(literal: string): string {
  const moment = Date.parse(literal.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  if (Number.isNaN(moment)) throw new Refusal("MALFORMED_QUERY", `invalid dateTime: ${literal}`);
  return new Date(Math.floor(moment / 1000) * 1000).toISOString();
}

/** A span of days: from the first up to but not including the last, both `YYYY-MM-DD`. */
export interface Span {
  readonly from: string;
  readonly until: string;
}

type Unit = "DAY" | "WEEK" | "MONTH" | "QUARTER" | "YEAR";

/** The days that `TODAY`, `LAST_N_DAYS:3`, `THIS_QUARTER` … mean. Weeks begin on Sunday, fiscal years in January. */
export function spanOf(literal: string, now: Date): Span {
  const [rawName = "", count] = literal.toUpperCase().split(":");
  const name = rawName.replace("FISCAL_", "");
  const n = Number(count ?? 0);
  const single = { YESTERDAY: -1, TODAY: 0, TOMORROW: 1 }[name];
  if (single !== undefined) return units("DAY", now, single, 1);

  const ninety = /^(LAST|NEXT)_90_DAYS$/.exec(name)?.[1];
  if (ninety) return ninety === "LAST" ? units("DAY", now, -89, 90) : units("DAY", now, 1, 90);
  const relative = /^(LAST|THIS|NEXT)_(WEEK|MONTH|QUARTER|YEAR)$/.exec(name);
  if (relative) return units(relative[2] as Unit, now, { LAST: -1, THIS: 0, NEXT: 1 }[relative[1] ?? ""] ?? 0, 1);
  const ago = /^N_(DAY|WEEK|MONTH|QUARTER|YEAR)S_AGO$/.exec(name);
  if (ago) return units(ago[1] as Unit, now, -n, 1);
  const several = /^(LAST|NEXT)_N_(DAY|WEEK|MONTH|QUARTER|YEAR)S$/.exec(name);
  if (!several) throw new Refusal("MALFORMED_QUERY", `unexpected token: ${literal}`);
  const unit = several[2] as Unit;
  if (several[1] === "NEXT") return units(unit, now, 1, n);
  // The last n days end with today; the last n weeks, months … end before the current one.
  return unit === "DAY" ? units("DAY", now, -n, n + 1) : units(unit, now, -n, n);
}

/** `length` units, starting `offset` units from the current one. */
function units(unit: Unit, now: Date, offset: number, length: number): Span {
  return { from: startOf(unit, now, offset), until: startOf(unit, now, offset + length) };
}

function startOf(unit: Unit, now: Date, offset: number): string {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const start: Record<Unit, () => number> = {
    DAY: () => Date.UTC(year, month, day + offset),
    WEEK: () => Date.UTC(year, month, day - now.getUTCDay() + 7 * offset),
    MONTH: () => Date.UTC(year, month + offset, 1),
    QUARTER: () => Date.UTC(year, (Math.floor(month / 3) + offset) * 3, 1),
    YEAR: () => Date.UTC(year + offset, 0, 1),
  };
  return new Date(start[unit]()).toISOString().slice(0, 10);
}
