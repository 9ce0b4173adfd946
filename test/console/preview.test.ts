import * as fc from "fast-check";
import { expect, test } from "vitest";
import { forecastWith } from "../../lib/console/pages/mappings/preview.ts";
import type { Mapping, SyncDirection } from "../../lib/model/mapping/mapping.ts";
import { idleCallsPerDay } from "../../lib/settings/forecast.ts";
import { viewMapping } from "../../lib/settings/mapping-view.ts";

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
  capture: "origin",
  deleteLimit: "auto",
  sweepDays: 1,
  batchSize: 200,
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

test("the console's preview, the list of mappings and the forecast tell the same", () => {
  fc.assert(
    fc.property(fc.array(mapping, { maxLength: 12 }), mapping, (others, another) => {
      const kept = others.map((one, at) => ({ ...one, id: `map_${at}` }));
      const all = [...kept, { ...another, id: "map_new", active: true }];
      const [listed, forecast] = [all.map((one) => viewMapping(one, all)), idleCallsPerDay(all)];

      const told = forecastWith(listed.slice(0, -1), viewMapping(another, all));

      expect(told).toEqual({ all: forecast, own: listed.at(-1)?.calls_per_day });
      expect(listed.reduce((sum, { calls_per_day }) => sum + calls_per_day, 0)).toBe(forecast);
    }),
  );
});
