import { BULK_ROUTES } from "../bulk/bulk-routes.ts";
import type { Route } from "../rest-call.ts";
import { createAll, deleteAll, readAll, updateAll, upsertAll } from "./collections.ts";
import { composite, type RunInner } from "./composite.ts";
import { limits, recordCount } from "./limits.ts";
import { deleted, updated } from "./replication.ts";
import { query, queryAll, queryMore } from "./rest-query.ts";
import { resources } from "./root.ts";
import {
  createRecord,
  deleteByKey,
  deleteRecord,
  describeGlobal,
  describeObject,
  readByKey,
  readRecord,
  setPassword,
  updateRecord,
  upsertRecord,
} from "./sobjects.ts";

/** The REST API; of two paths that match, the earlier one answers. */
export function routes(runInner: RunInner): readonly Route[] {
  return [
    ["", { GET: resources }],
    ["query", { GET: query }],
    ["queryAll", { GET: queryAll }],
    ["query/:locator", { GET: queryMore }],
    ["queryAll/:locator", { GET: queryMore }],
    ["limits", { GET: limits }],
    ["limits/recordCount", { GET: recordCount }],
    ["composite", { POST: composite(runInner) }],
    ["composite/sobjects", { POST: createAll, PATCH: updateAll, DELETE: deleteAll }],
    ["composite/sobjects/:object", { GET: readAll, POST: readAll }],
    ["composite/sobjects/:object/:key", { PATCH: upsertAll }],
    ...BULK_ROUTES,
    ["sobjects", { GET: describeGlobal }],
    ["sobjects/:object", { POST: createRecord }],
    ["sobjects/:object/describe", { GET: describeObject }],
    ["sobjects/:object/updated", { GET: updated }],
    ["sobjects/:object/deleted", { GET: deleted }],
    ["sobjects/User/:id/password", { POST: setPassword }],
    ["sobjects/:object/:id", { GET: readRecord, PATCH: updateRecord, DELETE: deleteRecord }],
    ["sobjects/:object/:key/:value", { GET: readByKey, PATCH: upsertRecord, DELETE: deleteByKey }],
  ];
}
