import { expect, test } from "vitest";
import { readAhead } from "../../../lib/sync/load/read-ahead.ts";

/** Parts that tell when they are asked for, and when nobody wants more of them. */
function source(events: string[], parts: number, failsAt = Number.POSITIVE_INFINITY) {
  return (async function* () {
    try {
      for (let part = 1; part <= parts; part++) {
        events.push(`asked for ${part}`);
        if (part === failsAt) throw new Error("broke off");
        yield part;
      }
    } finally {
      events.push("closed");
    }
  })();
}

test("each part is asked for before the one in hand is worked on, and one at a time", async () => {
  const events: string[] = [];

  for await (const part of readAhead(source(events, 3))) events.push(`worked on ${part}`);

  expect(events).toEqual([
    "asked for 1",
    "asked for 2",
    "worked on 1",
    "asked for 3",
    "worked on 2",
    "closed",
    "worked on 3",
  ]);
});

test("what broke off is told in its place, after all that came before it", async () => {
  const worked: number[] = [];
  const work = async () => {
    for await (const part of readAhead(source([], 3, 2))) worked.push(part);
  };

  await expect(work()).rejects.toThrow("broke off");

  expect(worked).toEqual([1]);
});

test("when the work ends early nothing more is asked for", async () => {
  const events: string[] = [];

  for await (const part of readAhead(source(events, 9))) if (part === 1) break;

  await expect.poll(() => events).toEqual(["asked for 1", "asked for 2", "closed"]);
});
