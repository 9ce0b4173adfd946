import { expect, test } from "vitest";
import { rememberedEntries } from "../../../lib/adapters/dynamodb/remembered-entries.ts";

const TEN = "x".repeat(10);

test("entries are known by partition and number", () => {
  const remembered = rememberedEntries();
  remembered.add("ws_1", 7, "seven");

  expect(remembered.read("ws_1", 7)).toBe("seven");
  expect([remembered.read("ws_1", 8), remembered.read("ws_2", 7)]).toEqual([undefined, undefined]);
  expect([remembered.knows("ws_1"), remembered.knows("ws_2")]).toEqual([true, false]);
});

test("what nobody asks for is forgotten when there is no room, and what is asked for stays", () => {
  const remembered = rememberedEntries(100);
  remembered.add("asked", 0, TEN);
  remembered.add("left", 0, TEN);

  for (let sequence = 1; sequence <= 50; sequence += 1) {
    remembered.add("ws_1", sequence, TEN);
    expect(remembered.read("asked", 0)).toBe(TEN);
  }

  expect([remembered.knows("asked"), remembered.knows("left")]).toEqual([true, false]);
  const kept = Array.from({ length: 50 }, (_, at) => remembered.read("ws_1", at + 1)).filter((entry) => entry);
  expect(kept.length).toBeLessThanOrEqual(20);
  expect(kept.length).toBeGreaterThan(0);
});

test("an entry that is larger than all room is known until the next one", () => {
  const remembered = rememberedEntries(5);
  remembered.add("ws_1", 1, TEN);
  expect(remembered.read("ws_1", 1)).toBe(TEN);

  remembered.add("ws_1", 2, TEN);
  remembered.add("ws_1", 3, TEN);

  expect(remembered.read("ws_1", 1)).toBeUndefined();
});
