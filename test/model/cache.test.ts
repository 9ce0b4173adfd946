import { expect, test } from "vitest";
import { createCache } from "../../lib/model/cache.ts";

/** A cache of three seconds, whose reads are counted, at a time that is set by hand. */
function cacheAt(start: number) {
  let now = start;
  let reads = 0;
  const cached = createCache<number>({ ttl: { milliseconds: 3000, now: () => new Date(now) } });
  const ask = () => cached("a", async () => ++reads);
  const at = (time: number) => {
    now = time;
    return ask();
  };
  return { ask, at };
}

test("what was read is given until its time is over", async () => {
  const { ask, at } = cacheAt(100_000);

  expect([await ask(), await at(102_999), await at(103_000)]).toEqual([1, 1, 2]);
});

test("what was read later than now, by a clock that was set back, is read again", async () => {
  const { ask, at } = cacheAt(100_000);
  await ask();

  expect([await at(40_000), await at(42_000), await at(43_000)]).toEqual([2, 2, 3]);
});

test("callers that miss at once share one read, and one that fails is not kept", async () => {
  let reads = 0;
  const cached = createCache<number>({});
  const ask = () =>
    cached("a", async () => {
      reads += 1;
      if (reads === 1) throw new Error("unavailable");
      return reads;
    });

  await expect(Promise.all([ask(), ask()])).rejects.toThrow("unavailable");
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([2, 2, 2]);
});
