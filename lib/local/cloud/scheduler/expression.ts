import { invalid } from "./errors.ts";

/** When a schedule is to run, in epoch milliseconds. */
export interface Expression {
  readonly isOneTime: boolean;
  /** The first occurrence at or after a time, or null when there is none. `anchor` is when a rate began. */
  firstFrom(time: number, anchor: number): number | null;
}

const MILLISECONDS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
const RATE = /^rate\(([1-9]\d{0,8}) (minute|hour|day)s?\)$/;
const MINUTES = /^cron\(([0-5]?\d)\/([1-9]\d?) \* \* \* \? \*\)$/;
const AT = /^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$/;

/** Reads `rate(value unit)`, `at(yyyy-mm-ddThh:mm:ss)` and of `cron` minutes of the hour alone, `cron(2/5 * * * ? *)`. */
export function parseExpression(text: string): Expression {
  const [, value, unit] = RATE.exec(text) ?? [];
  if (unit !== undefined) return rate(Number(value) * MILLISECONDS[unit as keyof typeof MILLISECONDS]);
  const [, first, every] = MINUTES.exec(text)?.map(Number) ?? [];
  if (first !== undefined && every !== undefined) return minutesOfHour(first, every);
  const time = momentOf(AT.exec(text)?.[1]);
  if (time !== null) return once(time);
  if (text.startsWith("cron(")) {
    throw invalid(`Invalid Schedule Expression ${text}. The embedded cloud knows rate, at, and minutes of cron.`);
  }
  throw invalid(`Invalid Schedule Expression ${text}.`);
}

/** Null for what no calendar has, such as 30 February, which Date would take for a day in March. */
function momentOf(text: string | undefined): number | null {
  const time = Date.parse(`${text}Z`);
  return !Number.isNaN(time) && new Date(time).toISOString() === `${text}.000Z` ? time : null;
}

function rate(every: number): Expression {
  return {
    isOneTime: false,
    firstFrom: (time, anchor) => anchor + Math.max(0, Math.ceil((time - anchor) / every)) * every,
  };
}

/** The minute `first` of each hour, and each `every` minutes after it within the hour. */
function minutesOfHour(first: number, every: number): Expression {
  const isMeant = (minute: number) => minute >= first && (minute - first) % every === 0;
  return {
    isOneTime: false,
    firstFrom: (time) => {
      let minute = Math.ceil(time / MILLISECONDS.minute);
      while (!isMeant(minute % 60)) minute += 1;
      return minute * MILLISECONDS.minute;
    },
  };
}

function once(moment: number): Expression {
  return { isOneTime: true, firstFrom: (time) => (moment >= time ? moment : null) };
}
