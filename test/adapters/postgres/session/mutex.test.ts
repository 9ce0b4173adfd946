import { expect, test } from "vitest";
import { createPriorityQueue } from "../../../../lib/adapters/postgres/session/mutex.ts";

/** Work that notes its beginning and its end, some turns of the event loop later. */
function noting() {
  const log: string[] = [];
  const work = (name: string) => async () => {
    log.push(`${name} begins`);
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    log.push(`${name} ends`);
    return name;
  };
  return { log, work };
}

test("one thing is done at a time, in the order in which it was asked for", async () => {
  const { log, work } = noting();
  const turns = createPriorityQueue();

  const answers = await Promise.all(["a", "b", "c"].map((name) => turns(work(name))));

  expect(answers).toEqual(["a", "b", "c"]);
  expect(log).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

test("a failure is its own, and the next one has its turn", async () => {
  const { work } = noting();
  const turns = createPriorityQueue();
  const fails = () => {
    throw new Error("at once");
  };

  const failed = turns(fails);
  const later = turns(work("a"));

  await expect(failed).rejects.toThrow("at once");
  expect(await later).toBe("a");
  expect(await turns(work("b"))).toBe("b");
});
