import { describe, expect, test } from "vitest";
import { bulkCalls, JOB_RECORDS, soapCalls, waysOf } from "../../../lib/model/change/ways.ts";
import type { Operation, OutgoingRecord } from "../../../lib/model/record/record.ts";

const write = (record: Partial<OutgoingRecord>, attempts = 0) => ({
  record: { id: null, values: { LastName: "Rose" }, ...record },
  attempts,
});
const crowd = (records: number, record: Partial<OutgoingRecord> = {}, attempts = 0) =>
  Array.from({ length: records }, () => write(record, attempts));

const sizes = (operation: Operation, writes: readonly ReturnType<typeof write>[]) => {
  const { bulk, soap } = waysOf(operation, writes);
  return { bulk: bulk.map((job) => job.length), soap: soap.length };
};

/** The fewest records that cost fewer calls as a job. */
const FEWEST = 2_201;

describe("the way with fewer calls", () => {
  test("is SOAP while it is even, and a job from one record more", () => {
    expect([200, 201, FEWEST - 1, FEWEST].map(soapCalls)).toEqual([1, 2, 11, 12]);
    expect(bulkCalls(FEWEST)).toBe(11);
    expect(sizes("update", crowd(FEWEST - 1))).toEqual({ bulk: [], soap: FEWEST - 1 });
    expect(sizes("update", crowd(FEWEST))).toEqual({ bulk: [FEWEST], soap: 0 });
  });

  test("is judged job by job: what is left of the last one goes by SOAP if it is small", () => {
    expect(sizes("upsert", crowd(JOB_RECORDS + 1))).toEqual({ bulk: [JOB_RECORDS], soap: 1 });
    expect(sizes("upsert", crowd(JOB_RECORDS + FEWEST))).toEqual({ bulk: [JOB_RECORDS, FEWEST], soap: 0 });
  });
});

describe("a job", () => {
  test("holds records of the same fields only; a group that is too small goes by SOAP", () => {
    const mixed = [
      ...crowd(FEWEST, { values: { Email: null } }),
      ...crowd(100, { values: { LastName: "Rose" } }),
      ...crowd(FEWEST - 1, { values: { LastName: "Rose", Email: "r@example.com" } }),
      write({ values: { Email: null, LastName: "Rose" } }),
    ];

    expect(sizes("update", mixed)).toEqual({ bulk: [FEWEST, FEWEST], soap: 100 });
  });

  test("takes no plain insert, whose result nothing would match, and no undelete", () => {
    expect(sizes("create", crowd(FEWEST)).bulk).toEqual([]);
    expect(sizes("undelete", crowd(FEWEST)).bulk).toEqual([]);
    expect(sizes("delete", crowd(FEWEST, { id: "003000000000001AAA", values: {} })).bulk).toEqual([FEWEST]);
  });

  test("takes nothing that was tried before, so that a job that fails as a whole is never repeated", () => {
    expect(sizes("update", [...crowd(FEWEST), ...crowd(7, {}, 1)])).toEqual({ bulk: [FEWEST], soap: 7 });
  });

  test.each([
    ["that says what clears a field", "#N/A"],
    ["of blanks, which a file leaves alone", "  "],
    ["longer than a field of a file", "x".repeat(131_073)],
  ])("takes no record with a text %s", (_, text) => {
    const odd = [
      write({ values: { LastName: text } }),
      write({ values: { LastName: "Rose" }, parents: [parent(text)] }),
    ];

    expect(sizes("update", [...crowd(FEWEST), ...odd])).toEqual({ bulk: [FEWEST], soap: 2 });
  });

  test("takes no record that is longer than a file's may be, and no more than a file may hold", () => {
    const long = (characters: number) => ({
      values: Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`Text${index}__c`, "x".repeat(characters)])),
    });

    expect(sizes("update", [...crowd(FEWEST, long(10)), write(long(100_001))])).toEqual({ bulk: [FEWEST], soap: 1 });
    expect(sizes("update", crowd(5_000, long(3_000))).bulk).toEqual([2_775, 2_225]);
  });
});

const parent = (value: string) => ({
  reference: "AccountId",
  relationship: "Account",
  object: "Account",
  field: "External_Id__c",
  value,
});
