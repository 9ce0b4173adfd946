import { expect, test } from "vitest";
import { type RememberedEntries, rememberedEntries } from "../../../lib/adapters/dynamodb/remembered-entries.ts";

const TEN = "x".repeat(10);

/** Reads a page twice, as somebody does who looks at it again. */
function addTwice(remembered: RememberedEntries, pk: string, sequence: number, listed = TEN): void {
  remembered.add(pk, [[sequence, listed]]);
  remembered.add(pk, [[sequence, listed]]);
}

test("entries are known by partition and number", () => {
  const remembered = rememberedEntries();
  addTwice(remembered, "ws_1", 7, "seven");

  expect(remembered.read("ws_1", 7)).toBe("seven");
  expect([remembered.read("ws_1", 8), remembered.read("ws_2", 7)]).toEqual([undefined, undefined]);
  expect([remembered.knows("ws_1"), remembered.knows("ws_2")]).toEqual([true, false]);
});

test("an entry is known once it was asked for twice, in each log for itself", () => {
  const remembered = rememberedEntries();
  const page = (newest: number) => [newest, newest - 1, newest - 2].map((sequence) => [sequence, TEN] as const);
  remembered.add("ws_1", page(9));
  remembered.add("ws_2", page(9));
  expect(remembered.knows("ws_1")).toBe(false);

  remembered.add("ws_1", page(8));

  expect([9, 8, 7, 6].filter((sequence) => remembered.read("ws_1", sequence))).toEqual([8, 7]);
  expect(remembered.knows("ws_2")).toBe(false);
});

test("who reads a log once leaves nothing behind, and what he began with is new when he begins again", () => {
  const remembered = rememberedEntries();
  for (let sequence = 1000; sequence > 0; sequence -= 1) remembered.add("ws_1", [[sequence, TEN]]);
  remembered.add("ws_1", [[1000, TEN]]);

  expect(remembered.knows("ws_1")).toBe(false);
});

test("what nobody asks for is forgotten when there is no room, and what is asked for stays", () => {
  const remembered = rememberedEntries(100);
  addTwice(remembered, "asked", 0);
  addTwice(remembered, "left", 0);

  for (let sequence = 1; sequence <= 50; sequence += 1) {
    addTwice(remembered, "ws_1", sequence);
    expect(remembered.read("asked", 0)).toBe(TEN);
  }

  expect([remembered.knows("asked"), remembered.knows("left")]).toEqual([true, false]);
  const kept = Array.from({ length: 50 }, (_, at) => remembered.read("ws_1", at + 1)).filter((entry) => entry);
  expect(kept.length).toBeLessThanOrEqual(20);
  expect(kept.length).toBeGreaterThan(0);
});

test("an entry that is larger than all room is known until the next one", () => {
  const remembered = rememberedEntries(5);
  addTwice(remembered, "ws_1", 1);
  expect(remembered.read("ws_1", 1)).toBe(TEN);

  addTwice(remembered, "ws_1", 2);
  addTwice(remembered, "ws_1", 3);

  expect(remembered.read("ws_1", 1)).toBeUndefined();
});
