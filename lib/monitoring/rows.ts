import type { ActivityRow, ErrorRow } from "./ports.ts";

/** A trigger-log row as the activity list shows it (spec 2.4). */
export function activityItem(row: ActivityRow) {
  return {
    id: row.id,
    table_name: row.tableName,
    sfid: row.sfid,
    action: row.action,
    state: row.state,
    _ab_lastop: row.lastOperation,
    created_at: row.createdAt.toISOString(),
    synced_at: row.syncedAt?.toISOString() ?? null,
  };
}

/** A failed row as the errors list shows it (spec 2.4). */
export function errorItem(row: ErrorRow) {
  return {
    id: row.id,
    table_name: row.tableName,
    sfid: row.sfid,
    action: row.action,
    state: row.state,
    _ab_err: row.error,
    created_at: row.createdAt.toISOString(),
  };
}
