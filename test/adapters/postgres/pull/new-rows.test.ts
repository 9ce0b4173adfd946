import { expect, test } from "vitest";
import type { CsvLine } from "../../../../lib/model/record/csv-line.ts";
import { imageOfLine } from "../../../../lib/model/record/incoming.ts";
import { image, orgTime, page, sfidOf } from "../customer.ts";
import { aCustomerForEachTest, customer, sql } from "../world.ts";

aCustomerForEachTest();

const HARD = ["\\N", "a\tb", "line\nbreak\r\n", "\\", "\\.", 'quo"te', "ü😀", ""];

/** The last names of the rows of as many records. */
async function namesAfter(): Promise<unknown[]> {
  const { store, lease } = await customer.cycle();
  const applied = await store.apply(
    lease,
    page(HARD.map((lastname, index) => image(index, index, { lastname, email: null }))),
  );
  expect(applied).toMatchObject({ inserted: HARD.length, rejected: 0 });
  const rows = await sql(`SELECT lastname, email, _ab_lastop FROM salesforce.contact ORDER BY sfid`);
  expect(rows.every(({ email, _ab_lastop }) => email === null && _ab_lastop === "SYNCED")).toBe(true);
  return rows.map(({ lastname }) => lastname);
}

test("a new row holds what its record holds, signs of a COPY included", async () => {
  expect(await namesAfter()).toEqual(HARD);
  expect(await sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
});

test("a table with rules, and one with row security, take records, too", async () => {
  await sql(`CREATE TABLE salesforce.noted (name text);
    CREATE RULE note AS ON INSERT TO salesforce.contact DO ALSO INSERT INTO salesforce.noted VALUES (NEW.lastname);
    ALTER TABLE salesforce.contact ENABLE ROW LEVEL SECURITY`);
  await customer.provision({ configVersion: 2 });

  expect(await namesAfter()).toEqual(HARD);
  expect(await sql("SELECT name FROM salesforce.noted")).toHaveLength(HARD.length);
});

/** Lines of CSV of records that have these names, and nothing else. */
function linesOf(lastnames: readonly string[]): CsvLine[] {
  const fields = customer.shape.columns.map(({ field }) => field);
  const names = ["Id", "SystemModstamp", "IsDeleted", ...fields];
  return lastnames.map((lastname, number) => {
    const own = [sfidOf(number), orgTime(number).toISOString(), "false"];
    const values = [...own, ...fields.map((field) => (field === "LastName" ? lastname : ""))];
    const text = values.map((value) => `"${value.replaceAll('"', '""')}"`).join(",");
    return { names, text };
  });
}

test.each([
  ["as they came", HARD.filter((value) => !value.includes("\\."))],
  ["by their values where a line could be mistaken for the end of a COPY", [...HARD, "a\n\\.\nb"]],
])("lines of CSV become rows %s, what is empty NULL", async (_, values) => {
  let copies = 0;
  const before = async (statement: string) => void (statement.startsWith("COPY") && copies++);
  const { store, lease } = await customer.cycle({ work: "load", before });

  const images = linesOf(values).map((line) => imageOfLine(customer.shape, line));
  const applied = await store.apply(lease, page(images, { lane: "load" }));

  expect(applied).toMatchObject({ inserted: values.length, rejected: 0 });
  expect(copies).toBe(values.length < HARD.length ? 1 : 0);
  const rows = await sql(
    "SELECT sfid, lastname, email, systemmodstamp, isdeleted, _ab_lastop, _ab_err FROM salesforce.contact ORDER BY sfid",
  );
  expect(rows).toEqual(
    values.map((value, number) => ({
      sfid: sfidOf(number),
      lastname: value === "" ? null : value,
      email: null,
      systemmodstamp: orgTime(number),
      isdeleted: false,
      _ab_lastop: "SYNCED",
      _ab_err: null,
    })),
  );
  expect(await sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
});

test("one bad line among new rows keeps only its own record out", async () => {
  const { store, lease } = await customer.cycle({ work: "load" });

  const images = linesOf(["Curie", "a\0b", "Noether"]).map((line) => imageOfLine(customer.shape, line));
  const applied = await store.apply(lease, page(images, { lane: "load" }));

  expect(applied).toMatchObject({ inserted: 2, rejected: 1 });
  expect(await sql("SELECT sqlstate FROM salesforce._bridge_inbound_errors")).toEqual([{ sqlstate: "22021" }]);
});
