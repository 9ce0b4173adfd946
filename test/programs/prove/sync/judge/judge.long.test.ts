import { expect, test } from "vitest";
import { importsOnce } from "../../../../support/checks/imports-once.ts";
import type { Deed, Evidence, Held, Logged, Restored, Save, Seen } from "./evidence.ts";
import { judge } from "./judge.ts";

const TABLE = "thing__c";
const TAG = "h1-1";

const held = (values: Held["values"], more: Partial<Held> = {}): Held => ({
  table: TABLE,
  id: "a01000000000001",
  sfid: "a01000000000001",
  tag: TAG,
  values: { here__c: null, there__c: null, both__c: null, ...values },
  ...more,
});

const deed = (action: Deed["action"], values: Deed["values"], at: number, more: Partial<Deed> = {}): Deed => ({
  table: TABLE,
  tag: TAG,
  recordId: 1,
  action,
  values,
  begunAt: at,
  endedAt: at,
  isSure: true,
  ...more,
});

const logged = (id: number, action: string, values: Logged["values"], more: Partial<Logged> = {}): Logged => ({
  id,
  table: TABLE,
  recordId: 1,
  action,
  state: "SUCCESS",
  message: null,
  values,
  ...more,
});

const save = (values: Save["values"], sentAt: number, more: Partial<Save> = {}): Save => ({
  table: TABLE,
  operation: "upsert",
  sfid: "a01000000000001",
  tag: TAG,
  values,
  sentAt,
  answeredAt: sentAt + 1,
  success: true,
  sender: 7,
  wasHeld: false,
  ...more,
});

/** A row that the application inserted and changed once, in order on both sides and in all books. */
const inOrder: Evidence = {
  rows: [held({ here__c: "h2", both__c: "h1" }, { id: "1" })],
  records: [{ ...held({ here__c: "h2", both__c: "h1" }), isDeleted: false }],
  log: [logged(1, "INSERT", { here__c: "h1", both__c: "h1" }), logged(2, "UPDATE", { here__c: "h2" })],
  totals: [{ table: TABLE, success: 2, failed: 0 }],
  retried: [],
  conflicts: [],
  announced: [],
  waitingToBeAnnounced: [],
  heard: [],
  application: [deed("insert", { here__c: "h1", both__c: "h1" }, 1), deed("update", { here__c: "h2" }, 2)],
  uncaptured: [],
  merged: [],
  colleagues: [],
  seen: [],
  saves: [save({ here__c: "h1", both__c: "h1" }, 10), save({ here__c: "h2" }, 20)],
  lateReports: [],
  struck: [],
  restored: [],
  calls: { engine: { SOAP: 2 }, wire: { SOAP: 2 }, org: 2, isQuiet: true },
};

const complaints = (change: Partial<Evidence>) => judge({ ...inOrder, ...change }).map(({ name }) => name);

const colleague = (action: Deed["action"], values: Deed["values"], at: number, more: Partial<Deed> = {}) =>
  deed(action, values, at, { recordId: null, ...more });

test("what is correct is no finding", () => {
  expect(complaints({})).toEqual([]);
});

const given = (there__c: string, before: string | null): Seen => ({
  table: TABLE,
  by: "bridge",
  recordId: 1,
  old: { tag__c: TAG, there__c: before },
  now: { tag__c: TAG, there__c },
  at: 1,
});

const [row, record] = [inOrder.rows[0] ?? held({}), inOrder.records[0] ?? { ...held({}), isDeleted: false }];
const [first, second] = [logged(1, "INSERT", { here__c: "h1", both__c: "h1" }), logged(2, "UPDATE", { here__c: "h2" })];

test.each<readonly [string, Partial<Evidence>]>([
  ["missing row", { rows: [] }],
  ["missing record", { records: [] }],
  ["lost insert", { rows: [], records: [] }],
  ["doubled row", { rows: [row, { ...row, id: "2" }] }],
  ["doubled record", { records: [record, { ...record, id: "a01000000000002" }] }],
  ["doubled creation", { records: [record, { ...record, id: "a01000000000002", isDeleted: true }] }],
  ["undead merged record", { merged: [{ table: TABLE, tag: TAG, id: record.id, master: "a01000000000009" }] }],
  ["wrong sfid", { rows: [{ ...row, sfid: "a01000000000002" }] }],
  ["different field", { rows: [{ ...row, values: { ...row.values, both__c: "h9" } }] }],
  ["lost value", oneValue({ here__c: "h1", both__c: "h1" })],
  [
    "lost value",
    {
      ...oneValue({ here__c: "h2", both__c: "t1" }),
      colleagues: [colleague("update", { both__c: "t1" }, 5)],
      saves: [],
    },
  ],
  [
    "undead record",
    {
      application: [...inOrder.application, deed("delete", {}, 3)],
      log: [first, second, logged(3, "DELETE", {})],
      totals: [],
    },
  ],
  ["stale save", { saves: [save({ here__c: "h2" }, 10), save({ here__c: "h1" }, 20)] }],
  [
    "stale row",
    {
      colleagues: [colleague("update", { there__c: "t1" }, 5), colleague("update", { there__c: "t2" }, 6)],
      seen: [given("t2", null), given("t1", "t2")],
      ...oneValue({ here__c: "h2", both__c: "h1", there__c: "t2" }),
    },
  ],
  ["uncaptured change", { log: [first], totals: [] }],
  ["change captured twice", { log: [first, second, logged(3, "UPDATE", { here__c: "h2" })], totals: [] }],
  ["unexplained change", { log: [first, second, logged(3, "DELETE", {}, { recordId: 9 })], totals: [] }],
  ["open change", { log: [first, { ...second, state: "PENDING" }], totals: [] }],
  ["wrong total", { totals: [{ table: TABLE, success: 3, failed: 0 }] }],
  ["unreported failure", { log: [first, { ...second, state: "FAILED" }], totals: [] }],
  [
    "failure reported twice",
    {
      log: [first, { ...second, state: "FAILED" }],
      totals: [],
      announced: [announcement("e1"), announcement("e2")],
      heard: [heard("e1"), heard("e2")],
    },
  ],
  ["lost event", { log: [first, { ...second, state: "FAILED" }], totals: [], announced: [announcement("e1")] }],
  [
    "event made twice",
    {
      log: [first, { ...second, state: "FAILED" }],
      totals: [],
      announced: [announcement("e1")],
      heard: [heard("e1"), heard("e2")],
    },
  ],
  ["outbox not empty", { waitingToBeAnnounced: ["e1"] }],
  ["wrong counter", { calls: { ...inOrder.calls, engine: { SOAP: 1 } } }],
  ["wrong counter", { calls: { ...inOrder.calls, org: 3 } }],
  ["wrong counter", { calls: { ...inOrder.calls, engine: { SOAP: 3 }, isQuiet: false } }],
])("%s: is complained of by this name", (name, change) => {
  expect(new Set(complaints(change))).toEqual(new Set([name]));
});

function oneValue(values: Held["values"]): Partial<Evidence> {
  return {
    rows: [{ ...row, values: { ...row.values, ...values } }],
    records: [{ ...record, values: { ...record.values, ...values } }],
  };
}

function announcement(eventId: string): Evidence["announced"][number] {
  return { eventId, event: "record.failed", logId: 2, at: 0 };
}

function heard(eventId: string): Evidence["heard"][number] {
  return { eventId, logId: 2 };
}

const SAVES = [
  save({ here__c: "h2" }, 10),
  save({ here__c: "h1" }, 20, { wasHeld: true }),
  save({ here__c: "h2" }, 30),
];
const captureOff = (from: number, until: number, table = TABLE) => [{ table, from, until }];
const UNCAPTURED: Partial<Evidence> = {
  log: [first],
  totals: [],
  ...oneValue({ here__c: "h1", both__c: "h1" }),
  saves: [save({ here__c: "h1", both__c: "h1" }, 10)],
};
const ERASED = save({}, 20, { operation: "delete" });
const AGAIN = save({ here__c: "h2" }, 30, { sfid: null, answeredAt: null, success: null });
const createdTwice = (...saves: readonly Save[]): Partial<Evidence> => ({
  rows: [],
  records: ["1", "2"].map((end) => ({ ...record, id: `a0100000000000${end}`, isDeleted: true })),
  log: [first, second, logged(3, "DELETE", {})],
  totals: [{ table: TABLE, success: 3, failed: 0 }],
  application: [...inOrder.application, deed("delete", {}, 15)],
  saves: [...inOrder.saves, ...saves],
});
const conflict = (postgres: string, winner = "salesforce") => ({
  conflicts: [{ sfid: record.id, recordId: 1, column: "both__c", postgres, salesforce: "t1", winner }],
});
const OVERRULED: Partial<Evidence> = {
  ...oneValue({ here__c: "h2", both__c: "t1" }),
  colleagues: [colleague("update", { both__c: "t1" }, 5)],
  saves: [],
};
const failed = (...ids: readonly string[]): Partial<Evidence> => ({
  log: [first, { ...second, state: "FAILED" }],
  totals: [],
  retried: [2],
  announced: ids.map(announcement),
  heard: ids.map(heard),
});
const restored = (more: Partial<Restored>): Partial<Evidence> => ({
  restored: [
    { what: "PostgreSQL", copiedAt: 100_000, restoredAt: 200_000, undone: [], unannounced: [], decided: [], ...more },
  ],
});
const decided = (isOurs: boolean) => ({
  decided: [{ table: TABLE, tag: TAG, action: "update" as const, values: { here__c: "h2" }, isOurs }],
});
const undone = { undone: [deed("update", { here__c: "h3" }, 150_000)] };
const undoneSave = (success: boolean) => ({ saves: [...inOrder.saves, save({ here__c: "h3" }, 150_010, { success })] });
const OLD = { ...oneValue({ here__c: "h1" }), saves: [save({ here__c: "h1", both__c: "h1" }, 10)] };
const CHANGED_SINCE = { colleagues: [colleague("insert", {}, 0), colleague("update", { there__c: null }, 150_000)] };

/** What explains something that would be wrong, and the same where this explanation is not enough. */
test.each<readonly [string, Partial<Evidence>, string, Partial<Evidence>]>([
  [
    "a stale save of a cycle that said so",
    { saves: SAVES, lateReports: [{ table: TABLE, at: 40 }] },
    "unseen stale save",
    { saves: SAVES, lateReports: [{ table: TABLE, at: 20 }] },
  ],
  [
    "a stale save whose sender was killed since",
    { saves: SAVES, struck: [{ whom: 7, at: 25 }] },
    "unseen stale save",
    { saves: SAVES, struck: [{ whom: 8, at: 25 }] },
  ],
  [
    "an update while capture was off",
    { ...UNCAPTURED, uncaptured: captureOff(2, 3) },
    "uncaptured change",
    { ...UNCAPTURED, uncaptured: captureOff(2, 3, "other__c") },
  ],
  [
    "an update while capture was off, after which both sides are equal",
    { ...UNCAPTURED, uncaptured: captureOff(2, 3) },
    "different field",
    { ...UNCAPTURED, records: inOrder.records, uncaptured: captureOff(2, 3) },
  ],
  [
    "a second creation by an upsert that was held until the record was deleted",
    createdTwice(ERASED, { ...AGAIN, wasHeld: true }),
    "doubled creation",
    createdTwice(ERASED, AGAIN),
  ],
  [
    "a value that lost in a conflict that was recorded",
    { ...OVERRULED, ...conflict("h1") },
    "lost value",
    { ...OVERRULED, ...conflict("h3") },
  ],
  [
    "a second failure of what an operator has retried",
    failed("e1", "e2"),
    "failure reported twice",
    failed("1", "2", "3"),
  ],
  [
    "a change that a restore has undone and that was refused before",
    { ...restored(undone), ...undoneSave(false) },
    "lost value",
    { ...restored(undone), ...undoneSave(true) },
  ],
  [
    "a change that a person decided against, for a newer one of Salesforce's",
    { ...OLD, ...CHANGED_SINCE, ...restored(decided(false)) },
    "lost value",
    { ...OLD, ...CHANGED_SINCE, ...restored(decided(true)) },
  ],
  [
    "a change that failed and that the operator retried after a restore",
    { ...failed("e1"), ...restored({}) },
    "false failure",
    { ...failed("e1"), ...restored({}), retried: [] },
  ],
])("%s is no finding, with less it is", (_, explained, name, unexplained) => {
  expect(complaints(explained)).toEqual([]);
  expect(complaints(unexplained)).toContain(name);
});

test("the judge and the readers of its evidence know nothing of the engine", async () => {
  const judges = ["judge", "judge-order", "judge-books", "judge-restores", "story", "thing", "evidence"].map(
    (name) => `judge/${name}`,
  );
  const files = [...judges, "read-evidence", "wire/passage"].map((name) => `test/programs/prove/sync/${name}.ts`);
  const imports = (await importsOnce()).filter(({ from }) => files.includes(from));

  expect(imports.length).toBeGreaterThan(5);
  expect(imports.map(({ to }) => to).filter((to) => !["pg", "test/programs/ask.ts", ...files].includes(to))).toEqual(
    [],
  );
});
