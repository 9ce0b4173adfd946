import { expect, test } from "vitest";
import { createTestClock, systemClock } from "../../lib/local/clock.ts";

const NOON = new Date("2026-03-01T12:00:00Z");
const after = (seconds: number) => NOON.getTime() + seconds * 1000;

test("a clock moved by hand fires what is due, each at its own time in its order, and awaits what that starts", async () => {
  const clock = createTestClock(NOON);
  const fired: string[] = [];
  const note = (name: string) => () => fired.push(`${name} +${(clock.now() - NOON.getTime()) / 1000}`);
  const again = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    note("again")();
    clock.at(clock.now() + 20_000, again);
  };
  clock.at(after(30), note("b"));
  clock.at(after(10), note("a"));
  clock.at(after(30), note("c"));
  clock.at(after(66), note("later"));
  clock.at(after(20), note("cancelled"))();
  clock.at(after(15), again);
  clock.at(after(-1), note("overdue"));
  await clock.settle();
  expect(fired).toEqual(["overdue +0"]);

  await clock.advance({ minutes: 1, seconds: 5, milliseconds: 4 });

  expect(fired.slice(1)).toEqual(["a +10", "again +15", "b +30", "c +30", "again +35", "again +55"]);
  expect(new Date(clock.now()).toISOString()).toBe("2026-03-01T12:01:05.004Z");
});

test("it awaits work that was announced before it lets time continue, and rejects with the error of a timer", async () => {
  const clock = createTestClock(NOON);
  let endedAt = 0;
  clock.at(after(1), () => {
    const work = new Promise((resolve) => setTimeout(resolve, 20)).then(() => {
      endedAt = clock.now();
    });
    void clock.during(work);
  });

  await clock.advance({ minutes: 5 });
  clock.at(clock.now() + 1, () => Promise.reject(new Error("the timer failed")));

  expect(endedAt).toBe(after(1));
  await expect(clock.advance({ seconds: 1 })).rejects.toThrow("the timer failed");
});

test("the machine's own clock fires at the time asked for, not before, and not what was cancelled", async () => {
  const due = Date.now() + 20;
  const fired: string[] = [];
  systemClock.at(due - 10, () => fired.push("cancelled"))();

  const firedAt = await new Promise<number>((resolve) => systemClock.at(due, () => resolve(systemClock.now())));

  expect(firedAt).toBeGreaterThanOrEqual(due);
  expect(fired).toEqual([]);
});
