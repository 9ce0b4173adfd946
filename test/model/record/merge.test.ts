import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CONFLICT_POLICIES } from "../../../lib/model/mapping/mapping.ts";
import {
  comesBack,
  type Meeting,
  merge,
  survivesDeletion,
  type WaitingChange,
} from "../../../lib/model/record/merge.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

function change(id: number, more: Partial<WaitingChange>): WaitingChange {
  return { id, recordId: 1, action: "UPDATE", isSent: false, old: {}, values: {}, capturedAt: at(id), ...more };
}

function meeting(more: Partial<Meeting>): Meeting {
  return { policy: "salesforce_wins", image: {}, stamp: at(50), row: {}, waiting: [], ...more };
}

const renamed = change(1, { old: { name: "base" }, values: { name: "ours" } });

test("a field that only Salesforce changed is taken from there", () => {
  const merged = merge(meeting({ image: { name: "theirs" }, row: { name: "base" } }));

  expect(merged).toEqual({ write: { name: "theirs" }, dropped: [], collisions: [], uncaptured: [] });
});

test("a field that only the row changed stays, and is sent", () => {
  const merged = merge(meeting({ image: { name: "base" }, row: { name: "ours" }, waiting: [renamed] }));

  expect(merged).toEqual({ write: {}, dropped: [], collisions: [], uncaptured: [] });
});

test("the same change on both sides is no collision", () => {
  const merged = merge(meeting({ image: { name: "ours" }, row: { name: "ours" }, waiting: [renamed] }));

  expect(merged).toEqual({ write: {}, dropped: [], collisions: [], uncaptured: [] });
});

test("a value that one of several changes made is our own coming back", () => {
  const waiting = [renamed, change(2, { old: { name: "ours" }, values: { name: "ours too" } })];

  const merged = merge(meeting({ image: { name: "ours" }, row: { name: "ours too" }, waiting }));

  expect(merged).toEqual({ write: {}, dropped: [], collisions: [], uncaptured: [] });
});

describe("a field that both sides changed", () => {
  const both = { image: { name: "theirs" }, row: { name: "ours" }, waiting: [renamed] };
  const postgresAt = new Date("2026-01-01T00:00:01.000Z");
  const collision = { column: "name", base: "base", postgres: "ours", salesforce: "theirs", postgresAt };

  test("is Salesforce's where it wins, and the change that lost all its fields is spent", () => {
    expect(merge(meeting(both))).toEqual({
      write: { name: "theirs" },
      dropped: [{ changeId: 1, columns: ["name"], isSpent: true }],
      collisions: [{ ...collision, winner: "salesforce" }],
      uncaptured: [],
    });
  });

  test("is the row's where PostgreSQL wins", () => {
    expect(merge(meeting({ ...both, policy: "postgres_wins" }))).toEqual({
      write: {},
      dropped: [],
      collisions: [{ ...collision, winner: "postgres" }],
      uncaptured: [],
    });
  });

  test.each([
    ["the row's when it was changed after", 0, "postgres"],
    ["Salesforce's when that was stamped in the same moment or after", 1, "salesforce"],
  ])("is %s, where the latest wins", (_, second, winner) => {
    const merged = merge(meeting({ ...both, policy: "latest_wins", stamp: at(second) }));

    expect(merged.collisions).toEqual([{ ...collision, winner }]);
  });

  test.each([
    [[1, 9], 5, "postgres"],
    [[9, 1], 5, "postgres"],
    [[1, 2, 9], 5, "postgres"],
    [[1, 9, 2], 5, "postgres"],
    [[9, 2, 1], 5, "postgres"],
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
    const row = { name: "ours", city: "b" };

    const merged = merge(
      meeting({ policy: "latest_wins", stamp: at(5), image: { name: "theirs", city: "a" }, row, waiting }),
    );

    expect(merged.write).toEqual({ name: "theirs" });
  });

  test("stays the row's while our change is under way", () => {
    const merged = merge(meeting({ ...both, waiting: [{ ...renamed, isSent: true }] }));

    expect(merged).toEqual({ write: {}, dropped: [], collisions: [], uncaptured: [] });
  });

  test("leaves the other fields of the change to be sent", () => {
    const waiting = [change(1, { old: { name: "base", city: "a" }, values: { name: "ours", city: "b" } })];

    const merged = merge(meeting({ image: { name: "theirs" }, row: { name: "ours", city: "b" }, waiting }));

    expect(merged.dropped).toEqual([{ changeId: 1, columns: ["name"], isSpent: false }]);
  });
});

describe("a new row that meets its record", () => {
  const inserted = change(1, { action: "INSERT", values: { name: "ours" } });

  test("takes what it lacks from the record", () => {
    const image = { name: "ours", city: "theirs" };

    expect(merge(meeting({ image, row: { name: "ours", city: null }, waiting: [inserted] })).write).toEqual({
      city: "theirs",
    });
  });

  test("keeps what the record lacks", () => {
    expect(merge(meeting({ image: { name: null }, row: { name: "ours" }, waiting: [inserted] })).write).toEqual({});
  });

  test("is never spent by a collision, since its record does not have it yet", () => {
    const merged = merge(meeting({ image: { name: "theirs" }, row: { name: "ours" }, waiting: [inserted] }));

    expect(merged.dropped).toEqual([{ changeId: 1, columns: ["name"], isSpent: false }]);
  });
});

test.each([
  ["salesforce_wins", false],
  ["postgres_wins", true],
  ["latest_wins", true],
] as const)("under %s a row with an edit newer than its record's deletion survives: %s", (policy, survives) => {
  expect(survivesDeletion(policy, at(0), [renamed])).toBe(survives);
});

test.each([
  [[1, 9], true],
  [[9, 1], true],
  [[1, 9, 2], true],
  [[1, 2], false],
])(
  "under latest_wins a row edited in the seconds %j, whose record is deleted in second 5, survives: %s",
  (seconds, survives) => {
    const waiting = seconds.map((second, index) => change(index + 1, { capturedAt: at(second) }));

    expect(survivesDeletion("latest_wins", at(5), waiting)).toBe(survives);
  },
);

test("a row without waiting changes never survives its record's deletion", () => {
  expect(CONFLICT_POLICIES.map((policy) => survivesDeletion(policy, at(0), []))).toEqual([false, false, false]);
});

describe("a row that was deleted here", () => {
  const deletion = { ...change(1, { action: "DELETE", old: { name: "base" } }), lastPushAt: null, earlier: [] };

  test("comes back when its record changed and Salesforce wins", () => {
    expect(comesBack("salesforce_wins", { name: "theirs" }, at(50), deletion)).toBe(true);
    expect(comesBack("salesforce_wins", { name: "theirs" }, at(50), { ...deletion, lastPushAt: at(49) })).toBe(true);
  });

  test.each([
    ["its record is as it was", "salesforce_wins", { name: "base" }, {}],
    ["PostgreSQL wins", "postgres_wins", { name: "theirs" }, {}],
    ["its deletion is under way", "salesforce_wins", { name: "theirs" }, { isSent: true }],
    [
      "its record shows a save of the row whose answer was lost",
      "salesforce_wins",
      { name: "sent" },
      { earlier: [change(0, { old: {}, values: { name: "sent" } })] },
    ],
    [
      "its record shows what the row held before changes that still wait",
      "salesforce_wins",
      { name: "first" },
      { earlier: [change(0, { old: { name: "first" }, values: { name: "base" } })] },
    ],
    ["what changed its record is our own save", "salesforce_wins", { name: "theirs" }, { lastPushAt: at(50) }],
  ] as const)("stays deleted when %s", (_, policy, image, more) => {
    expect(comesBack(policy, image, at(50), { ...deletion, ...more })).toBe(false);
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
