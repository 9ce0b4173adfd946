import { expect, test } from "vitest";
import { createCache } from "../../lib/model/cache.ts";

/** A cache of three seconds, whose reads are counted, at a time that is set by hand. */
function cachedFor3Seconds() {
  let now = 0;
  let reads = 0;
  const cached = createCache<number>({ ttl: { milliseconds: 3000, now: () => new Date(now) } });
  return (time: number) => {
    now = time;
    return cached("a", async () => ++reads);
  };
}

test.each([
  ["given until its time is over", [100_000, 102_999, 103_000], [1, 1, 2]],
  [
    "read again where that was later than now, by a clock that was set back",
    [100_000, 40_000, 42_000, 43_000],
    [1, 2, 2, 3],
  ],
])("what was read is %s", async (_, times, given) => {
  const at = cachedFor3Seconds();
  const read: number[] = [];
  for (const time of times) read.push(await at(time));

  expect(read).toEqual(given);
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
