import { describe, expect, test } from "vitest";
import { type Circumstances, judge } from "../../../lib/model/record/judge-image.ts";
import type { WaitingChange } from "../../../lib/model/record/merge.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

const edit: WaitingChange = {
  id: 1,
  recordId: 7,
  action: "UPDATE",
  isSent: false,
  old: { name: "a" },
  values: { name: "b" },
  capturedAt: at(0),
};

const rowAt = (second: number) => ({ key: 7, stamp: at(second), isFirstMatch: false });

/** A living record stamped at second 10, read at second 20, whose row was stamped at second 5. */
function known(more: Partial<Circumstances>, isDeleted = false): Circumstances {
  return {
    image: { sfid: "003", systemModstamp: at(10), isDeleted, values: {} },
    lane: "fast",
    readAt: at(20),
    policy: "salesforce_wins",
    row: rowAt(5),
    waiting: [],
    settledUntil: null,
    capturesLate: true,
    deletion: null,
    pushedAt: null,
    deletedAt: null,
    ...more,
  };
}

describe("a record that is not deleted", () => {
  test("changes its row", () => {
    expect(judge(known({}))).toEqual({ kind: "update", key: 7, isSure: true, mayBeLate: false });
  });

  test("becomes a row where it has none", () => {
    expect(judge(known({ row: null }))).toEqual({ kind: "insert" });
  });

  test("is merged with what waits of its row", () => {
    expect(judge(known({ waiting: [edit] }))).toEqual({ kind: "merge", key: 7, waiting: [edit], uncaptured: null });
  });

  test("is a conflict when its row was deleted here", () => {
    const deletion = { ...edit, action: "DELETE", lastPushAt: null, earlier: [] } as const;

    expect(judge(known({ row: null, deletion }))).toEqual({ kind: "contest", deletion });
  });

  test.each([
    [19, "update"],
    [20, "reread"],
    [21, "reread"],
  ])("that was pushed at second %i, and read at 20, comes to: %s", (second, kind) => {
    expect(judge(known({ pushedAt: at(second) })).kind).toBe(kind);
  });

  test.each([
    ["fast", true],
    ["slow", true],
    ["reread", true],
    ["load", false],
    ["sweep", false],
  ] as const)("with its row's own stamp, read by the %s lane, is sure: %s", (lane, isSure) => {
    const stamp = rowAt(10);

    expect(judge(known({ lane, row: stamp }))).toMatchObject({ kind: "update", key: 7, isSure });
  });

  test("with its row's own stamp is sure also from Bulk once no transaction of that time can be open", () => {
    const late = new Date(at(10).getTime() + 15 * 60_000 + 1);

    expect(judge(known({ lane: "load", row: rowAt(10), readAt: late }))).toMatchObject({
      isSure: true,
    });
  });

  test.each([
    [9, "insert"],
    [10, "reread"],
    [11, "reread"],
  ])("stamped at second 10 whose row was deleted at second %i comes to: %s", (second, kind) => {
    expect(judge(known({ row: null, deletedAt: at(second) })).kind).toBe(kind);
  });

  test("read again by its id counts as not deleted", () => {
    expect(judge(known({ row: null, deletedAt: at(11), lane: "reread" })).kind).toBe("insert");
  });

  test("is merged with a row that meets it for the first time, whatever waits", () => {
    expect(judge(known({ row: { ...rowAt(10), isFirstMatch: true } }))).toEqual({
      ...{ kind: "merge", key: 7, waiting: [], uncaptured: "match" },
    });
  });

  test.each([
    ["with its row's own stamp, long settled", {}, true],
    ["with its row's own stamp, of a second that is not over", { settledUntil: at(9) }, false],
    ["with its row's own stamp, while a load runs", { settledUntil: null }, false],
    [
      "with its row's own stamp, read by a load",
      { lane: "load", readAt: new Date(at(10).getTime() + 3_600_000) },
      false,
    ],
    ["with its row's own stamp, of a transaction that may be open", { lane: "sweep" }, false],
    ["with a newer stamp", { row: rowAt(9) }, false],
  ] as const)("%s: its row may hold a write that no trigger saw: %s", (_, more, mayBeLate) => {
    expect(judge(known({ row: rowAt(10), settledUntil: at(10), ...more }))).toMatchObject({
      kind: "update",
      mayBeLate,
    });
  });

  test.each([
    ["settled long ago: Salesforce has changed nothing", { settledUntil: at(10) }, "nothing"],
    ["of a second that is not over: it may have been saved twice in it", { settledUntil: at(9) }, "merge"],
    ["while a load runs", { settledUntil: null }, "merge"],
    ["newer than the row's", { row: rowAt(9), settledUntil: at(10) }, "merge"],
  ] as const)("meets a row that was captured whole, with a stamp %s", (_, more, kind) => {
    const whole = { ...edit, old: {} };

    expect(judge(known({ row: rowAt(10), waiting: [whole], ...more })).kind).toBe(kind);
  });

  test.each([true, false])(
    "settled long ago is the application's to differ from if captured late: %s",
    (capturesLate) => {
      expect(judge(known({ row: rowAt(10), settledUntil: at(10), capturesLate }))).toMatchObject({
        mayBeLate: capturesLate,
      });
    },
  );

  test("older than its row is read by its id, and then it counts: the org's clock went back", () => {
    expect(judge(known({ row: rowAt(11) })).kind).toBe("reread");
    expect(judge(known({ row: rowAt(11), lane: "reread" })).kind).toBe("update");
    expect(judge(known({ row: rowAt(11), lane: "sweep" })).kind).toBe("nothing");
  });
});

describe("a deleted record", () => {
  test("takes its row with it", () => {
    expect(judge(known({}, true))).toEqual({ kind: "delete", key: 7, waiting: [] });
  });

  test("is undeleted when its row changed and PostgreSQL wins", () => {
    expect(judge(known({ waiting: [edit], policy: "postgres_wins" }, true)).kind).toBe("undelete");
  });

  test("without a row changes nothing", () => {
    expect(judge(known({ row: null }, true)).kind).toBe("nothing");
  });

  test("that our push found undeleted in the second of the reading is deleted nevertheless", () => {
    expect(judge(known({ pushedAt: at(20) }, true)).kind).toBe("delete");
  });

  test("that our push found undeleted later is read again", () => {
    expect(judge(known({ pushedAt: at(21) }, true)).kind).toBe("reread");
  });

  test("deleted before its row's stamp was undeleted since", () => {
    expect(judge(known({ row: rowAt(11), lane: "deleted" }, true)).kind).toBe("nothing");
  });
});
