import type {
  ExportConfigData,
  ListActivityData,
  ListAuditLogData,
  ListConflictsData,
  ListDeliveriesData,
  ListErrorsData,
  ListFailuresData,
  ListInboundErrorsData,
  ListMappingStatesData,
  ListObjectsData,
  ListTokensData,
  ListWebhooksData,
  ReadBudgetData,
  ReadConnectionsData,
  ReadDeliveryData,
  ReadDriftData,
  ReadHealthData,
  ReadMappingData,
  ReadObjectData,
  ReadOwnTokenData,
  ReadWebhookData,
} from "bridge/api";
import type { Query, Question } from "./ask.ts";

/** Everything that the console asks, by what it is; the words are those of the API. */
export const questions = {
  ownToken: on<ReadOwnTokenData>("/tokens/current"),
  health: on<ReadHealthData>("/health"),
  budget: on<ReadBudgetData>("/monitoring/budget"),
  mappings: on<ListMappingStatesData>("/monitoring/mappings"),
  mapping: (id: string) => on<ReadMappingData>(`/mappings/${encodeURIComponent(id)}`),
  objects: on<ListObjectsData>("/objects"),
  object: (name: string) => on<ReadObjectData>(`/objects/${encodeURIComponent(name)}`),
  activity: (query: Query) => on<readonly ListActivityData[]>("/monitoring/activity", query),
  errors: (query: Query) => on<readonly ListErrorsData[]>("/monitoring/errors", query),
  failures: on<ListFailuresData>("/monitoring/failures"),
  inboundErrors: (query: Query) => on<readonly ListInboundErrorsData[]>("/monitoring/inbound-errors", query),
  conflicts: (query: Query) => on<readonly ListConflictsData[]>("/monitoring/conflicts", query),
  exportedConfig: on<ExportConfigData>("/config/export"),
  drift: on<ReadDriftData>("/config/drift"),
  webhooks: on<ListWebhooksData>("/webhooks"),
  webhook: (id: string) => on<ReadWebhookData>(`/webhooks/${encodeURIComponent(id)}`),
  deliveries: (id: string) => on<readonly ListDeliveriesData[]>(`/webhooks/${encodeURIComponent(id)}/deliveries`),
  delivery: (webhookId: string, id: string) =>
    on<ReadDeliveryData>(`/webhooks/${encodeURIComponent(webhookId)}/deliveries/${encodeURIComponent(id)}`),
  tokens: on<ListTokensData>("/tokens"),
  connections: on<ReadConnectionsData>("/connections"),
  auditLog: (query: Query) => on<readonly ListAuditLogData[]>("/audit-log", query),
};

function on<Answer>(path: string, query?: Query): Question<Answer> {
  return { path, query };
}
