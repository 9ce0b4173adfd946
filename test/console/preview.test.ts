import * as fc from "fast-check";
import { expect, test } from "vitest";
import { columnType } from "../../lib/adapters/postgres/column-type.ts";
import { addedCallsPerDay, columnOf } from "../../lib/console/pages/mappings/preview.ts";
import type { Mapping, SyncDirection } from "../../lib/model/mapping.ts";
import type { FieldType } from "../../lib/model/shape.ts";
import { idleCallsPerDay } from "../../lib/settings/forecast.ts";
import { viewMapping } from "../../lib/settings/mapping-view.ts";
import { column } from "../support/shapes.ts";

const AT = new Date("2026-01-01");
const CONTACT: Mapping = {
  id: "map_1",
  workspaceId: "ws_1",
  sfObject: "Contact",
  pgTable: "contact",
  syncDirection: "bidirectional",
  active: true,
  fields: ["LastName"],
  upsertField: null,
  pollingSeconds: 10,
  notifyEnabled: false,
  conflictPolicy: "salesforce_wins",
  filter: null,
  foreign: {},
  configVersion: 1,
  provisioning: { state: "ready", version: 1 },
  createdAt: AT,
  updatedAt: AT,
  deletedAt: null,
};

const mapping = fc
  .record({
    active: fc.boolean(),
    syncDirection: fc.constantFrom<SyncDirection>("bidirectional", "sf_to_pg", "pg_to_sf"),
    pollingSeconds: fc.constantFrom(10, 60, 86_400),
    filter: fc.constantFrom(null, "Department = 'IT'"),
  })
  .map((settings): Mapping => ({ ...CONTACT, ...settings }));

test("the console tells beforehand what the forecast will tell of another mapping", () => {
  fc.assert(
    fc.property(fc.array(mapping, { maxLength: 12 }), mapping, (others, another) => {
      const told = addedCallsPerDay(others.map(viewMapping), viewMapping(another));
      const added = { ...another, active: true };
      expect(told).toBe(idleCallsPerDay([...others, added]) - idleCallsPerDay(others));
    }),
  );
});

const TYPES: readonly FieldType[] = [
  ...(["id", "reference", "boolean", "date", "time", "int", "long", "double", "currency", "percent"] as const),
  ...(["datetime", "picklist", "multipicklist", "textarea", "anyType", "string", "email", "url"] as const),
];
const sizes = fc.record({
  type: fc.constantFrom(...TYPES),
  length: fc.constantFrom(0, 18, 255, 256, 131_072),
  precision: fc.nat(18),
  scale: fc.nat(18),
});

test("the console shows the columns that a table is made with", () => {
  fc.assert(
    fc.property(sizes, (size) => {
      const made = column("Amount__c", size);
      expect(columnOf({ name: "Amount__c", ...size })).toEqual([made.column, columnType(made)]);
    }),
  );
});
