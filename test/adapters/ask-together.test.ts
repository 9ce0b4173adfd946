import { expect, test } from "vitest";
import { askTogether } from "../../lib/adapters/ask-together.ts";

/** A store whose answers are given by hand: each is the number of its asking. */
function slowStore() {
  const askings: PromiseWithResolvers<number>[] = [];
  const ask = () => {
    const asking = Promise.withResolvers<number>();
    askings.push(asking);
    return asking.promise;
  };
  return { askings, ask, answer: (at: number) => askings[at]?.resolve(at) };
}

test("whoever asks while the same question is under way shares the next answer, never the one begun before", async () => {
  const store = slowStore();
  const together = askTogether();

  const first = together("page 1", store.ask);
  const [second, third] = [together("page 1", store.ask), together("page 1", store.ask)];
  expect(store.askings.length).toBe(1);
  store.answer(0);
  expect(await first).toBe(0);
  store.answer(1);

  expect(await Promise.all([second, third])).toEqual([1, 1]);
  expect(store.askings.length).toBe(2);
});

test("another question does not wait, and an answer is not remembered", async () => {
  const store = slowStore();
  const together = askTogether();

  const [one, other] = [together("page 1", store.ask), together("page 2", store.ask)];
  store.answer(1);
  expect(await other).toBe(1);
  store.answer(0);
  expect(await one).toBe(0);
  const later = together("page 1", store.ask);
  store.answer(2);

  expect(await later).toBe(2);
});

test("a question that failed is asked again for those who came meanwhile", async () => {
  const store = slowStore();
  const together = askTogether();

  const [first, second] = [together("page 1", store.ask), together("page 1", store.ask)];
  store.askings[0]?.reject(new Error("the store is away"));
  await expect(first).rejects.toThrow("the store is away");
  store.answer(1);

  expect(await second).toBe(1);
});

test("one that took long to fail has failed for those who came meanwhile, too, and is asked anew by the next", async () => {
  const store = slowStore();
  let time = 0;
  const together = askTogether(() => time);

  const asked = [together("page 1", store.ask), together("page 1", store.ask), together("page 1", store.ask)];
  time = 15_000;
  store.askings[0]?.reject(new Error("no answer in time"));
  const told = await Promise.allSettled(asked);

  expect(told.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(store.askings.length).toBe(1);
  const later = together("page 1", store.ask);
  store.answer(1);
  expect(await later).toBe(1);
});
