/** Numbers as the reader's language writes them. */
export const count = (figure: number): string => new Intl.NumberFormat().format(figure);

/** `1 row`, `2,104 rows` */
export const counted = (figure: number, one: string, many = `${one}s`): string =>
  `${count(figure)} ${figure === 1 ? one : many}`;

/** Seconds as people say them: `850 ms`, `12 s`, `4 min`, `3 h`, `2 days`. */
export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 90) return `${seconds < 10 ? trimmed(seconds) : Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`;
  return counted(Math.round(seconds / 86_400), "day");
}

const trimmed = (seconds: number): string => seconds.toFixed(1).replace(/\.0$/, "");

/** The time in the reader's zone: the clock alone for today, the date as well for other days. */
export function clock(at: string | Date, now = new Date()): string {
  const date = new Date(at);
  const isToday = date.toDateString() === now.toDateString();
  const time = date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  if (isToday) return time;
  const isThisYear = date.getFullYear() === now.getFullYear();
  const day = date.toLocaleDateString(undefined, {
    day: "numeric",
    month: "short",
    ...(!isThisYear && { year: "numeric" }),
  });
  return `${day}, ${date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" })}`;
}

/** The whole date and time in the reader's zone: `Fri, 20 Nov 2026, 12:03:22`. */
export const date = (at: string | Date): string =>
  new Date(at).toLocaleString(undefined, {
    ...{ weekday: "short", day: "numeric", month: "short", year: "numeric" },
    ...{ hour: "2-digit", minute: "2-digit", second: "2-digit" },
  });

/** A day of the reader's zone, so many days from one of its times: `2026-11-20` */
export function dayOf(at: Date, daysLater = 0): string {
  const day = new Date(at.getFullYear(), at.getMonth(), at.getDate() + daysLater);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** When such a day begins in the reader's zone, or the day so many days later; undefined: it is no day. */
export function beginningOf(day: string, daysLater = 0): Date | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  return year ? new Date(Number(year), Number(month) - 1, Number(date) + daysLater) : undefined;
}

/** From the beginning of one such day to the end of another, for an address of the API; undefined: without a bound. */
export const daysBetween = (from = "", to = "") => ({
  from: beginningOf(from)?.toISOString(),
  to: beginningOf(to, 1)?.toISOString(),
});

/** `2026-11-20 12:03:22 UTC` */
export const utc = (at: string | Date): string =>
  `${new Date(at)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, "")} UTC`;

/** `3 min ago`, `in 40 s` */
export function ago(at: string | Date, now: number): string {
  const seconds = (now - new Date(at).getTime()) / 1000;
  if (Math.abs(seconds) < 2) return "just now";
  return seconds > 0 ? `${duration(Math.floor(seconds))} ago` : `in ${duration(Math.ceil(-seconds))}`;
}

/** The first letter large, as at the beginning of a sentence. */
export const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
