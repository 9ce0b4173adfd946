import { ok, type RestCall, type RestReply } from "../rest-call.ts";
import { quoted } from "../store/database.ts";

/** `GET /limits` (salesforce-facts 5). Only the API calls are really counted. */
export function limits({ parts: { calls, mode } }: RestCall): RestReply {
  const unused = (Max: number) => ({ Max, Remaining: Max });
  return ok({
    ActiveScratchOrgs: unused(3),
    ConcurrentAsyncGetReportInstances: unused(200),
    ConcurrentSyncReportRuns: unused(20),
    DailyApiRequests: { Max: calls.allowance, Remaining: calls.remaining },
    DailyAsyncApexExecutions: unused(250_000),
    DailyBulkApiBatches: unused(15_000),
    DailyBulkV2QueryFileStorageMB: unused(976_562),
    DailyBulkV2QueryJobs: unused(10_000),
    DailyDeliveredPlatformEvents: unused(10_000),
    DailyGenericStreamingApiEvents: unused(10_000),
    DailyStreamingApiEvents: unused(10_000),
    DailyWorkflowEmails: unused(75),
    DataStorageMB: { Max: 5, Remaining: mode.storageFull ? 0 : 5 },
    FileStorageMB: unused(20),
    HourlyAsyncReportRuns: unused(1200),
    HourlyPublishedPlatformEvents: unused(50_000),
    HourlySyncReportRuns: unused(500),
    MassEmail: unused(10),
    SingleEmail: unused(15),
  });
}

/** `GET /limits/recordCount?sObjects=A,B`. */
export function recordCount({ parts, query, name }: RestCall): RestReply {
  const wanted = query.get("sObjects");
  const objects =
    wanted === null
      ? parts.catalog.objects
      : wanted.split(",").flatMap((name) => parts.catalog.find(name.trim()) ?? []);
  const counted = objects.flatMap((object) => {
    const old = parts.faults.on("oldCount", { request: name, object: object.name });
    if (old) return old.count === null ? [] : { count: old.count, name: object.name };
    const alive = object.field("IsDeleted") ? ' WHERE "IsDeleted" = 0' : "";
    return {
      count: Number(parts.database.first(`SELECT count(*) AS n FROM ${quoted(object.name)}${alive}`)?.["n"]),
      name: object.name,
    };
  });
  return ok({ sObjects: wanted === null ? counted.filter(({ count }) => count > 0) : counted });
}
