import { describe, expect, test } from "vitest";
import type { Evidence, Restored } from "./evidence.ts";
import { colleague, complaints, deed, held, inOrder, logged, save, TABLE, TAG } from "./in-order.ts";

const restored = (more: Partial<Restored> = {}): Partial<Evidence> => ({
  restored: [
    { what: "PostgreSQL", copiedAt: 100_000, restoredAt: 200_000, undone: [], unannounced: [], decided: [], ...more },
  ],
});

const ending = (values: Evidence["rows"][number]["values"]): Partial<Evidence> => ({
  rows: [held(values, { id: "1" })],
  records: [{ ...held(values), isDeleted: false }],
});

const decided = (isOurs: boolean) => [
  { table: TABLE, tag: TAG, action: "update" as const, values: { here__c: "h2" }, isOurs },
];

describe("a change that a restore has undone", () => {
  const undone = [deed("update", { here__c: "h3" }, 150_000)];
  const saved = (success: boolean | null) => [...inOrder.saves, save({ here__c: "h3" }, 150_010, { success })];

  test.each<readonly [string, string, Partial<Evidence>, readonly string[]]>([
    ["was saved, and stays", "h3", { saves: saved(true) }, []],
    ["was saved, and gave way to an older one", "h2", { saves: saved(true) }, ["lost value"]],
    ["was perhaps saved", "h2", { saves: saved(null) }, []],
    ["was refused", "h2", { saves: saved(false) }, []],
    ["was never sent", "h2", {}, []],
    [
      "was saved before an older one was",
      "h2",
      { saves: [...saved(true), save({ here__c: "h2" }, 250_000)] },
      ["lost value", "stale save"],
    ],
  ])("%s", (_, here__c, more, findings) => {
    expect(complaints({ ...ending({ here__c, both__c: "h1" }), ...restored({ undone }), ...more })).toEqual(findings);
  });

  test("is not looked for in the log, and a row that it had inserted is not missed", () => {
    const gone = [deed("insert", { here__c: "h9" }, 150_000, { tag: "h9-1", recordId: 2 })];
    expect(complaints(restored({ undone: gone }))).toEqual([]);
  });

  test("and whose failure was announced may be announced again", () => {
    const failed = {
      log: [logged(1, "INSERT", { here__c: "h1", both__c: "h1" }), logged(2, "UPDATE", { here__c: "h2" })],
      heard: [{ eventId: "e1", logId: 2 }],
    };
    expect(complaints({ ...failed, ...restored({ unannounced: ["e1"] }) })).toEqual([]);
  });
});

describe("a change that a person decided against", () => {
  const old = { ...ending({ here__c: "h1", both__c: "h1" }), saves: [save({ here__c: "h1", both__c: "h1" }, 10)] };
  const touched = { colleagues: [colleague("insert", {}, 0), colleague("update", { there__c: null }, 150_000)] };

  test.each<readonly [string, Partial<Evidence>, readonly string[]]>([
    [
      "where Salesforce's record was changed since the copy",
      { ...touched, ...restored({ decided: decided(false) }) },
      [],
    ],
    ["where nothing was changed there", restored({ decided: decided(false) }), ["lost value"]],
    ["where the person decided for it", { ...touched, ...restored({ decided: decided(true) }) }, ["lost value"]],
    ["where the person decided about another", { ...touched, ...restored() }, ["lost value"]],
  ])("may be lost %s", (_, more, findings) => {
    expect(complaints({ ...old, ...more })).toEqual(findings);
  });
});

test("an older value may come over a newer one where a person decided so", () => {
  const again = {
    ...ending({ here__c: "h2", both__c: "h1" }),
    saves: [...inOrder.saves, save({ here__c: "h3" }, 150_000), save({ here__c: "h2" }, 250_000)],
  };
  const undone = [deed("update", { here__c: "h3" }, 140_000)];

  expect(complaints({ ...again, ...restored({ undone, decided: decided(true) }) })).toEqual([]);
  expect(complaints({ ...again, ...restored({ undone }) })).toEqual(["lost value", "stale save"]);
});

test("what the application wrote on a row of before may give way to Salesforce's value, with a conflict", () => {
  const conflict = {
    sfid: "a01000000000001",
    recordId: 1,
    column: "here__c",
    postgres: "h4",
    salesforce: "h3",
    winner: "salesforce",
  };
  const late = {
    ...ending({ here__c: "h3", both__c: "h1" }),
    saves: [...inOrder.saves, save({ here__c: "h3" }, 150_000)],
    application: [...inOrder.application, deed("update", { here__c: "h4" }, 250_000)],
    log: [...inOrder.log, logged(3, "UPDATE", { here__c: "h4" })],
    totals: [],
    ...restored({ undone: [deed("update", { here__c: "h3" }, 140_000)] }),
  };

  expect(complaints({ ...late, conflicts: [conflict] })).toEqual([]);
  expect(complaints(late)).toEqual(["lost value"]);
  expect(complaints({ ...late, conflicts: [{ ...conflict, winner: "postgres" }] })).toEqual(["lost value"]);
});

test("a change fails for its own reasons alone", () => {
  const failed = {
    log: [logged(1, "INSERT", { here__c: "h1" }), logged(2, "UPDATE", {}, { state: "FAILED" })],
    totals: [],
  };
  const announced = {
    announced: [{ eventId: "e", event: "record.failed", logId: 2, at: 0 }],
    heard: [{ eventId: "e", logId: 2 }],
  };

  expect(complaints({ ...failed, ...announced, ...restored() })).toEqual(["false failure"]);
  expect(complaints({ ...failed, ...announced, ...restored(), retried: [2] })).toEqual([]);
});
