import { expect, test } from "vitest";
import { importsOnce } from "../../../../support/checks/imports-once.ts";
import type { Deed, Evidence, Held, Restored, Save } from "./evidence.ts";
import { judge } from "./judge.ts";

const [TABLE, TAG, SFID] = ["thing__c", "h1-1", "a01000000000001"];
const THING = { table: TABLE, tag: TAG };

const held = (id: string, values: Held["values"]): Held => ({
  ...{ ...THING, id, sfid: SFID },
  values: { here__c: null, there__c: null, both__c: null, ...values },
});

const deed = (action: Deed["action"], values: Deed["values"], at: number): Deed => ({
  ...{ ...THING, recordId: 1, action, values, begunAt: at, endedAt: at, isSure: true },
});
const colleague = (...done: Parameters<typeof deed>): Deed => ({ ...deed(...done), recordId: null });

const save = (values: Save["values"], sentAt: number, more: Partial<Save> = {}): Save => ({
  ...{ ...THING, operation: "upsert", sfid: SFID, values, sentAt, answeredAt: sentAt + 1, success: true, sender: 7 },
  ...{ wasHeld: false, ...more },
});

const logged = (id: number, action: string, values: Held["values"]) => ({
  ...{ id, table: TABLE, recordId: 1, action, state: "SUCCESS", message: null, values },
});

const row = held("1", { here__c: "h2", both__c: "h1" });
const record = { ...held(SFID, row.values), isDeleted: false };
const [first, second] = [logged(1, "INSERT", { here__c: "h1", both__c: "h1" }), logged(2, "UPDATE", { here__c: "h2" })];

/** A row that the application inserted and changed once, in order on both sides and in all books. */
const inOrder: Evidence = {
  rows: [row],
  records: [record],
  log: [first, second],
  totals: [],
  application: [deed("insert", first.values, 1), deed("update", second.values, 2)],
  saves: [save(first.values, 10), save(second.values, 20)],
  calls: { engine: { SOAP: 2 }, wire: { SOAP: 2 }, org: 2, isQuiet: true },
  ...{ retried: [], conflicts: [], announced: [], waitingToBeAnnounced: [], heard: [], uncaptured: [], merged: [] },
  ...{ colleagues: [], seen: [], lateReports: [], struck: [], restored: [] },
};

const complaints = (change: Partial<Evidence>) => judge({ ...inOrder, ...change }).map(({ name }) => name);

const both = (values: Held["values"]): Partial<Evidence> => ({
  rows: [{ ...row, values: { ...row.values, ...values } }],
  records: [{ ...record, values: { ...record.values, ...values } }],
});
const given = (there__c: string, before: string | null) => ({
  ...{ table: TABLE, by: "bridge" as const, recordId: 1, at: 1 },
  ...{ old: { tag__c: TAG, there__c: before }, now: { tag__c: TAG, there__c } },
});
/** The update failed; so many events say so in the outbox, and these have reached the webhook. */
const failed = (announced: readonly string[], heard: readonly string[]): Partial<Evidence> => ({
  log: [first, { ...second, state: "FAILED" }],
  announced: announced.map((eventId) => ({ eventId, event: "record.failed", logId: 2, at: 0 })),
  heard: heard.map((eventId) => ({ eventId, logId: 2 })),
});
const twoRecords = (isDeleted: boolean) => ({ records: [record, { ...record, id: "a01000000000002", isDeleted }] });

test.each<readonly [string, Partial<Evidence>]>([
  ["missing row", { rows: [] }],
  ["missing record", { records: [] }],
  ["lost insert", { rows: [], records: [] }],
  ["doubled row", { rows: [row, { ...row, id: "2" }] }],
  ["doubled record", twoRecords(false)],
  ["doubled creation", twoRecords(true)],
  ["undead merged record", { merged: [{ ...THING, id: SFID, master: "a01000000000009" }] }],
  ["wrong sfid", { rows: [{ ...row, sfid: "a01000000000002" }] }],
  ["different field", { rows: [{ ...row, values: { ...row.values, both__c: "h9" } }] }],
  ["lost value", both({ here__c: "h1" })],
  ["lost value", { ...both({ both__c: "t1" }), colleagues: [colleague("update", { both__c: "t1" }, 5)], saves: [] }],
  [
    "undead record",
    {
      application: [...inOrder.application, deed("delete", {}, 3)],
      log: [first, second, logged(3, "DELETE", {})],
    },
  ],
  ["stale save", { saves: inOrder.saves.toReversed().map((one, at) => ({ ...one, sentAt: at, answeredAt: at })) }],
  [
    "stale row",
    {
      ...both({ there__c: "t2" }),
      colleagues: [colleague("update", { there__c: "t1" }, 5), colleague("update", { there__c: "t2" }, 6)],
      seen: [given("t2", null), given("t1", "t2")],
    },
  ],
  ["uncaptured change", { log: [first] }],
  ["change captured twice", { log: [first, second, { ...second, id: 3 }] }],
  ["unexplained change", { log: [first, second, { ...second, id: 3, recordId: 9 }] }],
  ["open change", { log: [first, { ...second, state: "PENDING" }] }],
  ["wrong total", { totals: [{ table: TABLE, success: 3, failed: 0 }] }],
  ["unreported failure", failed([], [])],
  ["failure reported twice", failed(["e1", "e2"], ["e1", "e2"])],
  ["lost event", failed(["e1"], [])],
  ["event made twice", failed(["e1"], ["e1", "e2"])],
  ["outbox not empty", { waitingToBeAnnounced: ["e1"] }],
  ["wrong counter", { calls: { ...inOrder.calls, org: 3 } }],
])("%s: is complained of by this name", (name, change) => {
  expect(complaints({})).toEqual([]);
  expect(new Set(complaints(change))).toEqual(new Set([name]));
});

const LATE = [save({ here__c: "h2" }, 10), save({ here__c: "h1" }, 20, { wasHeld: true }), save({ here__c: "h2" }, 30)];
const restored = (more: Partial<Restored>): Partial<Evidence> => ({
  restored: [
    {
      ...{ what: "PostgreSQL", copiedAt: 100_000, restoredAt: 200_000, undone: [], unannounced: [], decided: [] },
      ...more,
    },
  ],
});
const decided = (isOurs: boolean): Partial<Evidence> => ({
  ...{ ...both({ here__c: "h1" }), saves: [save(first.values, 10)] },
  colleagues: [colleague("insert", {}, 0), colleague("update", { there__c: null }, 150_000)],
  ...restored({ decided: [{ ...THING, action: "update", values: { here__c: "h2" }, isOurs }] }),
});
const undone = (success: boolean): Partial<Evidence> => ({
  ...restored({ undone: [deed("update", { here__c: "h3" }, 150_000)] }),
  saves: [...inOrder.saves, save({ here__c: "h3" }, 150_010, { success })],
});

/** What explains something that would be wrong, and the same where this explanation is not enough. */
test.each<readonly [string, Partial<Evidence>, string, Partial<Evidence>]>([
  [
    "a stale save whose sender was killed since",
    { saves: LATE, struck: [{ whom: 7, at: 25 }] },
    "unseen stale save",
    { saves: LATE, lateReports: [{ table: TABLE, at: 20 }], struck: [{ whom: 8, at: 25 }] },
  ],
  ["a change that a restore undid and that had been refused", undone(false), "lost value", undone(true)],
  ["a change decided against, for a newer one of Salesforce's", decided(false), "lost value", decided(true)],
  [
    "a change that failed and that the operator retried after a restore",
    { ...failed(["e1"], ["e1"]), ...restored({}), retried: [2] },
    "false failure",
    { ...failed(["e1"], ["e1"]), ...restored({}) },
  ],
])("%s is no finding, with less it is", (_, explained, name, unexplained) => {
  expect(complaints(explained)).toEqual([]);
  expect(complaints(unexplained)).toContain(name);
});

test("the judge and the readers of its evidence know nothing of the engine", async () => {
  const imports = (await importsOnce()).filter(({ from }) =>
    /^test\/programs\/prove\/sync\/(judge\/(?!.*test)|read-evidence|wire\/passage)/.test(from),
  );

  expect(imports.length).toBeGreaterThan(5);
  expect(imports.filter(({ to }) => !/^test\/programs\/(prove\/sync\/|ask\.ts)/.test(to))).toEqual([]);
});
