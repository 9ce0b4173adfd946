import { describe, expect, test } from "vitest";
import { createTestClock, systemClock } from "../../lib/local/clock.ts";

const NOON = new Date("2026-03-01T12:00:00Z");

describe("a clock moved by hand", () => {
  test("does not move until it is moved", async () => {
    const clock = createTestClock(NOON);

    await clock.advance({ hours: 1, minutes: 2, seconds: 3, milliseconds: 4 });

    expect(new Date(clock.now()).toISOString()).toBe("2026-03-01T13:02:03.004Z");
  });

  test("fires what is due in the order of its time, each at its own time", async () => {
    const clock = createTestClock(NOON);
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name} +${(clock.now() - NOON.getTime()) / 1000}`);
    clock.at(NOON.getTime() + 30_000, note("b"));
    clock.at(NOON.getTime() + 10_000, note("a"));
    clock.at(NOON.getTime() + 30_000, note("c"));
    clock.at(NOON.getTime() + 61_000, note("later"));

    await clock.advance({ minutes: 1 });

    expect(fired).toEqual(["a +10", "b +30", "c +30"]);
  });

  test("awaits what a timer starts, and the timers that this sets one after the other", async () => {
    const clock = createTestClock(NOON);
    const fired: number[] = [];
    const again = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      fired.push((clock.now() - NOON.getTime()) / 1000);
      clock.at(clock.now() + 10_000, again);
    };
    clock.at(NOON.getTime() + 10_000, again);

    await clock.advance({ seconds: 35 });

    expect(fired).toEqual([10, 20, 30]);
  });

  test("awaits work that was announced before it lets time continue", async () => {
    const clock = createTestClock(NOON);
    let endedAt = 0;
    clock.at(NOON.getTime() + 1_000, () => {
      void clock.during(
        new Promise<void>((resolve) => {
          setTimeout(() => {
            endedAt = clock.now();
            resolve();
          }, 20);
        }),
      );
    });

    await clock.advance({ minutes: 5 });

    expect(endedAt).toBe(NOON.getTime() + 1_000);
  });

  test("does not fire what was cancelled", async () => {
    const clock = createTestClock(NOON);
    const fired: string[] = [];
    const cancel = clock.at(NOON.getTime() + 1_000, () => fired.push("cancelled"));
    clock.at(NOON.getTime() + 2_000, () => fired.push("kept"));

    cancel();
    await clock.advance({ seconds: 5 });

    expect(fired).toEqual(["kept"]);
  });

  test("runs what is already due without being moved", async () => {
    const clock = createTestClock(NOON);
    const fired: string[] = [];
    clock.at(NOON.getTime() - 1, () => fired.push("overdue"));

    await clock.settle();

    expect(fired).toEqual(["overdue"]);
  });

  test("rejects with the error that a timer threw", async () => {
    const clock = createTestClock(NOON);
    clock.at(NOON.getTime() + 1, async () => {
      throw new Error("the timer failed");
    });

    await expect(clock.advance({ seconds: 1 })).rejects.toThrow("the timer failed");
  });
});

describe("the machine's own clock", () => {
  test("fires at the time asked for, not before", async () => {
    const due = Date.now() + 30;

    const firedAt = await new Promise<number>((resolve) => systemClock.at(due, () => resolve(systemClock.now())));

    expect(firedAt).toBeGreaterThanOrEqual(due);
  });

  test("does not fire what was cancelled", async () => {
    const fired: string[] = [];
    const cancel = systemClock.at(Date.now() + 5, () => fired.push("cancelled"));
    cancel();

    await new Promise((resolve) => systemClock.at(Date.now() + 20, () => resolve(undefined)));

    expect(fired).toEqual([]);
  });
});
