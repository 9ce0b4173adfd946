import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Action, ClaimedChange } from "../../../lib/model/change/change.ts";
import { type Folded, fold, type Write } from "../../../lib/model/change/fold.ts";
import type { ColumnValues } from "../../../lib/model/mapping/shape.ts";
import { isWholeGrid } from "../../support/run/whole-grid.ts";
import { column, contactShape } from "../../support/worlds/shapes.ts";

const shape = contactShape({ upsertField: "Key__c" });

let nextId = 1;

function change(action: Action, recordId: number, more: Partial<ClaimedChange> = {}): ClaimedChange {
  const capturedAt = new Date("2026-11-20T10:00:00Z");
  return { id: nextId++, action, recordId, sfid: null, old: {}, values: {}, attempts: 0, capturedAt, ...more };
}

const writesOf = (folded: Folded): Write[] => folded.batches.flatMap(({ writes }) => writes);

describe("rows that name rows of their own table as parents", () => {
  const parent = { reference: "ReportsToId", relationship: "ReportsTo", object: "Contact", field: "Key__c" };
  const named = column("ReportsTo__r.Key__c", { column: "boss", parent });
  const nested = contactShape({ upsertField: "Key__c", columns: [column("Key__c"), column("LastName"), named] });

  test.each([
    [
      "in a later call, for Salesforce looks for parents first",
      ["root", "branch<root", "leaf<BRANCH "],
      [[1], [2], [3]],
    ],
    ["in the same call as rows that they do not name", ["one", "two<elsewhere", "three"], [[1, 2, 3]]],
    ["before a parent that comes after them in the log", ["leaf<root", "root"], [[1, 2]]],
  ])("go %s", (_, rows, calls) => {
    const changes = rows.map((row, at) => {
      const [key__c = "", boss = null] = row.split("<");
      return change("INSERT", at + 1, { values: { key__c, lastname: "Rose", boss } });
    });

    expect(fold(nested, changes).batches.map(({ writes }) => writes.map(({ recordId }) => recordId))).toEqual(calls);
  });
});

describe("changes of one row", () => {
  const [SFID, NONE] = ["003000000000001AAA", null];

  test("an insert and the updates after it travel as one record", () => {
    const changes = [
      change("INSERT", 1, { values: { lastname: "Rose", email: "a@b.c" } }),
      change("UPDATE", 1, { values: { email: null } }),
      change("UPDATE", 1, { values: { lastname: "Roses" } }),
    ];

    const [write, ...others] = writesOf(fold(shape, changes));

    expect(others).toEqual([]);
    expect(write).toMatchObject({ operation: "create", action: "INSERT", changeIds: changes.map(({ id }) => id) });
    expect(write?.record).toEqual({ id: null, values: { LastName: "Roses" } });
  });

  test.each([
    [[4, 0], 4],
    [[0, 4], 4],
    [[1, 3, 2], 3],
  ])(
    "changes that were tried %j times count as tried %i times, so that a newer edit starts no new tries, and from the latest of them",
    (tried, most) => {
      const changes = tried.map((attempts, at) => {
        const capturedAt = new Date(Date.UTC(2026, 10, 20, 10, 0, at === 1 ? 9 : at));
        return change("UPDATE", 1, { sfid: SFID, values: { email: `${at}@b.c` }, attempts, capturedAt });
      });

      const latest = new Date("2026-11-20T10:00:09Z");
      expect(writesOf(fold(shape, changes))).toMatchObject([{ attempts: most, capturedAt: latest }]);
    },
  );

  const READ_ONLY = { unwritable: { sfid: SFID, fields: ["Name"] } };
  test.each([
    ["an update of what can be written", SFID, ["UPDATE email"], { sent: "update" }],
    ["an update of what cannot", SFID, ["UPDATE name"], { settled: READ_ONLY }],
    ["an update of both", SFID, ["UPDATE name email"], { sent: "update" }],
    ["an update of a column that is not mapped any more", SFID, ["UPDATE gone"], { settled: {} }],
    ["an update that both sides overruled", SFID, ["UPDATE"], { settled: {} }],
    ["two updates of what cannot be written", SFID, ["UPDATE name", "UPDATE name"], { settled: READ_ONLY }],
    ["a delete", SFID, ["UPDATE name", "DELETE"], { sent: "delete" }],
    ["an update without a record", NONE, ["UPDATE email"], { recordless: true }],
    ["updates without a record", NONE, ["UPDATE email", "UPDATE name"], { recordless: true }],
    ["an update without a record of what cannot be written", NONE, ["UPDATE name"], { recordless: true }],
    ["a delete without a record", NONE, ["DELETE"], { settled: {} }],
    ["an update and a delete without a record", NONE, ["UPDATE email", "DELETE"], { settled: {} }],
    ["an insert that was deleted before it was sent", NONE, ["INSERT lastname", "DELETE"], { settled: {} }],
    ["an insert with an upsert value", NONE, ["INSERT lastname key__c"], { sent: "upsert" }],
    ["an update and its row's insert", NONE, ["INSERT lastname", "UPDATE email"], { sent: "create" }],
    ["an update, and then all of its row", NONE, ["UPDATE email", "INSERT lastname"], { sent: "create" }],
  ] as const)("%s ends as it should", (_, sfid, steps, result) => {
    const changes = steps.map((step) => {
      const [action = "", ...columns] = step.split(" ");
      const values = Object.fromEntries(columns.map((column) => [column, `a ${column}`]));
      return change(action as Action, 1, { sfid, values });
    });

    const folded = fold(shape, changes);

    const ended = { recordId: 1, changeIds: changes.map(({ id }) => id) };
    expect(folded.recordless).toEqual("recordless" in result ? [ended] : []);
    expect(folded.settled).toEqual("settled" in result ? [{ ...ended, ...result.settled }] : []);
    expect(writesOf(folded).map(({ operation, changeIds }) => [operation, changeIds])).toEqual(
      "sent" in result ? [[result.sent, ended.changeIds]] : [],
    );
  });

  test("what was captured of a row before all of it is not added to it, whatever lies between", () => {
    const changes = [
      change("UPDATE", 1, { values: { email: "old@example.com" } }),
      change("UPDATE", 2, { sfid: SFID, old: { key__c: "K-1" }, values: { key__c: "K-2" } }),
      change("INSERT", 1, { values: { lastname: "Rose", key__c: "K-1" } }),
    ];

    const folded = fold(shape, changes);

    const [first, , last] = changes;
    expect(folded.recordless).toEqual([]);
    expect(writesOf(folded).map(({ changeIds }) => changeIds)).toEqual([[changes[1]?.id], [first?.id, last?.id]]);
    expect(writesOf(folded)[1]?.record.values).toEqual({ LastName: "Rose", Key__c: "K-1" });
  });

  test("a value that no request can carry fails its own record alone", () => {
    const changes = [
      change("INSERT", 1, { values: { lastname: "bell\u0007" } }),
      change("INSERT", 2, { values: { lastname: "Rose" } }),
    ];

    const folded = fold(shape, changes);

    expect(folded.refused).toMatchObject([{ recordId: 1, error: expect.stringContaining("U+0007") }]);
    expect(writesOf(folded).map(({ recordId }) => recordId)).toEqual([2]);
  });
});

describe("changes that share a key", () => {
  test("a delete is sent before the insert that takes its upsert value", () => {
    const folded = fold(shape, [
      change("DELETE", 1, { sfid: "003000000000001AAA", old: { key__c: "K-1" } }),
      change("INSERT", 2, { values: { lastname: "Rose", key__c: "k-1 " } }),
    ]);

    expect(folded.batches.map(({ operation }) => operation)).toEqual(["delete", "upsert"]);
    expect(writesOf(folded)[1]?.after).toEqual([writesOf(folded)[0]]);
  });

  test("an insert waits for the update that gives its value up, also where a row that was inserted and deleted had it in between", () => {
    const three = { sfid: "003000000000003AAA" };
    const folded = fold(shape, [
      change("DELETE", 2, { sfid: "003000000000002AAA", old: { key__c: "K-2" } }),
      change("UPDATE", 3, { ...three, old: { key__c: "K-3" }, values: { key__c: null } }),
      change("INSERT", 5, { values: { lastname: "Rose", key__c: "K-3" } }),
      change("DELETE", 5, { old: { key__c: "K-3" } }),
      change("UPDATE", 3, { ...three, old: { key__c: null }, values: { key__c: "K-2" } }),
      change("INSERT", 4, { values: { lastname: "Rose", key__c: "K-3" } }),
    ]);

    expect(folded.batches.map(({ operation }) => operation)).toEqual(["delete", "update", "upsert"]);
  });

  test("an update that needs a record which is only being created waits for its id", () => {
    const created = change("INSERT", 2, { values: { lastname: "Rose" } });
    const freed = change("DELETE", 1, { sfid: "003000000000001AAA", old: { key__c: "K-1" } });
    const taken = change("UPDATE", 2, { values: { key__c: "K-1" }, old: { key__c: null } });
    const later = change("UPDATE", 2, { values: { email: "a@b.c" }, old: { email: null } });

    const folded = fold(shape, [created, freed, taken, later]);

    expect(folded.early).toEqual([{ recordId: 2, changeIds: [taken.id, later.id] }]);
    expect(writesOf(folded).map(({ operation }) => operation)).toEqual(["delete", "create"]);
  });
});

/** What Salesforce would hold after the writes: records by id, an upsert finding its record by key. */
type Org = Map<string, ColumnValues>;

function idByKey(org: Org, key: string): string | undefined {
  return [...org].find(([, values]) => values["Key__c"]?.toLowerCase() === key.toLowerCase())?.[0];
}

function applyWrite(org: Org, write: Write, newId: (recordId: number) => string): void {
  const { operation, record, recordId } = write;
  const key = record.values["Key__c"];
  if (operation === "delete") org.delete(record.id ?? "");
  else {
    const id = record.id ?? (operation === "upsert" && key ? idByKey(org, key) : undefined) ?? newId(recordId);
    const other = key ? idByKey(org, key) : undefined;
    if (other !== undefined && other !== id) throw new Error(`DUPLICATE_VALUE ${key}`);
    org.set(id, { ...org.get(id), ...record.values });
  }
}

/** A table with a unique key, its capture, and an org that starts equal to it. */
function play(steps: readonly (readonly [Action, number, number, string])[]) {
  const rows = new Map<number, { sfid: string | null; values: Record<string, string | null> }>();
  const org: Org = new Map();
  const changes: ClaimedChange[] = [];
  const sfidOf = (row: number) => `003${String(row).padStart(12, "0")}AAA`;
  for (const row of [1, 2, 3]) {
    rows.set(row, { sfid: sfidOf(row), values: { lastname: `R${row}`, key__c: `k${row}` } });
    org.set(sfidOf(row), { LastName: `R${row}`, Key__c: `k${row}` });
  }
  for (const [action, row, key, text] of steps) {
    const held = rows.get(row);
    const key__c = key === 0 ? null : `k${key}`;
    const taken =
      key__c !== null && [...rows].some(([other, { values }]) => other !== row && values["key__c"] === key__c);
    if (action === "INSERT" ? held !== undefined || taken : held === undefined) continue;
    if (action === "INSERT") {
      const values = { lastname: text, ...(key__c !== null && { key__c }) };
      rows.set(row, { sfid: null, values: { key__c: null, ...values } });
      changes.push(change("INSERT", row, { values }));
    } else if (action === "DELETE" && held) {
      rows.delete(row);
      changes.push(change("DELETE", row, { sfid: held.sfid, old: { ...held.values } }));
    } else if (held && !taken) {
      const values = { lastname: text, key__c };
      changes.push(change("UPDATE", row, { sfid: held.sfid, old: { ...held.values }, values }));
      rows.set(row, { ...held, values: { ...held.values, ...values } });
    }
  }
  return { rows, org, changes };
}

test("whatever happens to the rows, sending the folded writes leaves Salesforce with what the table holds, and each change ends in one place", () => {
  const step = fc.tuple(
    fc.constantFrom<Action>("INSERT", "UPDATE", "DELETE"),
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 0, max: 4 }),
    fc.constantFrom("a", "b", "c"),
  );

  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const { rows, org, changes } = play(steps);
      const born = new Map<number, string>();
      let waiting = changes;
      let number = 100;
      for (let round = 0; waiting.length > 0; round++) {
        if (round > 30) throw new Error("changes are claimed for ever");
        const folded = fold(shape, waiting);
        for (const write of writesOf(folded)) {
          applyWrite(org, write, () => `003${String(number++).padStart(12, "0")}AAA`);
          if (write.action !== "INSERT" || write.record.id !== null) continue;
          const key = write.record.values["Key__c"];
          const id = (key && idByKey(org, key)) ?? [...org.keys()].at(-1);
          if (id) born.set(write.recordId, id);
        }
        const places = [...writesOf(folded), ...folded.settled, ...folded.recordless, ...folded.early];
        expect(places.flatMap(({ changeIds }) => changeIds).sort()).toEqual(waiting.map(({ id }) => id).sort());
        const early = new Set(folded.early.flatMap(({ changeIds }) => changeIds));
        waiting = waiting
          .filter(({ id }) => early.has(id))
          .map((one) => ({ ...one, sfid: one.sfid ?? born.get(one.recordId) ?? null }));
      }

      const lower = (key: string | null | undefined) => key?.toLowerCase() ?? null;
      const table = [...rows.values()].map(({ values }) => [values["lastname"], lower(values["key__c"])]);
      const salesforce = [...org.values()].map((values) => [values["LastName"], lower(values["Key__c"])]);
      expect(salesforce.sort()).toEqual(table.sort());
    }),
    { numRuns: isWholeGrid ? 30_000 : 8_000 },
  );
});
