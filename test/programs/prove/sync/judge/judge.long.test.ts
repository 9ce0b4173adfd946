import { describe, expect, test } from "vitest";
import { importsOnce } from "../../../../support/checks/imports-once.ts";
import type { Evidence, Held, Save, Seen } from "./evidence.ts";
import { colleague, complaints, deed, held, inOrder, logged, save, TABLE, TAG } from "./in-order.ts";
import { judge } from "./judge.ts";

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

describe("a stale save of a cycle that was stopped between check and send, after which the newer value came back", () => {
  const saves = [
    save({ here__c: "h2" }, 10),
    save({ here__c: "h1" }, 20, { wasHeld: true }),
    save({ here__c: "h2" }, 30),
  ];
  const unanswered = saves.map((one) => (one.wasHeld ? { ...one, answeredAt: null, success: null } : one));

  test.each<readonly [string, Partial<Evidence>]>([
    ["its sender said so", { saves, lateReports: [{ table: TABLE, at: 40 }] }],
    ["its sender was killed since", { saves, struck: [{ whom: 7, at: 25 }] }],
    ["the host was killed since", { saves, struck: [{ whom: "host", at: 25 }] }],
    [
      "PostgreSQL, which would have refused its sender, was killed since",
      { saves, struck: [{ whom: "PostgreSQL", at: 25 }] },
    ],
    ["its answer was lost", { saves: unanswered }],
  ])("is forgiven when %s", (_, more) => {
    expect(complaints(more)).toEqual([]);
  });

  test.each<readonly [string, Partial<Evidence>]>([
    ["there was no report", { saves }],
    ["the report was of another table", { saves, lateReports: [{ table: "other__c", at: 40 }] }],
    ["the report came before", { saves, lateReports: [{ table: TABLE, at: 20 }] }],
    ["another process was killed", { saves, struck: [{ whom: 8, at: 25 }] }],
    ["its sender was struck long after", { saves, struck: [{ whom: 7, at: 100_000 }] }],
  ])("is complained of when %s", (_, more) => {
    expect(complaints(more)).toEqual(["unseen stale save"]);
  });
});

describe("an update that nothing captured", () => {
  const captureOff = (from: number, until: number, table = TABLE) => [{ table, from, until }];
  const unseen: Partial<Evidence> = {
    log: [first],
    totals: [],
    ...oneValue({ here__c: "h1", both__c: "h1" }),
    saves: [save({ here__c: "h1", both__c: "h1" }, 10)],
  };

  test("may lose against a colleague's without a trace while capture was off", () => {
    const overruled = {
      ...oneValue({ here__c: null, both__c: "t1" }),
      application: [deed("update", { both__c: "h1" }, 2)],
      colleagues: [colleague("insert", {}, 0), colleague("update", { both__c: "t1" }, 5)],
      log: [],
      totals: [],
      saves: [],
    };
    expect(complaints({ ...overruled, uncaptured: captureOff(2, 3) })).toEqual([]);
    expect(complaints({ ...overruled, uncaptured: captureOff(3, 4) })).toContain("lost value");
  });

  test("may be lost while capture was off, or be captured late", () => {
    expect(complaints({ ...unseen, uncaptured: captureOff(2, 3) })).toEqual([]);
    const late = { log: [first, second, logged(3, "UPDATE", { here__c: "h2" })], totals: [] };
    expect(complaints({ ...late, uncaptured: captureOff(2, 3) })).toEqual([]);
  });

  test.each<readonly [string, Evidence["uncaptured"]]>([
    ["capture was off later", captureOff(3, 9)],
    ["capture was off before", captureOff(0, 1)],
    ["capture of another table was off", captureOff(2, 3, "other__c")],
  ])("is complained of when %s", (_, uncaptured) => {
    expect(new Set(complaints({ ...unseen, uncaptured }))).toEqual(new Set(["lost value", "uncaptured change"]));
  });

  test("is a finding when the two sides differ after it", () => {
    const differ = { ...unseen, records: inOrder.records, uncaptured: captureOff(2, 3) };
    expect(complaints(differ)).toEqual(["different field"]);
  });
});

describe("a record that was created twice and deleted twice", () => {
  const deleted: Partial<Evidence> = {
    rows: [],
    records: [
      { ...record, isDeleted: true },
      { ...record, id: "a01000000000002", isDeleted: true },
    ],
    log: [first, second, logged(3, "DELETE", {})],
    totals: [{ table: TABLE, success: 3, failed: 0 }],
    application: [...inOrder.application, deed("delete", {}, 15)],
  };
  const erased = save({}, 20, { operation: "delete" });
  const again = (more: Partial<Save>) =>
    save({ here__c: "h2" }, 30, { sfid: null, answeredAt: null, success: null, ...more });
  const late = again({ wasHeld: true });

  test("is allowed when an upsert was stopped between check and send until the record was deleted", () => {
    expect(complaints({ ...deleted, saves: [...inOrder.saves, erased, late] })).toEqual([]);
  });

  test.each<readonly [string, readonly Save[]]>([
    ["nothing was stopped", [erased, again({})]],
    ["the one that was stopped came before the delete", [{ ...late, sentAt: 18 }, erased]],
    ["the one that was stopped was refused", [erased, again({ wasHeld: true, success: false })]],
    ["the record was not deleted by Bridge", [late]],
  ])("is complained of when %s", (_, saves) => {
    expect(complaints({ ...deleted, saves: [...inOrder.saves, ...saves] })).toEqual(["doubled creation"]);
  });
});

test.each<readonly [string, Partial<Evidence>]>([
  ["an operator has retried", { retried: [2] }],
  [
    "a newer change of its row has tried again",
    {
      log: [first, { ...second, state: "FAILED" }, logged(3, "UPDATE", { here__c: "h2" })],
      application: [...inOrder.application, deed("update", { here__c: "h2" }, 3)],
    },
  ],
])("a failed change that %s may fail, and be reported, again but no oftener", (_, more) => {
  const failed = { log: [first, { ...second, state: "FAILED" }], totals: [], ...more };
  const announced = (...ids: readonly string[]) => ({
    ...failed,
    announced: ids.map(announcement),
    heard: ids.map(heard),
  });

  expect(complaints(announced("e1", "e2"))).toEqual([]);
  expect(complaints(announced("e1", "e2", "e3"))).toEqual(["failure reported twice"]);
});

describe("a value that lost against Salesforce's", () => {
  const conflict = { sfid: record.id, recordId: 1, column: "both__c", salesforce: "t1", winner: "salesforce" };
  const overruled = {
    ...oneValue({ here__c: "h2", both__c: "t1" }),
    colleagues: [colleague("update", { both__c: "t1" }, 5)],
    saves: [],
  };
  const wrote = (begunAt: number) => ({
    application: [...inOrder.application, deed("update", { both__c: "h3" }, begunAt)],
    uncaptured: [{ table: TABLE, from: 10, until: 20 }],
    conflicts: [{ ...conflict, postgres: "h3" }],
  });

  test("is explained by the conflict that was recorded", () => {
    expect(complaints({ ...overruled, conflicts: [{ ...conflict, postgres: "h1" }] })).toEqual([]);
  });

  test("is explained by the conflict of a later value of the application's that nothing captured", () => {
    expect(complaints({ ...overruled, ...wrote(15) })).toEqual([]);
  });

  test.each<readonly [string, Partial<Evidence>, readonly string[]]>([
    ["after one that nothing captured", {}, []],
    ["after one that was captured", { uncaptured: [] }, ["lost value"]],
    ["without a conflict", { conflicts: [] }, ["lost value"]],
    ["in a conflict that it won", { conflicts: [{ ...conflict, postgres: "h3", winner: "postgres" }] }, ["lost value"]],
  ])("may be an older one of the application's own %s", (_, more, findings) => {
    const old = {
      ...oneValue({ here__c: "h2", both__c: "h1" }),
      application: [
        ...inOrder.application,
        deed("update", { both__c: "h2" }, 15),
        deed("update", { both__c: "h3" }, 25),
      ],
      log: [...inOrder.log, logged(3, "UPDATE", { both__c: "h3" })],
      totals: [],
      saves: [save({ here__c: "h2", both__c: "h1" }, 10)],
      uncaptured: [{ table: TABLE, from: 10, until: 20 }],
      conflicts: [{ ...conflict, postgres: "h3", salesforce: "h1" }],
    };
    expect(complaints({ ...old, ...more }).filter((one) => one === "lost value")).toEqual(findings);
  });

  test("is not explained by the conflict of a value that was not written after it", () => {
    expect(complaints({ ...overruled, conflicts: [{ ...conflict, postgres: "h3" }] })).toEqual(["lost value"]);
  });
});

test("the story of a finding shows what both sides, Bridge and the log know of the record", () => {
  const [finding] = judge({ ...inOrder, records: [] });

  expect(finding?.story).toEqual([
    expect.stringContaining("application: insert row 1"),
    expect.stringContaining("application: update row 1"),
    expect.stringContaining("Bridge saves: upsert"),
    expect.stringContaining("Bridge saves: upsert"),
    expect.stringContaining("change 1: INSERT row 1"),
    expect.stringContaining("change 2: UPDATE row 1"),
    expect.stringContaining("row 1 a01000000000001"),
  ]);
});

test("the judge and the readers of its evidence know nothing of the engine", async () => {
  const judges = ["judge", "judge-order", "judge-books", "judge-restores", "story", "thing", "evidence"].map(
    (name) => `judge/${name}`,
  );
  const files = [...judges, "read-evidence", "wire/passage"].map((name) => `test/programs/prove/sync/${name}.ts`);
  const imports = (await importsOnce()).filter(({ from }) => files.includes(from));

  expect(imports.length).toBeGreaterThan(5);
  expect(imports.map(({ to }) => to).filter((to) => to !== "pg" && !files.includes(to))).toEqual([]);
});
