import type { Definition } from "../../../../lib/local/org/metadata/definition.ts";

/** The custom object of a benchmark: with `Name`, twenty fields of all common kinds. */
export const BENCH_FIELDS = [
  { name: "Key__c", type: "text", length: 40, externalId: true, unique: true, sql: "'K-' || n" },
  { name: "First__c", type: "text", length: 40, sql: "'First ' || n" },
  { name: "Last__c", type: "text", length: 80, sql: "'Last ' || n" },
  { name: "Title__c", type: "text", length: 128, sql: "'Head of Procurement, Europe'" },
  { name: "Street__c", type: "textArea", sql: "(n % 200) || ' Long Winding Road, Building ' || (n % 7)" },
  { name: "City__c", type: "text", length: 40, sql: "'Berlin'" },
  { name: "Country__c", type: "text", length: 80, sql: "'Germany'" },
  { name: "Source__c", type: "picklist", values: ["Web", "Phone"], sql: "iif(n % 2, 'Web', 'Phone')" },
  { name: "Email__c", type: "email", sql: "'person.' || n || '@customer-' || (n % 1000) || '.example'" },
  { name: "Phone__c", type: "phone", sql: "'+49 30 ' || n" },
  { name: "Site__c", type: "url", sql: "'https://customer-' || (n % 1000) || '.example/'" },
  { name: "Amount__c", type: "currency", precision: 18, scale: 2, sql: "n * 1.25" },
  { name: "Score__c", type: "number", precision: 9, scale: 3, sql: "(n % 1000) / 8.0" },
  { name: "Share__c", type: "percent", precision: 5, scale: 2, sql: "n % 100" },
  { name: "Since__c", type: "date", sql: "date('1980-01-01', (n % 10000) || ' days')" },
  { name: "Until__c", type: "date", sql: "iif(n % 3, date('2030-01-01', (n % 1000) || ' days'), NULL)" },
  {
    name: "Seen__c",
    type: "datetime",
    sql: "strftime('%Y-%m-%dT%H:%M:%S.000Z', '2026-01-01', (n % 9000000) || ' seconds')",
  },
  { name: "Active__c", type: "checkbox", sql: "n % 2" },
  { name: "Agreed__c", type: "checkbox", sql: "n % 5 = 0" },
] as const;

/** Every mapped field of a benchmark's object. */
export const MAPPED_FIELDS = ["Name", ...BENCH_FIELDS.map(({ name }) => name)];

/** A text field that makes an object wide. */
export interface MoreField {
  readonly name: string;
  readonly type: "text";
  readonly length: number;
  readonly sql: string;
}

/** Fields that an object of so many in all has beyond those of every benchmark. */
export function moreFields(fieldsInAll: number): readonly MoreField[] {
  return Array.from({ length: Math.max(0, fieldsInAll - MAPPED_FIELDS.length) }, (_, at) => ({
    name: `More${at + 1}__c`,
    type: "text",
    length: 80,
    sql: "'A usual value of record ' || n",
  }));
}

/** An org that has these objects. */
export function definitionOf(objects: readonly string[], more: readonly MoreField[] = []): Definition {
  const fields = [...BENCH_FIELDS, ...more].map(({ sql: _, ...field }) =>
    "values" in field ? { ...field, values: [...field.values] } : field,
  );
  return { objects: objects.map((name) => ({ name, fields })) };
}
