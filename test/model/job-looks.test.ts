import { describe, expect, test } from "vitest";
import { firstLook, nextLook, paceAfter, UNKNOWN_PACE } from "../../lib/model/job-looks.ts";

const RECORDS = 2_500;

interface Worked {
  readonly starts: readonly number[];
  /** How long each takes once the one before is over, in milliseconds. */
  readonly takes: readonly number[];
  /** Whether Salesforce tells how many records it has done; it may not until all are. */
  readonly tellsProgress: boolean;
}

/** Looks after jobs as a push does, one after the other: how late the end of each was seen, and how often each was looked at. */
function lookAfter({ starts, takes, tellsProgress }: Worked) {
  let pace = UNKNOWN_PACE;
  let now = 0;
  let free = 0;
  return starts.map((startedAt, index) => {
    const begins = Math.max(startedAt, free);
    const duration = takes[index] ?? 0;
    free = begins + duration;
    let looks = 0;
    let before = 0;
    for (let look = firstLook(startedAt); ; ) {
      now = Math.max(now, look);
      looks += 1;
      if (now >= free) break;
      const done = Math.floor((RECORDS * Math.max(0, now - begins)) / duration);
      const processed = tellsProgress ? done : 0;
      look = nextLook({ startedAt, records: RECORDS, processed, before }, pace, now);
      before = processed;
      expect(look, "never a look without a wait").toBeGreaterThanOrEqual(now + 10);
    }
    pace = paceAfter({ startedAt, records: RECORDS }, pace, now, looks > 1);
    return { late: now - free, looks };
  });
}

const STARTS = [0, 90, 160, 250];

describe.each([150, 800, 4_000])("jobs that take %i ms each", (duration) => {
  const takes = STARTS.map(() => duration);

  test("are seen to be over soon after they are, where Salesforce tells how far it is", () => {
    for (const { late, looks } of lookAfter({ starts: STARTS, takes, tellsProgress: true })) {
      expect(late).toBeLessThanOrEqual(Math.max(40, duration / 10));
      expect(looks).toBeLessThanOrEqual(5);
    }
  });

  test("are seen by the pace of those before, where it does not", () => {
    const [first, ...others] = lookAfter({ starts: STARTS, takes, tellsProgress: false });

    expect(first?.late).toBeLessThanOrEqual(2 * duration);
    for (const { late, looks } of others) {
      expect(late).toBeLessThanOrEqual(1.1 * duration);
      expect(looks).toBeLessThanOrEqual(7);
    }
  });
});

test("a job that takes a hundred times as long as the one before costs few calls", () => {
  const [, slow] = lookAfter({ starts: [0, 50], takes: [200, 20_000], tellsProgress: false });

  expect(slow?.looks).toBeLessThanOrEqual(10);
});

test("a job that was slow to begin is looked after by the pace of those before it, and the less the more it has done", () => {
  const pace = { freeSince: 0, perRecord: 0.02 }; // 50 ms for all
  const job = { startedAt: 0, records: RECORDS, before: 0 };

  expect(nextLook({ ...job, processed: 250 }, pace, 60) - 60, "540 ms by its own pace").toBeLessThanOrEqual(100);
  expect(nextLook({ ...job, processed: 2_000 }, pace, 400) - 400, "100 ms by its own pace").toBeGreaterThanOrEqual(80);
});

test("a job that takes ten times as long as those before it costs few calls where it tells how far it is", () => {
  const looked = lookAfter({ starts: [0, 50, 90], takes: [2_000, 2_000, 20_000], tellsProgress: true });

  expect(looked[2]?.looks).toBeLessThanOrEqual(12);
  expect(looked[2]?.late).toBeLessThanOrEqual(1_500);
});

test("a job that is nearly over is looked at when it says it will be, unless it stands still", () => {
  const job = { startedAt: 0, records: 1_000, processed: 960 };

  expect(nextLook({ ...job, before: 400 }, UNKNOWN_PACE, 10_000)).toBeLessThanOrEqual(10_650);
  expect(nextLook({ ...job, before: 960 }, UNKNOWN_PACE, 10_000)).toBe(12_500);
});

test("a job that crawls through its last records costs no more than two calls a second", () => {
  let now = 1_000;
  let looks = 0;
  for (let processed = 900; now < 21_000; processed += 1, looks += 1) {
    now = nextLook({ startedAt: 0, records: 1_000, processed, before: processed - 1 }, UNKNOWN_PACE, now);
  }

  expect(looks).toBeLessThanOrEqual(40);
});

test("a job that stands still when all is told as done is not asked without end", () => {
  let now = 1_000;
  let looks = 0;
  for (; now < 21_000; looks += 1) {
    now = nextLook({ startedAt: 0, records: RECORDS, processed: RECORDS, before: RECORDS }, UNKNOWN_PACE, now);
  }

  expect(looks).toBeLessThanOrEqual(14);
});
