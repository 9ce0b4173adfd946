import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ClaimedChange } from "../../../lib/model/change/change.ts";
import { changeKeys, keepApart } from "../../../lib/model/change/change-keys.ts";
import { column, contactShape } from "../../support/worlds/shapes.ts";

const shape = contactShape({ upsertField: "Key__c" });

const told = fc.option(fc.constantFrom("K-1", "k-1 ", "K-2", "K-3"), { nil: undefined });
const changes = fc
  .array(
    fc.record({
      recordId: fc.integer({ min: 1, max: 5 }),
      sfid: fc.option(fc.constantFrom("003000000000001", "003000000000001AAA", "003000000000002AAA")),
      before: told,
      after: told,
    }),
    { maxLength: 12 },
  )
  .map((some) => some.map(({ recordId, sfid, before, after }, index) => change(index, recordId, sfid, before, after)));

function change(id: number, recordId: number, sfid: string | null, before?: string, after?: string): ClaimedChange {
  const values = (key: string | undefined) => (key === undefined ? {} : { key__c: key });
  const common = { action: "UPDATE", attempts: 0, capturedAt: new Date(0) } as const;
  return { ...common, id, recordId, sfid, old: values(before), values: values(after) };
}

const keysOf = changeKeys(shape).of;

const share = (one: ClaimedChange, other: ClaimedChange) =>
  !new Set(keysOf(one)).isDisjointFrom(new Set(keysOf(other)));

describe("what goes beside changes that are under way", () => {
  test("shares no row, record or upsert value with them, nor with an earlier change that waits for them", () => {
    let waiting = 0;
    const beside = fc.property(changes, fc.nat(12), (all, begun) => {
      const [underWay, rest] = [all.slice(0, begun), all.slice(begun)];

      const { free, behind } = keepApart(shape, new Set(underWay.flatMap((one) => keysOf(one))), rest);

      waiting += behind.length;
      expect([...free, ...behind].sort((a, b) => a.id - b.id)).toEqual(rest);
      for (const one of free) {
        const before = [...underWay, ...behind.filter(({ id }) => id < one.id)];
        expect(before.filter((other) => share(one, other))).toEqual([]);
      }
      for (const one of behind) {
        const before = [...underWay, ...behind.filter(({ id }) => id < one.id)];
        expect(before.some((other) => share(one, other))).toBe(true);
      }
    });

    fc.assert(beside, { numRuns: 2_000 });

    expect(waiting).toBeGreaterThan(1_000);
  });

  test("names no parent in its own table that is under way", () => {
    const parent = { reference: "ReportsToId", relationship: "ReportsTo", object: "Contact", field: "Key__c" };
    const own = contactShape({
      upsertField: "Key__c",
      columns: [column("Key__c"), { ...column("ReportsTo__r.Key__c"), column: "reportsto__r__key__c", parent }],
    });
    const child = { ...change(2, 2, null), values: { reportsto__r__key__c: "K-1" } };

    const { behind } = keepApart(own, new Set(changeKeys(own).of(change(1, 1, null, undefined, "K-1"))), [child]);

    expect(behind).toEqual([child]);
  });
});
