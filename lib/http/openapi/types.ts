// Made from openapi.json by `npm run openapi`; what is changed here is lost.

export type AbortPollData = {
  readonly aborted: boolean;
};

export type ActivateMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: readonly string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly batch_size: number;
  readonly filter: string | null;
  readonly version: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly state: "provisioning" | "provisioning_failed" | "migration_pending" | "loading" | "running" | "sparing_calls" | "deletes_held" | "broken" | "paused" | "deleted" | "unknown";
  readonly reason: string | null;
  readonly calls_per_day: number;
};

export type AdoptHerokuConnectData = {
  readonly state: "absent" | "present" | "adopted";
  readonly tables: readonly {
    readonly table: string;
    readonly rows: number;
    readonly triggers: readonly string[];
    readonly changes: {
      readonly new: number;
      readonly pending: number;
      readonly failed: number;
    };
    readonly kept_types: readonly {
      readonly column: string;
      readonly type: string;
    }[];
  }[];
  readonly findings: readonly {
    readonly check: string;
    readonly ok: boolean;
    readonly message: string;
    readonly remedy: string | null;
  }[];
};

export type AuthorizeSalesforceBody = {
  readonly login_url: string;
  readonly client_id: string;
  readonly client_secret?: string | null;
  readonly redirect_uri: string;
};

export type AuthorizeSalesforceData = {
  readonly authorize_url: string;
  readonly state: string;
};

export type CaptureMappingBody = {
  readonly uncaptured: "salesforce" | "mine";
};

export type CaptureMappingData = {
  readonly mapping_id: string;
  readonly uncaptured: "salesforce" | "mine";
  readonly rows: number;
  readonly calls: number;
  readonly queued: boolean;
};

export type ChangePostgresBody = {
  readonly schema_changes?: "apply" | "propose";
  readonly max_connections?: number;
};

export type ChangePostgresData = {
  readonly postgres: {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly user: string;
    readonly schema: string;
    readonly schema_changes: "apply" | "propose";
    readonly max_connections: number;
    readonly retention: {
      readonly log_days: number;
      readonly conflict_days: number;
      readonly tombstone_days: number;
    };
    readonly log_autovacuum: Readonly<Record<string, number>> | null;
  } | null;
  readonly salesforce: {
    readonly login_url: string;
    readonly instance_url: string;
    readonly organization_id: string;
    readonly user_id: string;
    readonly api_version: string;
    readonly flow: "refresh_token" | "password" | "client_credentials" | "jwt_bearer";
  } | null;
};

export type ChangeRetentionBody = {
  readonly log_days?: number;
  readonly conflict_days?: number;
  readonly tombstone_days?: number;
  readonly log_autovacuum?: {
    readonly vacuum_scale_factor?: number;
    readonly vacuum_threshold?: number;
    readonly vacuum_insert_scale_factor?: number;
    readonly vacuum_insert_threshold?: number;
    readonly analyze_scale_factor?: number;
    readonly analyze_threshold?: number;
    readonly vacuum_cost_delay?: number;
    readonly vacuum_cost_limit?: number;
  } | null;
};

export type ChangeRetentionData = {
  readonly postgres: {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly user: string;
    readonly schema: string;
    readonly schema_changes: "apply" | "propose";
    readonly max_connections: number;
    readonly retention: {
      readonly log_days: number;
      readonly conflict_days: number;
      readonly tombstone_days: number;
    };
    readonly log_autovacuum: Readonly<Record<string, number>> | null;
  } | null;
  readonly salesforce: {
    readonly login_url: string;
    readonly instance_url: string;
    readonly organization_id: string;
    readonly user_id: string;
    readonly api_version: string;
    readonly flow: "refresh_token" | "password" | "client_credentials" | "jwt_bearer";
  } | null;
};

export type ChangeWebhookBody = {
  readonly url?: string;
  readonly events?: readonly ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description?: string;
  readonly active?: boolean;
};

export type ChangeWebhookData = {
  readonly id: string;
  readonly url: string;
  readonly events: readonly ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly previous_secret_valid_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

export type CompleteSalesforceBody = {
  readonly state: string;
  readonly code: string;
};

export type CompleteSalesforceData = {
  readonly organization_id: string;
  readonly instance_url: string;
  readonly username: string;
  readonly api_version: string;
};

export type ConfirmDeletesData = {
  readonly confirmed: number;
  readonly more: boolean;
  readonly mapping_id: string;
};

export type CreateMappingBody = {
  readonly sf_object: string;
  readonly pg_table?: string;
  readonly active?: boolean;
  readonly fields: readonly string[];
  readonly sync_direction?: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly sf_polling_seconds?: number;
  readonly upsert_field?: string | null;
  readonly conflict_policy?: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture?: "origin" | "always";
  readonly delete_limit?: string;
  readonly sweep_days?: number;
  readonly batch_size?: number;
  readonly filter?: string | null;
};

export type CreateMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: readonly string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly batch_size: number;
  readonly filter: string | null;
  readonly version: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly state: "provisioning" | "provisioning_failed" | "migration_pending" | "loading" | "running" | "sparing_calls" | "deletes_held" | "broken" | "paused" | "deleted" | "unknown";
  readonly reason: string | null;
  readonly calls_per_day: number;
};

export type CreateTokenBody = {
  readonly name: string;
  readonly owner: string;
  readonly scopes: readonly ("read" | "operate" | "admin")[];
  readonly valid_days?: number;
};

export type CreateTokenData = {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly scopes: readonly ("read" | "operate" | "admin")[];
  readonly state: "valid" | "expired" | "revoked";
  readonly created_at: string;
  readonly valid_until: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
  readonly token: string;
};

export type CreateWebhookBody = {
  readonly url: string;
  readonly events: readonly ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description?: string;
  readonly active?: boolean;
};

export type CreateWebhookData = {
  readonly id: string;
  readonly url: string;
  readonly events: readonly ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly previous_secret_valid_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly secret: string;
};

export type DeactivateMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: readonly string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly batch_size: number;
  readonly filter: string | null;
  readonly version: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly state: "provisioning" | "provisioning_failed" | "migration_pending" | "loading" | "running" | "sparing_calls" | "deletes_held" | "broken" | "paused" | "deleted" | "unknown";
  readonly reason: string | null;
  readonly calls_per_day: number;
};

export type DeleteMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: readonly string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly batch_size: number;
  readonly filter: string | null;
  readonly version: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly state: "provisioning" | "provisioning_failed" | "migration_pending" | "loading" | "running" | "sparing_calls" | "deletes_held" | "broken" | "paused" | "deleted" | "unknown";
  readonly reason: string | null;
  readonly calls_per_day: number;
};

export type DeleteWebhookData = {
  readonly deleted: boolean;
  readonly webhook_id: string;
};

export type DismissRowsBody = {
  readonly id?: number;
  readonly fingerprint?: string;
  readonly table?: string;
};

export type DismissRowsData = {
  readonly dismissed: number;
  readonly remaining: number;
};

export type ExportConfigData = {
  readonly version: 1;
  readonly mappings: readonly {
    readonly object_name: string;
    readonly config: {
      readonly access?: "read_write" | "read_only";
      readonly sf_notify_enabled?: boolean;
      readonly sf_polling_seconds?: number;
      readonly fields?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
      readonly upsert_field?: string | null;
      readonly bridge?: Readonly<Record<string, unknown>>;
    };
  }[];
};

export type ImportConfigBody = {
  readonly version: 1;
  readonly mappings: readonly {
    readonly object_name: string;
    readonly config: {
      readonly access?: "read_write" | "read_only";
      readonly sf_notify_enabled?: boolean;
      readonly sf_polling_seconds?: number;
      readonly fields?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
      readonly upsert_field?: string | null;
      readonly bridge?: Readonly<Record<string, unknown>>;
    };
  }[];
};

export type ImportConfigData = {
  readonly created: number;
  readonly updated: number;
  readonly skipped: number;
  readonly changes?: readonly {
    readonly object_name: string;
    readonly pg_table: string;
    readonly action: "create" | "update";
    readonly fields_added: readonly string[];
    readonly fields_removed: readonly string[];
    readonly settings_changed: readonly string[];
    readonly settings: readonly {
      readonly name: string;
      readonly before: string | null;
      readonly after: string | null;
    }[];
  }[];
};

export type ListActivityData = {
  readonly id: number;
  readonly table_name: string;
  readonly sfid: string | null;
  readonly action: "INSERT" | "UPDATE" | "DELETE";
  readonly state: "NEW" | "PENDING" | "SUCCESS" | "FAILED";
  readonly created_at: string;
  readonly _ab_lastop: string | null;
  readonly synced_at: string | null;
};

export type ListAuditLogData = {
  readonly id: string;
  readonly actor: string;
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly created_at: string;
};

export type ListConflictsData = {
  readonly id: number;
  readonly mapping_id: string;
  readonly sf_object: string | null;
  readonly sfid: string;
  readonly record_id: number;
  readonly field: string | null;
  readonly base: string | null;
  readonly postgres: string | null;
  readonly salesforce: string | null;
  readonly winner: string;
  readonly at: string;
  readonly postgres_at: string | null;
  readonly salesforce_at: string | null;
};

export type ListDeliveriesData = {
  readonly id: string;
  readonly event: "sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held";
  readonly status: "pending" | "successful" | "failed";
  readonly response_code: number | null;
  readonly delivered_at: string | null;
  readonly next_retry_at: string | null;
};

export type ListErrorsData = {
  readonly id: number;
  readonly table_name: string;
  readonly sfid: string | null;
  readonly action: "INSERT" | "UPDATE" | "DELETE";
  readonly state: "NEW" | "PENDING" | "SUCCESS" | "FAILED";
  readonly created_at: string;
  readonly _ab_err: string;
};

export type ListFailuresData = readonly {
  readonly fingerprint: string;
  readonly table_name: string;
  readonly action: string;
  readonly sample: string;
  readonly count: number;
  readonly last_at: string;
  readonly rows: readonly {
    readonly id: number;
    readonly record_id: number;
    readonly sfid: string | null;
    readonly name: string | null;
    readonly error: string;
    readonly at: string;
    readonly values: Readonly<Record<string, string | null>> | null;
  }[] | null;
}[];

export type ListHeldDeletesData = {
  readonly key: string;
  readonly deletes: "row" | "record";
  readonly sfid: string | null;
  readonly record_id: number | null;
  readonly name: string | null;
  readonly at: string;
};

export type ListInboundErrorsData = {
  readonly mapping_id: string;
  readonly sf_object: string | null;
  readonly sfid: string;
  readonly error: string;
  readonly attempts: number;
  readonly first_at: string;
  readonly last_at: string;
};

export type ListMappingStatesData = readonly {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: readonly string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly batch_size: number;
  readonly filter: string | null;
  readonly version: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly state: "provisioning" | "provisioning_failed" | "migration_pending" | "loading" | "running" | "sparing_calls" | "deletes_held" | "broken" | "paused" | "deleted" | "unknown";
  readonly reason: string | null;
  readonly calls_per_day: number;
  readonly failure: "salesforce_authorization" | "salesforce_limit" | "salesforce_unavailable" | "salesforce_schema" | "salesforce_request" | "api_disabled" | "org_read_only" | "org_storage_full" | "postgres_unavailable" | "capture_off" | "column_gone" | "table_gone" | "first_match" | "engine_fault" | null;
  readonly broken_since: string | null;
  readonly last_run_at: string | null;
  readonly last_pull_at: string | null;
  readonly rows_synced: number | null;
  readonly waiting: number | null;
  readonly oldest_waiting_at: string | null;
  readonly failed: number | null;
  readonly held_deletes: number | null;
  readonly inbound_errors: number | null;
  readonly notices: readonly {
    readonly message: string;
    readonly remedy: string;
  }[];
}[];

export type ListMappingsData = readonly {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly field_count: number;
  readonly created_at: string;
}[];

export type ListObjectsData = readonly {
  readonly name: string;
  readonly label: string;
  readonly queryable: boolean;
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly custom: boolean;
}[];

export type ListProposalsData = readonly {
  readonly mapping_id: string;
  readonly sf_object: string;
  readonly schema: string;
  readonly table: string;
  readonly awaited: boolean;
  readonly create: boolean;
  readonly columns: readonly {
    readonly column: string;
    readonly type: string;
  }[];
  readonly wider: readonly {
    readonly column: string;
    readonly type: string;
  }[];
  readonly indexes: readonly {
    readonly name: string;
    readonly column: string;
    readonly unique: boolean;
  }[];
  readonly sql: readonly string[];
}[];

export type ListTokensData = readonly {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly scopes: readonly ("read" | "operate" | "admin")[];
  readonly state: "valid" | "expired" | "revoked";
  readonly created_at: string;
  readonly valid_until: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}[];

export type ListWebhooksData = readonly {
  readonly id: string;
  readonly url: string;
  readonly events: readonly ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly previous_secret_valid_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}[];

export type Meta = {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
};

export type PollNowData = {
  readonly triggered: boolean;
  readonly mapping_id: string;
  readonly message: string;
};

export type PushExistingData = {
  readonly queued: number;
  readonly more: boolean;
  readonly mapping_id: string;
};

export type ReadBudgetData = {
  readonly calls_used: number | null;
  readonly calls_limit: number | null;
  readonly calls_left: number | null;
  readonly counted_at: string | null;
  readonly forecast_calls_per_day: number;
  readonly pace: "normal" | "stretched" | "pushes_only" | "waiting";
  readonly ends_by: string | null;
};

export type ReadChangeData = {
  readonly id: number;
  readonly table_name: string;
  readonly record_id: number;
  readonly sfid: string | null;
  readonly action: "INSERT" | "UPDATE" | "DELETE";
  readonly state: "NEW" | "PENDING" | "SUCCESS" | "FAILED";
  readonly captured: "trigger" | "late" | "match";
  readonly old: Readonly<Record<string, string | null>> | null;
  readonly values: Readonly<Record<string, string | null>> | null;
  readonly created_at: string;
  readonly sent_at: string | null;
  readonly synced_at: string | null;
  readonly attempts: number;
  readonly due_at: string | null;
  readonly _ab_err: string | null;
  readonly held: boolean;
  readonly superseded: boolean;
};

export type ReadConnectionsData = {
  readonly postgres: {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly user: string;
    readonly schema: string;
    readonly schema_changes: "apply" | "propose";
    readonly max_connections: number;
    readonly retention: {
      readonly log_days: number;
      readonly conflict_days: number;
      readonly tombstone_days: number;
    };
    readonly log_autovacuum: Readonly<Record<string, number>> | null;
  } | null;
  readonly salesforce: {
    readonly login_url: string;
    readonly instance_url: string;
    readonly organization_id: string;
    readonly user_id: string;
    readonly api_version: string;
    readonly flow: "refresh_token" | "password" | "client_credentials" | "jwt_bearer";
  } | null;
};

export type ReadDeliveryData = {
  readonly id: string;
  readonly event: "sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held";
  readonly status: "pending" | "successful" | "failed";
  readonly response_code: number | null;
  readonly delivered_at: string | null;
  readonly next_retry_at: string | null;
  readonly event_id: string;
  readonly created_at: string;
  readonly stopped_because: string | null;
  readonly request_body: string;
  readonly attempts: readonly {
    readonly number: number;
    readonly kind: string;
    readonly started_at: string;
    readonly ended_at: string | null;
    readonly duration_ms: number | null;
    readonly succeeded: boolean | null;
    readonly response_code: number | null;
    readonly response_body: string | null;
    readonly response_body_truncated: boolean;
    readonly reason: string | null;
  }[];
};

export type ReadDriftData = {
  readonly baseline_id: string;
  readonly captured_at: string;
  readonly drifted: boolean;
  readonly changes: readonly {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly type: "mapping_added" | "mapping_removed" | "field_added" | "field_removed" | "setting_changed";
    readonly field: string;
  }[];
};

export type ReadDryRunData = {
  readonly mapping_id: string;
  readonly state: "none" | "running" | "failing" | "done";
  readonly error: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly records: number | null;
  readonly read: number;
  readonly matched: number;
  readonly differing: number;
  readonly records_changed: number;
  readonly rows_changed: number;
  readonly fields: readonly {
    readonly field: string;
    readonly rows: number;
  }[];
  readonly samples: readonly {
    readonly sfid: string;
    readonly record_id: number;
    readonly differences: readonly {
      readonly field: string;
      readonly postgres: string | null;
      readonly salesforce: string | null;
      readonly winner: "postgres" | "salesforce";
    }[];
  }[];
  readonly digest: string | null;
  readonly confirmed: boolean;
};

export type ReadHealthData = {
  readonly pg: {
    readonly status: "healthy" | "degraded" | "error" | "unknown";
    readonly latency_ms: number | null;
  };
  readonly sf: {
    readonly status: "healthy" | "degraded" | "error" | "unknown";
    readonly org_id: string | null;
  };
  readonly sync: {
    readonly status: "running" | "paused" | "broken" | "unknown";
    readonly last_run_at: string | null;
    readonly pending_rows: number | null;
  };
};

export type ReadMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: readonly string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly batch_size: number;
  readonly filter: string | null;
  readonly version: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly state: "provisioning" | "provisioning_failed" | "migration_pending" | "loading" | "running" | "sparing_calls" | "deletes_held" | "broken" | "paused" | "deleted" | "unknown";
  readonly reason: string | null;
  readonly calls_per_day: number;
  readonly failure: "salesforce_authorization" | "salesforce_limit" | "salesforce_unavailable" | "salesforce_schema" | "salesforce_request" | "api_disabled" | "org_read_only" | "org_storage_full" | "postgres_unavailable" | "capture_off" | "column_gone" | "table_gone" | "first_match" | "engine_fault" | null;
  readonly broken_since: string | null;
  readonly last_run_at: string | null;
  readonly last_pull_at: string | null;
  readonly rows_synced: number | null;
  readonly waiting: number | null;
  readonly oldest_waiting_at: string | null;
  readonly failed: number | null;
  readonly held_deletes: number | null;
  readonly inbound_errors: number | null;
  readonly notices: readonly {
    readonly message: string;
    readonly remedy: string;
  }[];
  readonly progress: {
    readonly reading: "load" | "backfill" | "sweep" | "backlog";
    readonly rows_done: number;
    readonly rows_total: number | null;
    readonly ends_at: string | null;
  } | null;
  readonly sent_deletes: number | null;
  readonly lag_seconds: {
    readonly p50: number;
    readonly p95: number;
  } | null;
  readonly api_calls: Readonly<Record<string, number>>;
};

export type ReadObjectData = {
  readonly name: string;
  readonly label: string;
  readonly queryable: boolean;
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly custom: boolean;
  readonly fields: readonly {
    readonly name: string;
    readonly label: string;
    readonly type: string;
    readonly length: number;
    readonly precision: number;
    readonly scale: number;
    readonly required: boolean;
    readonly createable: boolean;
    readonly updateable: boolean;
    readonly external_id: boolean;
    readonly unique: boolean;
    readonly calculated: boolean;
    readonly mappable: boolean;
    readonly pg_type: string | null;
    readonly filterable: boolean;
    readonly reference_to: readonly string[];
    readonly parent_keys: readonly {
      readonly name: string;
      readonly object: string;
      readonly label: string;
    }[];
  }[];
};

export type ReadOwnTokenData = {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly scopes: readonly ("read" | "operate" | "admin")[];
  readonly state: "valid" | "expired" | "revoked";
  readonly created_at: string;
  readonly valid_until: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
};

export type ReadThroughputData = {
  readonly from: string;
  readonly to: string;
  readonly step_seconds: number;
  readonly cut: boolean;
  readonly cycles_from: string | null;
  readonly mappings: readonly {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly accepted: number;
    readonly refused: number;
    readonly pulled: number;
    readonly lag_seconds: {
      readonly p50: number;
      readonly p95: number;
    } | null;
    readonly steps: readonly {
      readonly at: string;
      readonly accepted: number;
      readonly refused: number;
      readonly pulled: number;
      readonly cycles: {
        readonly well: number;
        readonly failed: number;
        readonly stopped: number;
        readonly accepted: number;
        readonly refused: number;
      };
    }[];
  }[];
};

export type ReadWebhookData = {
  readonly id: string;
  readonly url: string;
  readonly events: readonly ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly previous_secret_valid_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

export type ReadWebhookSuccessData = {
  readonly from: string;
  readonly to: string;
  readonly step_seconds: number;
  readonly cut: boolean;
  readonly successful: number;
  readonly failed: number;
  readonly pending: number;
  readonly steps: readonly {
    readonly at: string;
    readonly successful: number;
    readonly failed: number;
    readonly pending: number;
  }[];
};

export type ReadWorkspaceData = {
  readonly id: string;
  readonly name: string;
  readonly connected: boolean;
  readonly created_at: string;
};

export type Refusal = {
  readonly success: false;
  readonly error: {
    readonly code: "VALIDATION_ERROR" | "UNAUTHORIZED" | "FORBIDDEN" | "WORKSPACE_NOT_FOUND" | "MAPPING_NOT_FOUND" | "BASELINE_NOT_FOUND" | "WEBHOOK_NOT_FOUND" | "DELIVERY_NOT_FOUND" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "PRECONDITION_FAILED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "IDEMPOTENCY_MISMATCH" | "RATE_LIMITED" | "INTERNAL_ERROR" | "UNAVAILABLE";
    readonly message: string;
    readonly details?: readonly {
      readonly path: string;
      readonly message: string;
    }[];
  };
};

export type RejectDeletesBody = {
  readonly recreate?: boolean;
  readonly after?: string | null;
};

export type RejectDeletesData = {
  readonly mapping_id: string;
  readonly rows: number;
  readonly records: number;
  readonly recreated: number;
  readonly gone: number;
  readonly staying: readonly {
    readonly deletes: "row" | "record";
    readonly sfid: string | null;
    readonly record_id: number | null;
    readonly reason: string;
  }[];
  readonly lost_columns: readonly string[];
  readonly lost_children: readonly string[];
  readonly next: string | null;
};

export type ReloadMappingData = {
  readonly reloading: boolean;
  readonly mapping_id: string;
};

export type RenameWorkspaceBody = {
  readonly name: string;
};

export type RenameWorkspaceData = {
  readonly id: string;
  readonly name: string;
  readonly connected: boolean;
  readonly created_at: string;
};

export type RestoreMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: readonly string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly batch_size: number;
  readonly filter: string | null;
  readonly version: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly state: "provisioning" | "provisioning_failed" | "migration_pending" | "loading" | "running" | "sparing_calls" | "deletes_held" | "broken" | "paused" | "deleted" | "unknown";
  readonly reason: string | null;
  readonly calls_per_day: number;
};

export type RetryDeliveryData = {
  readonly queued: boolean;
  readonly delivery_id: string;
};

export type RetryInboundData = {
  readonly retried: number;
  readonly mapping_id: string;
};

export type RetryRowData = {
  readonly retried: number;
  readonly remaining: number;
};

export type RetryRowsBody = {
  readonly fingerprint?: string;
  readonly table?: string;
};

export type RetryRowsData = {
  readonly retried: number;
  readonly remaining: number;
};

export type RevokeTokenData = {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly scopes: readonly ("read" | "operate" | "admin")[];
  readonly state: "valid" | "expired" | "revoked";
  readonly created_at: string;
  readonly valid_until: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
};

export type RotateWebhookSecretData = {
  readonly id: string;
  readonly url: string;
  readonly events: readonly ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly previous_secret_valid_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly secret: string;
};

export type SaveBaselineData = {
  readonly baseline_id: string;
  readonly captured_at: string;
};

export type SetPostgresBody = {
  readonly url: string;
  readonly schema?: string;
  readonly take_over?: boolean;
  readonly schema_changes?: "apply" | "propose";
};

export type SetPostgresData = {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly ok: boolean;
    readonly message: string;
    readonly remedy: string | null;
  }[];
};

export type SetSalesforceBody = {
  readonly login_url: string;
  readonly credentials: {
    readonly kind: "refresh_token";
    readonly client_id: string;
    readonly client_secret: string | null;
    readonly refresh_token: string;
  } | {
    readonly kind: "password";
    readonly client_id: string;
    readonly client_secret: string;
    readonly username: string;
    readonly password: string;
  } | {
    readonly kind: "client_credentials";
    readonly client_id: string;
    readonly client_secret: string;
  } | {
    readonly kind: "jwt_bearer";
    readonly client_id: string;
    readonly username: string;
    readonly private_key: string;
  };
};

export type SetSalesforceData = {
  readonly organization_id: string;
  readonly instance_url: string;
  readonly username: string;
  readonly api_version: string;
};

export type StartDryRunData = {
  readonly mapping_id: string;
  readonly state: "none" | "running" | "failing" | "done";
  readonly error: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly records: number | null;
  readonly read: number;
  readonly matched: number;
  readonly differing: number;
  readonly records_changed: number;
  readonly rows_changed: number;
  readonly fields: readonly {
    readonly field: string;
    readonly rows: number;
  }[];
  readonly samples: readonly {
    readonly sfid: string;
    readonly record_id: number;
    readonly differences: readonly {
      readonly field: string;
      readonly postgres: string | null;
      readonly salesforce: string | null;
      readonly winner: "postgres" | "salesforce";
    }[];
  }[];
  readonly digest: string | null;
  readonly confirmed: boolean;
};

export type TestPostgresData = {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly ok: boolean;
    readonly message: string;
    readonly remedy: string | null;
  }[];
};

export type TestSalesforceData = {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly ok: boolean;
    readonly message: string;
    readonly remedy: string | null;
  }[];
};

export type TestWebhookData = {
  readonly queued: boolean;
  readonly delivery_id: string;
  readonly event_id: string;
};

export type UpdateMappingBody = {
  readonly fields?: readonly string[];
  readonly sync_direction?: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly sf_polling_seconds?: number;
  readonly upsert_field?: string | null;
  readonly conflict_policy?: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture?: "origin" | "always";
  readonly delete_limit?: string;
  readonly sweep_days?: number;
  readonly batch_size?: number;
  readonly filter?: string | null;
};

export type UpdateMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: readonly string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly batch_size: number;
  readonly filter: string | null;
  readonly version: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly state: "provisioning" | "provisioning_failed" | "migration_pending" | "loading" | "running" | "sparing_calls" | "deletes_held" | "broken" | "paused" | "deleted" | "unknown";
  readonly reason: string | null;
  readonly calls_per_day: number;
};

export type UseOtherValueData = {
  readonly conflict_id: number;
};
