import type {
  ExportConfigData,
  ListActivityData,
  ListAuditLogData,
  ListConflictsData,
  ListDeliveriesData,
  ListFailuresData,
  ListHeldDeletesData,
  ListInboundErrorsData,
  ListMappingStatesData,
  ListObjectsData,
  ListRowsData,
  ListTokensData,
  ListWebhooksData,
  ReadBudgetData,
  ReadChangeData,
  ReadConnectionsData,
  ReadDeliveryData,
  ReadDoorbellData,
  ReadDriftData,
  ReadDryRunData,
  ReadFleetData,
  ReadHealthData,
  ReadMappingData,
  ReadObjectData,
  ReadOwnTokenData,
  ReadRestorePlanData,
  ReadRowStoryData,
  ReadThroughputData,
  ReadWebhookData,
  ReadWorkspaceData,
} from "bridge/api";
import type { Query, Question } from "./ask.ts";

/** Everything that the console asks, by what it is; the words are those of the API. */
export const questions = {
  ownToken: on<ReadOwnTokenData>("/tokens/current"),
  health: on<ReadHealthData>("/health", { incidents: "true" }),
  budget: on<ReadBudgetData>("/monitoring/budget"),
  budgetWith: (query: Query) => on<ReadBudgetData>("/monitoring/budget", query),
  doorbell: on<ReadDoorbellData>("/doorbell"),
  mappings: on<ListMappingStatesData>("/monitoring/mappings"),
  mapping: (id: string) => on<ReadMappingData>(`/mappings/${encodeURIComponent(id)}`),
  rows: (id: string, query: Query) => on<ListRowsData>(`/mappings/${encodeURIComponent(id)}/rows`, query),
  dryRun: (id: string) => on<ReadDryRunData>(`/mappings/${encodeURIComponent(id)}/dry-run`),
  heldDeletes: (id: string, query: Query) =>
    on<readonly ListHeldDeletesData[]>(`/mappings/${encodeURIComponent(id)}/held-deletes`, query),
  objects: on<ListObjectsData>("/objects"),
  object: (name: string) => on<ReadObjectData>(`/objects/${encodeURIComponent(name)}`),
  matching: (name: string, filter: string) => on<ReadObjectData>(`/objects/${encodeURIComponent(name)}`, { filter }),
  activity: (query: Query) => on<readonly ListActivityData[]>("/monitoring/activity", query),
  failures: (table: string | undefined) => on<ListFailuresData>("/monitoring/failures", { table }),
  failedRows: (fingerprint: string) => on<ListFailuresData>("/monitoring/failures", { fingerprint }),
  change: (id: string) => on<ReadChangeData>(`/monitoring/activity/${encodeURIComponent(id)}`),
  rowStory: (table: string, key: string) =>
    on<ReadRowStoryData>(`/rows/${encodeURIComponent(table)}/${encodeURIComponent(key)}/story`),
  throughput: (minutes: number) => on<ReadThroughputData>("/monitoring/throughput", { minutes }),
  restorePlan: on<ReadRestorePlanData>("/restore"),
  workspace: on<ReadWorkspaceData>(""),
  fleet: on<ReadFleetData>("/fleet"),
  inboundErrors: (query: Query) => on<readonly ListInboundErrorsData[]>("/monitoring/inbound-errors", query),
  conflicts: (query: Query) => on<readonly ListConflictsData[]>("/monitoring/conflicts", query),
  exportedConfig: on<ExportConfigData>("/config/export"),
  drift: on<ReadDriftData>("/config/drift"),
  webhooks: on<ListWebhooksData>("/webhooks"),
  webhook: (id: string) => on<ReadWebhookData>(`/webhooks/${encodeURIComponent(id)}`),
  deliveries: (id: string, query: Query) =>
    on<readonly ListDeliveriesData[]>(`/webhooks/${encodeURIComponent(id)}/deliveries`, query),
  delivery: (webhookId: string, id: string) =>
    on<ReadDeliveryData>(`/webhooks/${encodeURIComponent(webhookId)}/deliveries/${encodeURIComponent(id)}`),
  tokens: on<ListTokensData>("/tokens"),
  connections: on<ReadConnectionsData>("/connections"),
  auditLog: (query: Query) => on<readonly ListAuditLogData[]>("/audit-log", query),
};

function on<Answer>(path: string, query?: Query): Question<Answer> {
  return { path, query };
}
