import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CONFLICT_POLICIES } from "../../../lib/model/mapping/mapping.ts";
import type { Meeting, WaitingChange } from "../../../lib/model/record/merge.ts";
import { comesBack, merge, survivesDeletion } from "../../../lib/model/record/merge.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

function change(id: number, more: Partial<WaitingChange>): WaitingChange {
  return { id, recordId: 1, action: "UPDATE", isSent: false, old: {}, values: {}, capturedAt: at(id), ...more };
}

function meeting(more: Partial<Meeting>): Meeting {
  return { policy: "salesforce_wins", image: {}, stamp: at(50), row: {}, waiting: [], ...more };
}

const renamed = change(1, { old: { name: "base" }, values: { name: "ours" } });
const again = change(2, { old: { name: "ours" }, values: { name: "ours too" } });

const both = { image: { name: "theirs" }, row: { name: "ours" }, waiting: [renamed] };
const inserted = change(1, { action: "INSERT", values: { name: "ours" } });

test.each<[string, Partial<Meeting>, object]>([
  [
    "Salesforce alone changed is Salesforce's",
    { image: { name: "theirs" }, row: { name: "base" } },
    { name: "theirs" },
  ],
  ["only the row changed stays, and is sent", { ...both, image: { name: "base" } }, {}],
  ["both sides changed alike is no collision", { ...both, image: { name: "ours" } }, {}],
  [
    "shows one of several values that the row had is our own coming back",
    { image: { name: "ours" }, row: { name: "ours too" }, waiting: [renamed, again] },
    {},
  ],
  [
    "both changed stays the row's while our change is under way",
    { ...both, waiting: [{ ...renamed, isSent: true }] },
    {},
  ],
  [
    "both changed stays the row's, with its newer change, while the older one is under way",
    { ...both, row: { name: "ours too" }, waiting: [{ ...renamed, isSent: true }, again] },
    {},
  ],
  [
    "a new row lacks is taken from the record that it meets",
    { image: { name: "ours", city: "theirs" }, row: { name: "ours", city: null }, waiting: [inserted] },
    { city: "theirs" },
  ],
  ["the record lacks is kept by a new row", { image: { name: null }, row: { name: "ours" }, waiting: [inserted] }, {}],
])("a field that %s", (_, met, write) => {
  expect(merge(meeting(met))).toEqual({ write, dropped: [], collisions: [], uncaptured: [] });
});

describe("a field that both sides changed", () => {
  const postgresAt = new Date("2026-01-01T00:00:01.000Z");
  const collision = { column: "name", base: "base", postgres: "ours", salesforce: "theirs", postgresAt };

  test("is Salesforce's where it wins, and the row's where PostgreSQL does", () => {
    expect(merge(meeting(both))).toEqual({
      ...{ write: { name: "theirs" }, dropped: [{ changeId: 1, columns: ["name"], isSpent: true }], uncaptured: [] },
      collisions: [{ ...collision, winner: "salesforce" }],
    });
    expect(merge(meeting({ ...both, policy: "postgres_wins" }))).toEqual({
      ...{ write: {}, dropped: [], uncaptured: [], collisions: [{ ...collision, winner: "postgres" }] },
    });
  });

  test.each([
    [[1], 0, "postgres"],
    [[1], 1, "salesforce"],
    [[1, 9], 5, "postgres"],
    [[9, 1], 5, "postgres"],
    [[1, 9, 2], 5, "postgres"],
    [[1, 4], 5, "salesforce"],
    [[3, 1, 5], 5, "salesforce"],
  ] as const)(
    "and that changed here in the seconds %j, there in second %i, is the latest's: %s",
    (seconds, there, winner) => {
      const waiting = seconds.map((second, index) =>
        change(index + 1, {
          old: { name: index === 0 ? "base" : `ours ${index}` },
          values: { name: `ours ${index + 1}` },
          capturedAt: at(second),
        }),
      );
      const row = { name: `ours ${seconds.length}` };

      const merged = merge(meeting({ ...both, policy: "latest_wins", stamp: at(there), row, waiting }));

      expect(merged.collisions.map((found) => found.winner)).toEqual([winner]);
      expect(merged.write).toEqual(winner === "postgres" ? {} : { name: "theirs" });
    },
  );

  test("is the later's by the changes of this very field: an edit of another one does not win it", () => {
    const waiting = [renamed, change(9, { old: { city: "a" }, values: { city: "b" } })];
    const sides = { image: { name: "theirs", city: "a" }, row: { name: "ours", city: "b" } };

    const { write } = merge(meeting({ policy: "latest_wins", stamp: at(5), ...sides, waiting }));
    expect(write).toEqual({ name: "theirs" });
  });

  test("leaves the other fields of its change to be sent, and a new row, whose record does not have it yet", () => {
    const edit = change(1, { old: { name: "base", city: "a" }, values: { name: "ours", city: "b" } });
    for (const one of [edit, inserted]) {
      const { dropped } = merge(meeting({ ...both, row: { name: "ours", city: "b" }, waiting: [one] }));
      expect(dropped).toEqual([{ changeId: 1, columns: ["name"], isSpent: false }]);
    }
  });
});

test.each([
  ["salesforce_wins", [1], 0, false],
  ["postgres_wins", [1], 0, true],
  ["latest_wins", [1], 0, true],
  ["latest_wins", [9, 1], 5, true],
  ["latest_wins", [1, 9, 2], 5, true],
  ["latest_wins", [1, 2], 5, false],
  ["postgres_wins", [], 0, false],
] as const)(
  "under %s a row edited in the seconds %j, whose record is deleted in second %i, survives: %s",
  (policy, seconds, deleted, survives) => {
    const waiting = seconds.map((second, index) => change(index + 1, { capturedAt: at(second) }));

    expect(survivesDeletion(policy, at(deleted), waiting)).toBe(survives);
  },
);

describe("a row that was deleted here", () => {
  const deletion = { ...change(1, { action: "DELETE", old: { name: "base" } }), lastPushAt: null, earlier: [] };

  const sent = [change(0, { values: { name: "sent" } })];
  const waits = [change(0, { old: { name: "first" }, values: { name: "base" } })];

  test.each([
    ["its record is as it was", "base", {}, false],
    ["its record has changed", "theirs", {}, true],
    ["its deletion is under way", "theirs", { isSent: true }, false],
    ["its record shows a save of the row whose answer was lost", "sent", { earlier: sent }, false],
    ["its record shows what the row held before changes that still wait", "first", { earlier: waits }, false],
    ["what changed its record came after our own save", "theirs", { lastPushAt: at(49) }, true],
    ["what changed its record is our own save", "theirs", { lastPushAt: at(50) }, false],
  ])("comes back where Salesforce wins and %s: %#", (_, name, more, isBack) => {
    expect(comesBack("salesforce_wins", { name }, at(50), { ...deletion, ...more })).toBe(isBack);
    expect(comesBack("postgres_wins", { name }, at(50), { ...deletion, ...more })).toBe(false);
  });
});

test("whatever happened, every field ends as one side has it, and what the row keeps is still to be sent", () => {
  const value = fc.option(fc.constantFrom("a", "b", "c"), { nil: null });
  const fields = ["x", "y", "z"];
  const record = fc.record({ x: value, y: value, z: value });
  const edit = fc.dictionary(fc.constantFrom(...fields), value, { minKeys: 1 });
  const scenario = fc.record({
    base: record,
    theirs: record,
    edits: fc.array(edit, { maxLength: 4 }),
    policy: fc.constantFrom(...CONFLICT_POLICIES),
    second: fc.nat(60),
  });

  fc.assert(
    fc.property(scenario, ({ base, theirs, edits, policy, second }) => {
      const { row, waiting } = edited(base, edits);
      const merged = merge({ policy, image: theirs, stamp: at(second), row, waiting });

      for (const field of fields) {
        const ours = row[field] ?? null;
        const ends = field in merged.write ? merged.write[field] : ours;
        const stillSent = waiting.some(
          ({ id, values }) =>
            field in values &&
            !merged.dropped.some(({ changeId, columns }) => changeId === id && columns.includes(field)),
        );
        expect([ours, theirs[field as keyof typeof theirs]]).toContain(ends);
        // What the row keeps against Salesforce's value is sent to Salesforce.
        if (ends !== theirs[field as keyof typeof theirs]) expect(stillSent).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});

type Values = Record<string, string | null>;

/** The row after these edits, and the changes that capture would have logged. */
function edited(base: Values, edits: readonly Values[]): { readonly row: Values; readonly waiting: WaitingChange[] } {
  let row = { ...base };
  const waiting = edits.flatMap((edit, index) => {
    const before = row;
    const changed = Object.keys(edit).filter((field) => edit[field] !== before[field]);
    row = { ...row, ...edit };
    const side = (values: Values) => Object.fromEntries(changed.map((field) => [field, values[field] ?? null]));
    return changed.length === 0 ? [] : [change(index + 1, { old: side(before), values: side(row) })];
  });
  return { row, waiting };
}
