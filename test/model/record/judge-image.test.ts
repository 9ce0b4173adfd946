import { expect, test } from "vitest";
import { type Circumstances, judge } from "../../../lib/model/record/judge-image.ts";
import type { WaitingChange } from "../../../lib/model/record/merge.ts";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

const edit: WaitingChange = {
  ...{ id: 1, recordId: 7, action: "UPDATE", isSent: false, capturedAt: at(0) },
  ...{ old: { name: "a" }, values: { name: "b" } },
};

const rowAt = (second: number) => ({ key: 7, stamp: at(second), isFirstMatch: false });

/** A living record stamped at second 10, read at second 20, whose row was stamped at second 5. */
function known(more: Partial<Circumstances>, isDeleted = false): Circumstances {
  return {
    image: { sfid: "003", systemModstamp: at(10), isDeleted, values: {} },
    ...{ lane: "fast", readAt: at(20), policy: "salesforce_wins", row: rowAt(5), waiting: [], capturesLate: true },
    ...{ settledUntil: null, deletion: null, pushedAt: null, deletedAt: null },
    ...more,
  };
}

const deletion = { ...edit, action: "DELETE", lastPushAt: null, earlier: [] } as const;
const loaded = { lane: "load", readAt: new Date(at(10).getTime() + 15 * 60_000 + 1) } as const;
const firstMatch = { ...rowAt(10), isFirstMatch: true };
const own = { row: rowAt(10) };

test.each<[string, Partial<Circumstances>, object]>([
  ["changes its row", {}, { kind: "update", key: 7, isSure: true, mayBeLate: false }],
  ["becomes a row where it has none", { row: null }, { kind: "insert" }],
  ["is merged with what waits of its row", { waiting: [edit] }, { kind: "merge", waiting: [edit], uncaptured: null }],
  ["is a conflict when its row was deleted here", { row: null, deletion }, { kind: "contest", deletion }],
  ["pushed before it was read changes its row", { pushedAt: at(19) }, { kind: "update" }],
  ["pushed in the second in which it was read is read again", { pushedAt: at(20) }, { kind: "reread" }],
  ["pushed after it was read is read again", { pushedAt: at(21) }, { kind: "reread" }],
  ["whose row was deleted before its stamp becomes a row", { row: null, deletedAt: at(9) }, { kind: "insert" }],
  ["whose row was deleted in that second is read again", { row: null, deletedAt: at(10) }, { kind: "reread" }],
  ["whose row was deleted later is read again", { row: null, deletedAt: at(11) }, { kind: "reread" }],
  ["read again by its id counts as not deleted", { row: null, deletedAt: at(11), lane: "reread" }, { kind: "insert" }],
  ["with its row's stamp is sure from the slow lane", { ...own, lane: "slow" }, { isSure: true }],
  ["with its row's stamp is sure when it is read again", { ...own, lane: "reread" }, { isSure: true }],
  ["with its row's stamp is not sure from a load", { ...own, lane: "load" }, { isSure: false }],
  ["with its row's stamp is not sure from a sweep", { ...own, lane: "sweep" }, { isSure: false }],
  ["with it is sure from a load once no older transaction is open", { ...own, ...loaded }, { isSure: true }],
  [
    "that meets its row for the first time is merged",
    { row: firstMatch },
    { kind: "merge", key: 7, uncaptured: "match" },
  ],
  ["older than its row is read by its id", { row: rowAt(11) }, { kind: "reread" }],
  ["older than its row, read by its id, counts", { row: rowAt(11), lane: "reread" }, { kind: "update" }],
  ["older than its row changes nothing in a sweep", { row: rowAt(11), lane: "sweep" }, { kind: "nothing" }],
])("a record %s", (_, more, verdict) => {
  expect(judge(known(more))).toMatchObject(verdict);
});

test.each([
  ["long settled", {}, true],
  ["long settled, of a mapping that captures nothing late", { capturesLate: false }, false],
  ["of a second that is not over", { settledUntil: at(9) }, false],
  ["while a load runs", { settledUntil: null }, false],
  ["read by a load", { lane: "load", readAt: new Date(at(10).getTime() + 3_600_000) }, false],
  ["of a transaction that may be open", { lane: "sweep" }, false],
  ["but newer", { row: rowAt(9) }, false],
] as const)(
  "of a record with its row's own stamp, %s, the row may hold a write that no trigger saw: %s",
  (_, more, mayBeLate) => {
    expect(judge(known({ ...own, settledUntil: at(10), ...more }))).toMatchObject({ kind: "update", mayBeLate });
  },
);

test.each([
  ["settled long ago: Salesforce has changed nothing", {}, "nothing"],
  ["of a second that is not over: it may have been saved twice in it", { settledUntil: at(9) }, "merge"],
  ["while a load runs", { settledUntil: null }, "merge"],
  ["newer than the row's", { row: rowAt(9) }, "merge"],
] as const)("a row that was captured whole meets a record with a stamp %s", (_, more, kind) => {
  const waiting = [{ ...edit, old: {} }];

  expect(judge(known({ ...own, waiting, settledUntil: at(10), ...more })).kind).toBe(kind);
});

test.each<[string, Partial<Circumstances>, string]>([
  ["takes its row with it", {}, "delete"],
  ["is undeleted when its row changed and PostgreSQL wins", { waiting: [edit], policy: "postgres_wins" }, "undelete"],
  ["without a row changes nothing", { row: null }, "nothing"],
  ["found undeleted by our push in the second of the reading is deleted nevertheless", { pushedAt: at(20) }, "delete"],
  ["found undeleted by our push later is read again", { pushedAt: at(21) }, "reread"],
  ["deleted before its row's stamp was undeleted since", { row: rowAt(11), lane: "deleted" }, "nothing"],
])("a deleted record %s", (_, more, kind) => {
  expect(judge(known(more, true)).kind).toBe(kind);
});
