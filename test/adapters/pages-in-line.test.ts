import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pagesInLine } from "../../lib/adapters/pages-in-line.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Pages that are read until they are told to end, in the order in which their reading began. */
function manyPages() {
  const begun: number[] = [];
  const pages = Array.from({ length: 7 }, () => Promise.withResolvers<string>());
  const read = (place: number) => () => {
    begun.push(place);
    return pages[place]?.promise ?? Promise.reject(new Error("no such page"));
  };
  return { begun, read, end: (place: number) => pages[place]?.resolve(`page ${place}`) };
}

test("pages are read three at a time, in the order in which they were asked for", async () => {
  const { begun, read, end } = manyPages();
  const inLine = pagesInLine();
  const answers = [0, 1, 2, 3, 4, 5, 6].map((place) => inLine(read(place)));
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual([0, 1, 2]);

  for (const place of [2, 0]) {
    end(place);
    await vi.advanceTimersByTimeAsync(0);
  }

  expect(begun).toEqual([0, 1, 2, 3, 4]);
  for (const place of [1, 3, 4, 5, 6]) end(place);
  expect(await Promise.all(answers)).toEqual([0, 1, 2, 3, 4, 5, 6].map((place) => `page ${place}`));
});

test("what takes longer than a second gives its turn away and is read all the same", async () => {
  const { begun, read, end } = manyPages();
  const inLine = pagesInLine();
  const stuck = [0, 1, 2].map((place) => inLine(read(place)));
  const next = inLine(read(3));
  await vi.advanceTimersByTimeAsync(999);
  expect(begun).toEqual([0, 1, 2]);

  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual([0, 1, 2, 3]);
  end(3);
  expect(await next).toBe("page 3");
  for (const place of [0, 1, 2]) end(place);

  expect(await Promise.all(stuck)).toEqual(["page 0", "page 1", "page 2"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("what fails is told, and gives its turn back", async () => {
  const inLine = pagesInLine();
  const broken = () => inLine(() => Promise.reject(new Error("broken")));

  for (let time = 0; time < 5; time += 1) await expect(broken()).rejects.toThrow("broken");
  const thrown = inLine(() => {
    throw new Error("thrown");
  });
  await expect(thrown).rejects.toThrow("thrown");
  expect(await inLine(() => Promise.resolve("page"))).toBe("page");
});
