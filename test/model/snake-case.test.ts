import { expect, test } from "vitest";
import * as z from "zod/mini";
import { activityRow, mappingItem } from "../../lib/http/contract.ts";
import { toCamelCase, toSnakeCase } from "../../lib/model/snake-case.ts";
import { changeView } from "../../lib/settings/change-story.ts";
import { connectedView, connectionsView } from "../../lib/settings/connection-view.ts";
import { heldDelete } from "../../lib/settings/held-deletes/reject-ports.ts";
import { mappingView } from "../../lib/settings/mapping-view.ts";
import {
  capturedChange,
  conflictView,
  failureKind,
  inboundErrorView,
  mappingProgress,
} from "../../lib/settings/row-ports.ts";
import { tokenView } from "../../lib/settings/token-view.ts";

const attempts = z.object({
  table_name: z.string(),
  first_at: z.iso.datetime(),
  last_at: z._default(z.nullable(z.iso.datetime()), null),
  _ab_err: z.nullable(z.string()),
  made: z.array(z.object({ started_at: z.iso.datetime(), response_code: z.int() })),
  foreign: z.record(z.string(), z.unknown()),
  provisioning: z.union([z.object({ since_version: z.number() }), z.null()]),
});

const outside = {
  table_name: "contact",
  first_at: "2026-03-01T11:00:00.000Z",
  last_at: null,
  _ab_err: "no such record_id",
  made: [{ started_at: "2026-03-01T11:00:01.000Z", response_code: 500 }],
  foreign: { sf_name: { Last_Name__c: 1 } },
  provisioning: { since_version: 3 },
};

const inside = {
  tableName: "contact",
  firstAt: new Date("2026-03-01T11:00:00.000Z"),
  lastAt: null,
  _abErr: "no such record_id",
  made: [{ startedAt: new Date("2026-03-01T11:00:01.000Z"), responseCode: 500 }],
  foreign: { sf_name: { Last_Name__c: 1 } },
  provisioning: { since_version: 3 },
};

test("names of a schema change their spelling and times their type; keys of maps and unions stay, and other names go", () => {
  expect(toCamelCase(attempts, outside)).toEqual(inside);
  const more = { secret: "s", ...inside };
  expect(JSON.stringify(toSnakeCase(attempts, more)), "in the schema's order").toBe(JSON.stringify(outside));
});

test("each schema of an answer goes there and back with a value in every member", () => {
  const schemas = {
    ...{
      activityRow,
      capturedChange,
      changeView,
      conflictView,
      connectedView,
      connectionsView,
      failureKind,
      heldDelete,
    },
    ...{ inboundErrorView, mappingItem, mappingProgress, mappingView, tokenView },
  };
  for (const [name, schema] of Object.entries(schemas)) {
    const sample = sampleOf(schema);
    expect([name, schema.safeParse(sample)]).toEqual([name, { success: true, data: sample }]);
    expect([name, toSnakeCase(schema as z.ZodMiniType, toCamelCase(schema, sample))]).toEqual([name, sample]);
  }
});

/** A value with something in every member. */
function sampleOf(schema: z.core.$ZodType): unknown {
  const { def } = schema._zod as z.core.$ZodTypes["_zod"];
  if (def.type === "object") {
    return Object.fromEntries(Object.entries(def.shape).map(([name, member]) => [name, sampleOf(member)]));
  }
  if (def.type === "array") return [sampleOf(def.element)];
  if (def.type === "nullable" || def.type === "default") return sampleOf(def.innerType);
  if (def.type === "record") return { of_a_map: sampleOf(def.valueType) };
  if (def.type === "enum") return Object.values(def.entries)[0];
  if (def.type === "number") return 7;
  if (def.type === "boolean") return true;
  return "format" in def && def.format === "datetime" ? "2026-03-01T11:00:00.000Z" : "text";
}
