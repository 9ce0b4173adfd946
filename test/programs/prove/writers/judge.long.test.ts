import { expect, test } from "vitest";
import { chanceOf, type DoubleWrite, type Evidence, judge } from "./judge.ts";

const WRITE: DoubleWrite = { policy: "salesforce_wins", sfid: "a01", field: "Name", ours: "ours", theirs: "theirs" };
const CONFLICT = { field: "name", postgres: "ours", salesforce: "theirs", winner: "salesforce" };

const at = (second: number) => Date.UTC(2026, 0, 1, 0, 0, second);
const saved = (order: number, value: string) => ({
  order,
  at: at(order),
  userId: value === "ours" ? "bridge" : "colleague",
  stamp: new Date(at(order)),
  values: { Name: value },
});
const readIn = (order: number) => ({ order, at: at(order), ids: null });

/** What is found where the row was written in second 5 and the colleague won. */
const found = (more: Partial<Evidence>): Evidence => ({
  captured: { at: new Date(at(5)), old: "before" },
  saves: [saved(6, "theirs")],
  readings: [readIn(7)],
  bridgeUserId: "bridge",
  row: "theirs",
  record: "theirs",
  conflicts: [CONFLICT],
  ...more,
});
const BOTH_OURS = { row: "ours", record: "ours" };

const BETWEEN = { ...BOTH_OURS, saves: [saved(8, "theirs"), saved(9, "ours")] };

test.each([
  ["the other value", { ...BOTH_OURS, saves: [saved(6, "theirs"), saved(8, "ours")] }, "theirs should be kept"],
  ["no conflict", { conflicts: [] }, "no conflict names"],
  ["another winner", { conflicts: [{ ...CONFLICT, winner: "postgres" }] }, "no conflict names"],
  ["sides that differ", { row: "ours" }, "the row holds ours"],
  ["a later save that is lost", { ...BOTH_OURS, saves: [saved(8, "ours"), saved(9, "theirs")] }, "theirs should"],
  ["a check that is older than the row's write", { ...BETWEEN, readings: [readIn(2)] }, "saved without a check"],
])("a double write is wrong by %s", (_, evidence, wrong) => {
  expect(judge(WRITE, found({})).violation).toBeNull();
  expect(judge(WRITE, found(BETWEEN))).toMatchObject({ meeting: "between", violation: null });
  expect(judge(WRITE, found(evidence)).violation).toMatch(wrong);
});

test.each([
  [4, "ours", "postgres"],
  [6, "theirs", "salesforce"],
])("the later one wins by latest_wins, where the record was saved in second %i", (second, value, winner) => {
  const conflicts = [{ ...CONFLICT, winner }];
  const evidence = found({ saves: [saved(second, "theirs")], row: value, record: value, conflicts });

  expect(judge({ ...WRITE, policy: "latest_wins" }, evidence).violation).toBeNull();
});

test("more between check and save than their time explains are too many", () => {
  const between = judge(WRITE, found(BETWEEN));
  const after = judge(WRITE, found({ saves: [saved(8, "ours"), saved(9, "theirs")], conflicts: [] }));
  const verdicts = [...Array(30).fill(between), ...Array(70).fill(after)];
  // Of all offsets a quarter is beyond 0.3 s, and of these an eighth between 0.5 and 0.75 s; a quarter is up to 0.2 s.
  const late = chanceOf(verdicts.map((verdict) => ({ ...verdict, checkedAfter: 500, gap: 250 })));
  expect([late.between, late.expected, late.between > late.atMost]).toEqual([30, 3.125, true]);

  const soon = chanceOf(verdicts.map((verdict) => ({ ...verdict, checkedAfter: 0, gap: 200 })));
  expect([Math.round(10 * soon.expected), soon.between > soon.atMost]).toEqual([275, false]);
});
