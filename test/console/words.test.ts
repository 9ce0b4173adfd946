import { afterEach, describe, expect, test, vi } from "vitest";
import {
  ago,
  beginningOf,
  clock,
  counted,
  dayOf,
  daysBetween,
  duration,
  sentence,
  utc,
} from "../../lib/console/parts/words.ts";

const ZONES = ["Asia/Kolkata", "America/New_York", "UTC"] as const;

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A time of the day as the reader's language writes it, in a zone. */
const written = (at: string, timeZone: string, more: Intl.DateTimeFormatOptions = {}) =>
  new Intl.DateTimeFormat(undefined, { timeZone, ...more }).format(new Date(at));

const CLOCK = { hour: "2-digit", minute: "2-digit" } as const;
const DAY = { day: "numeric", month: "short" } as const;

describe.each(ZONES)("for a reader in %s", (zone) => {
  test.each([
    ["2026-11-20T22:45:00.999Z", "2026-11-20 22:45:00 UTC"],
    ["2026-11-20T01:30:00+05:30", "2026-11-19 20:00:00 UTC"],
    ["2026-03-08T07:30:00.5Z", "2026-03-08 07:30:00 UTC"],
  ])("what is called UTC is UTC: %s", (at, text) => {
    vi.stubEnv("TZ", zone);

    expect([utc(at), utc(new Date(at))]).toEqual([text, text]);
  });

  test.each([
    ["2026-11-20T12:03:22Z", null, { ...CLOCK, second: "2-digit" }],
    ["2026-11-19T12:00:00Z", DAY, CLOCK],
    ["2025-11-20T12:00:00Z", { ...DAY, year: "numeric" }, CLOCK],
  ] as const)("the clock is the reader's, with seconds today, and names another day and year: %s", (at, day, time) => {
    vi.stubEnv("TZ", zone);

    const shown = clock(at, new Date("2026-11-20T13:00:00Z"));

    expect(shown).toBe(`${day ? `${written(at, zone, day)}, ` : ""}${written(at, zone, time)}`);
  });
});

test("a day ends at the reader's midnight, not at that of UTC", () => {
  vi.stubEnv("TZ", "Asia/Kolkata");
  const [before, after] = ["2026-11-20T18:00:00Z", "2026-11-20T19:00:00Z"];

  expect(clock(before, new Date(after))).toContain(written(before, "Asia/Kolkata", DAY));
  expect(clock(after, new Date(after))).not.toContain(written(after, "Asia/Kolkata", DAY));
});

test.each([
  ["Asia/Kolkata", "2026-11-20", "2026-11-19T18:30:00.000Z", "2026-11-20T18:30:00.000Z"],
  ["America/New_York", "2026-11-01", "2026-11-01T04:00:00.000Z", "2026-11-02T05:00:00.000Z"],
])("in %s the day %s is that of the reader, also where clocks change in it", (zone, day, begins, ends) => {
  vi.stubEnv("TZ", zone);

  expect([beginningOf(day), beginningOf(day, 1)]).toEqual([new Date(begins), new Date(ends)]);
  expect([dayOf(new Date(begins)), dayOf(new Date(ends), -1)]).toEqual([day, day]);
  expect([beginningOf(""), beginningOf("today")]).toEqual([undefined, undefined]);
  expect(daysBetween(day, day)).toEqual({ from: begins, to: ends });
});

test.each([
  [0, "0 ms"],
  [0.85, "850 ms"],
  [1, "1 s"],
  [9.9, "9.9 s"],
  [12.4, "12 s"],
  [89, "89 s"],
  [90, "2 min"],
  [5_399, "90 min"],
  [5_400, "2 h"],
  [129_599, "36 h"],
  [129_600, "2 days"],
])("%d seconds are said as %s", (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

test.each([
  [1_999, "just now"],
  [-1_999, "just now"],
  [3_900, "3 s ago"],
  [180_000, "3 min ago"],
  [2 * 3_600_000, "2 h ago"],
  [3 * 86_400_000, "3 days ago"],
  [-3_100, "in 4 s"],
  [-180_000, "in 3 min"],
])("what was %d ms before now is said as %s", (milliseconds, text) => {
  const now = Date.UTC(2026, 10, 20, 12);
  const at = new Date(now - milliseconds);

  expect([ago(at, now), ago(at.toISOString(), now)]).toEqual([text, text]);
});

test("figures are counted with their noun, whose plural may be given, and a sentence begins with a capital letter", () => {
  const rows = [0, 1, 2_104].map((figure) => counted(figure, "row"));
  expect(rows).toEqual(["0 rows", "1 row", `${(2_104).toLocaleString()} rows`]);
  expect([counted(1, "entry", "entries"), counted(3, "entry", "entries")]).toEqual(["1 entry", "3 entries"]);
  expect([sentence("paused since"), sentence("")]).toEqual(["Paused since", ""]);
});
