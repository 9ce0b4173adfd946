import { expect, test } from "vitest";
import { database, now } from "../../../../functions/services/composition.ts";
import { rateLimits } from "../../../../lib/adapters/dynamodb/access/rate-limits.ts";
import { readItem } from "../../../../lib/adapters/dynamodb/client/read-item.ts";
import { aCloud, cloud } from "../../cloud.ts";

aCloud();
test("each of many requests at once, in several processes, gets a number of its own and none is skipped", async () => {
  const processes = [rateLimits(database()), rateLimits(database()), rateLimits(database())];

  const counted = await Promise.all(
    Array.from({ length: 300 }, async (_, at) => {
      if (at % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
      return processes[at % processes.length]?.count("203.0.113.1", now());
    }),
  );

  expect(counted.toSorted((one = 0, other = 0) => one - other)).toEqual(Array.from({ length: 300 }, (_, at) => at + 1));
});

test("sources and minutes are counted apart", async () => {
  const limits = rateLimits(database());

  expect(await limits.count("203.0.113.2", now())).toBe(1);
  expect(await limits.count("203.0.113.3", now())).toBe(1);
  await cloud.clock.advance({ minutes: 1 });
  expect(await limits.count("203.0.113.2", now())).toBe(1);
  expect(await limits.count("203.0.113.2", now())).toBe(2);
  const minute = Math.floor(now().getTime() / 60_000);
  const counted = await readItem(database(), "rateLimits", { pk: `203.0.113.2#${minute}` });
  expect(counted).toMatchObject({ expires_at: (minute + 6) * 60 });
});

test("a write that fails rejects every caller that waited for it, and the next request is counted again", async () => {
  const whole = database();
  let isBroken = true;
  const limits = rateLimits({ ...whole, table: (name) => (isBroken ? "no-such-table" : whole.table(name)) });

  const failed = await Promise.allSettled([limits.count("203.0.113.4", now()), limits.count("203.0.113.4", now())]);
  isBroken = false;

  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await limits.count("203.0.113.4", now())).toBe(1);
});
