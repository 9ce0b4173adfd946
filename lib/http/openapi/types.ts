// Made from openapi.json by `npm run openapi`; what is changed here is lost.

export type AbortPollData = {
  readonly aborted: boolean;
};

export type AcceptInvitationData = {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly scopes: ("read" | "operate" | "admin")[];
  readonly state: "valid" | "invited" | "expired" | "revoked";
  readonly created_at: string;
  readonly valid_until: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
  readonly token: string;
};

export type AcceptRestoreBody = {
  readonly newer?: "salesforce" | "ours" | "leave";
  readonly only_here?: "ours" | "leave";
  readonly proposed?: "salesforce" | "ours" | "leave";
  readonly unclear?: "salesforce" | "ours" | "leave";
  readonly rows?: readonly {
    readonly record_id: number;
    readonly decision: "salesforce" | "ours" | "leave";
  }[];
};

export type AcceptRestoreData = {
  readonly mapping_id: string;
  readonly decided: number;
};

export type ActivateMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly when_quiet_seconds: number | null;
  readonly sf_notify_enabled: boolean;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly keep_history: boolean;
  readonly check_before_save: "auto" | "on" | "off";
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
  readonly tables: {
    readonly table: string;
    readonly rows: number;
    readonly triggers: string[];
    readonly changes: {
      readonly new: number;
      readonly pending: number;
      readonly failed: number;
    };
    readonly kept_types: {
      readonly column: string;
      readonly type: string;
    }[];
  }[];
  readonly taken_over: {
    readonly table: string;
    readonly locked_ms: number | null;
  }[];
  readonly findings: {
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

export type BeginRestoreData = {
  readonly mapping_ids: string[];
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

export type ChangeBudgetBody = {
  readonly calls_share?: number;
  readonly most_calls?: number | null;
  readonly when_quiet_seconds?: number | null;
};

export type ChangeBudgetData = {
  readonly calls_used: number | null;
  readonly calls_limit: number | null;
  readonly calls_left: number | null;
  readonly counted_at: string | null;
  readonly forecast_calls_per_day: number;
  readonly pace: "normal" | "stretched" | "waiting";
  readonly since: string | null;
  readonly pace_seconds: number;
  readonly calls_share: number;
  readonly most_calls: number | null;
  readonly when_quiet_seconds: number | null;
  readonly allowed_calls: number | null;
  readonly own_calls: number | null;
  readonly hours: {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly at: string;
    readonly calls: number;
    readonly changes: number;
  }[];
  readonly with_doorbells: {
    readonly calls_per_day: number;
    readonly pace_seconds: number | null;
  };
  readonly with_mapping: {
    readonly own_calls_per_day: number;
    readonly forecast_calls_per_day: number;
  } | null;
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
  readonly events: ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly given_up: boolean;
  readonly previous_secret_valid_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

export type CompareMappingData = {
  readonly comparing: boolean;
  readonly mapping_id: string;
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
  readonly when_quiet_seconds?: number | null;
  readonly sf_notify_enabled?: boolean;
  readonly upsert_field?: string | null;
  readonly conflict_policy?: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture?: "origin" | "always";
  readonly delete_limit?: string;
  readonly sweep_days?: number;
  readonly check_before_save?: "auto" | "on" | "off";
  readonly keep_history?: boolean;
  readonly batch_size?: number;
  readonly filter?: string | null;
};

export type CreateMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly when_quiet_seconds: number | null;
  readonly sf_notify_enabled: boolean;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly keep_history: boolean;
  readonly check_before_save: "auto" | "on" | "off";
  readonly batch_size: number;
  readonly filter: string | null;
  readonly version: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly state: "provisioning" | "provisioning_failed" | "migration_pending" | "loading" | "running" | "sparing_calls" | "deletes_held" | "broken" | "paused" | "deleted" | "unknown";
  readonly reason: string | null;
  readonly calls_per_day: number;
  readonly warnings: {
    readonly path: string;
    readonly message: string;
  }[];
};

export type CreateTokenBody = {
  readonly name: string;
  readonly owner: string;
  readonly scopes: readonly ("read" | "operate" | "admin")[];
  readonly valid_days?: number;
  readonly invitation?: boolean;
};

export type CreateTokenData = {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly scopes: ("read" | "operate" | "admin")[];
  readonly state: "valid" | "invited" | "expired" | "revoked";
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
  readonly events: ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly given_up: boolean;
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
  readonly fields: string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly when_quiet_seconds: number | null;
  readonly sf_notify_enabled: boolean;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly keep_history: boolean;
  readonly check_before_save: "auto" | "on" | "off";
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
  readonly fields: string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly when_quiet_seconds: number | null;
  readonly sf_notify_enabled: boolean;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly keep_history: boolean;
  readonly check_before_save: "auto" | "on" | "off";
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

export type DeletesHeldEvent = {
  readonly id: string;
  readonly event: "deletes.held";
  readonly workspace_id: string;
  readonly occurred_at: string;
  readonly data: {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly pg_table: string;
    readonly phase: string;
    readonly deletes: number;
    readonly since: string;
    readonly message: string;
    readonly test?: boolean;
  };
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
  readonly mappings: {
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
  readonly changes?: {
    readonly object_name: string;
    readonly pg_table: string;
    readonly action: "create" | "update";
    readonly fields_added: string[];
    readonly fields_removed: string[];
    readonly settings_changed: string[];
    readonly settings: {
      readonly name: string;
      readonly before: string | null;
      readonly after: string | null;
    }[];
  }[];
  readonly warnings?: {
    readonly path: string;
    readonly message: string;
  }[];
  readonly calls?: {
    readonly calls_per_day: number;
    readonly pace_seconds: number | null;
    readonly calls_per_day_now: number;
    readonly calls_limit: number | null;
    readonly allowed_calls: number | null;
  };
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

export type ListChangesData = {
  readonly changes: {
    readonly id: number;
    readonly table_name: string;
    readonly sfid: string | null;
    readonly action: "INSERT" | "UPDATE" | "DELETE";
    readonly state: "NEW" | "PENDING" | "SUCCESS" | "FAILED";
    readonly created_at: string;
    readonly _ab_lastop: string | null;
    readonly synced_at: string | null;
    readonly record_id: number;
  }[];
  readonly next: string;
  readonly more: boolean;
  readonly waiting: boolean;
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
  readonly subject?: {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly table_name: string | null;
    readonly record_id: number | null;
  };
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

export type ListFailuresData = {
  readonly fingerprint: string;
  readonly table_name: string;
  readonly action: string;
  readonly sample: string;
  readonly count: number;
  readonly last_at: string;
  readonly rows: {
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

export type ListMappingStatesData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly when_quiet_seconds: number | null;
  readonly sf_notify_enabled: boolean;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly keep_history: boolean;
  readonly check_before_save: "auto" | "on" | "off";
  readonly batch_size: number;
  readonly filter: string | null;
  readonly version: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly state: "provisioning" | "provisioning_failed" | "migration_pending" | "loading" | "running" | "sparing_calls" | "deletes_held" | "broken" | "paused" | "deleted" | "unknown";
  readonly reason: string | null;
  readonly calls_per_day: number;
  readonly failure: "salesforce_authorization" | "salesforce_limit" | "salesforce_unavailable" | "salesforce_schema" | "salesforce_request" | "salesforce_too_large" | "api_disabled" | "org_read_only" | "org_storage_full" | "postgres_unavailable" | "capture_off" | "rows_hidden" | "column_gone" | "table_gone" | "first_match" | "function_died" | "database_rewound" | "config_behind" | "engine_fault" | null;
  readonly broken_since: string | null;
  readonly last_run_at: string | null;
  readonly last_pull_at: string | null;
  readonly rows_synced: number | null;
  readonly waiting: number | null;
  readonly oldest_waiting_at: string | null;
  readonly failed: number | null;
  readonly held_deletes: number | null;
  readonly inbound_errors: number | null;
  readonly compared: {
    readonly at: string;
    readonly rows: number;
    readonly records: number;
    readonly differing: number;
    readonly vanished: number;
    readonly missing: number | null;
    readonly unsent: number | null;
    readonly refused: number | null;
    readonly calls: number | null;
    readonly equal: boolean | null;
    readonly says: string;
  } | null;
  readonly notices: {
    readonly message: string;
    readonly remedy: string;
  }[];
}[];

export type ListMappingsData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly field_count: number;
  readonly created_at: string;
}[];

export type ListObjectsData = {
  readonly name: string;
  readonly label: string;
  readonly queryable: boolean;
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly custom: boolean;
}[];

export type ListProposalsData = {
  readonly mapping_id: string;
  readonly sf_object: string;
  readonly schema: string;
  readonly table: string;
  readonly awaited: boolean;
  readonly create: boolean;
  readonly columns: {
    readonly column: string;
    readonly type: string;
  }[];
  readonly wider: {
    readonly column: string;
    readonly type: string;
  }[];
  readonly indexes: {
    readonly name: string;
    readonly column: string;
    readonly unique: boolean;
  }[];
  readonly sql: string[];
}[];

export type ListRowsData = {
  readonly columns: {
    readonly field: string;
    readonly column: string;
    readonly type: string;
  }[];
  readonly rows: {
    readonly record_id: number;
    readonly sfid: string | null;
    readonly state: "failed" | "conflict" | "waiting" | "no_record" | "synced";
    readonly error: string | null;
    readonly values: Readonly<Record<string, string | null>> | null;
    readonly salesforce: Readonly<Record<string, string | null>> | null;
  }[];
  readonly next: string | null;
  readonly salesforce_error: string | null;
};

export type ListTokensData = {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly scopes: ("read" | "operate" | "admin")[];
  readonly state: "valid" | "invited" | "expired" | "revoked";
  readonly created_at: string;
  readonly valid_until: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}[];

export type ListWebhooksData = {
  readonly id: string;
  readonly url: string;
  readonly events: ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly given_up: boolean;
  readonly previous_secret_valid_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}[];

export type MakeDoorbellData = {
  readonly url: string;
  readonly former_until: string | null;
};

export type MappingActivatedEvent = {
  readonly id: string;
  readonly event: "mapping.activated";
  readonly workspace_id: string;
  readonly occurred_at: string;
  readonly data: {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly pg_table: string;
    readonly actor: string;
    readonly test?: boolean;
  };
};

export type MappingDeactivatedEvent = {
  readonly id: string;
  readonly event: "mapping.deactivated";
  readonly workspace_id: string;
  readonly occurred_at: string;
  readonly data: {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly pg_table: string;
    readonly actor: string;
    readonly test?: boolean;
  };
};

export type Meta = {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
};

export type NudgeData = {
  readonly mappings: number;
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
  readonly pace: "normal" | "stretched" | "waiting";
  readonly since: string | null;
  readonly pace_seconds: number;
  readonly calls_share: number;
  readonly most_calls: number | null;
  readonly when_quiet_seconds: number | null;
  readonly allowed_calls: number | null;
  readonly own_calls: number | null;
  readonly hours: {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly at: string;
    readonly calls: number;
    readonly changes: number;
  }[];
  readonly with_doorbells: {
    readonly calls_per_day: number;
    readonly pace_seconds: number | null;
  };
  readonly with_mapping: {
    readonly own_calls_per_day: number;
    readonly forecast_calls_per_day: number;
  } | null;
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

export type ReadCycleData = {
  readonly state: "waiting" | "ended";
  readonly asked_at: string | null;
  readonly ended_at: string | null;
  readonly pulled: number | null;
  readonly accepted: number | null;
  readonly refused: number | null;
  readonly error: string | null;
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
  readonly attempts: {
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

export type ReadDoorbellData = {
  readonly created_at: string | null;
  readonly url_outdated: boolean;
  readonly mappings: {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly state: "off" | "waiting" | "alive" | "dead";
    readonly since: string | null;
    readonly rung_at: string | null;
  }[];
};

export type ReadDriftData = {
  readonly baseline_id: string;
  readonly captured_at: string;
  readonly drifted: boolean;
  readonly changes: {
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
  readonly records_refused: number;
  readonly fields: {
    readonly field: string;
    readonly rows: number;
  }[];
  readonly samples: {
    readonly sfid: string;
    readonly record_id: number;
    readonly differences: {
      readonly field: string;
      readonly postgres: string | null;
      readonly salesforce: string | null;
      readonly winner: "postgres" | "salesforce";
      readonly refused: string | null;
    }[];
  }[];
  readonly digest: string | null;
  readonly confirmed: boolean;
};

export type ReadFleetData = {
  readonly id: string;
  readonly name: string;
  readonly connected: boolean;
  readonly created_at: string;
  readonly pause: {
    readonly since: string;
    readonly by: string;
    readonly reason: string | null;
    readonly scope: "workspace" | "deployment";
  } | null;
  readonly waiting: number | null;
  readonly oldest_waiting_at: string | null;
  readonly counted_at: string | null;
  readonly rows_refused: number;
  readonly calls_used: number | null;
  readonly calls_limit: number | null;
  readonly calls_at: string | null;
  readonly broken: {
    readonly mapping_id: string;
    readonly since: string | null;
    readonly reason: string | null;
  }[];
}[];

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
    readonly status: "running" | "paused" | "broken" | "degraded" | "unknown";
    readonly last_run_at: string | null;
    readonly pending_rows: number | null;
    readonly pause?: string;
    readonly upgrade?: string;
  };
  readonly incidents?: {
    readonly cause: "salesforce_authorization" | "salesforce_limit" | "salesforce_unavailable" | "salesforce_schema" | "salesforce_request" | "salesforce_too_large" | "api_disabled" | "org_read_only" | "org_storage_full" | "postgres_unavailable" | "capture_off" | "rows_hidden" | "column_gone" | "table_gone" | "first_match" | "function_died" | "database_rewound" | "config_behind" | "engine_fault" | "stalled" | "calls_spared" | "provisioning_failed" | "migration_pending" | "rows_refused" | "webhook_failing" | "webhook_paused";
    readonly stops: boolean;
    readonly message: string;
    readonly said: string | null;
    readonly since: string | null;
    readonly objects: string[];
    readonly waiting: number | null;
    readonly next_try_at: string | null;
    readonly remedy: string;
    readonly commands: string[];
  }[];
};

export type ReadMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly when_quiet_seconds: number | null;
  readonly sf_notify_enabled: boolean;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly keep_history: boolean;
  readonly check_before_save: "auto" | "on" | "off";
  readonly batch_size: number;
  readonly filter: string | null;
  readonly version: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
  readonly state: "provisioning" | "provisioning_failed" | "migration_pending" | "loading" | "running" | "sparing_calls" | "deletes_held" | "broken" | "paused" | "deleted" | "unknown";
  readonly reason: string | null;
  readonly calls_per_day: number;
  readonly failure: "salesforce_authorization" | "salesforce_limit" | "salesforce_unavailable" | "salesforce_schema" | "salesforce_request" | "salesforce_too_large" | "api_disabled" | "org_read_only" | "org_storage_full" | "postgres_unavailable" | "capture_off" | "rows_hidden" | "column_gone" | "table_gone" | "first_match" | "function_died" | "database_rewound" | "config_behind" | "engine_fault" | null;
  readonly broken_since: string | null;
  readonly last_run_at: string | null;
  readonly last_pull_at: string | null;
  readonly rows_synced: number | null;
  readonly waiting: number | null;
  readonly oldest_waiting_at: string | null;
  readonly failed: number | null;
  readonly held_deletes: number | null;
  readonly inbound_errors: number | null;
  readonly compared: {
    readonly at: string;
    readonly rows: number;
    readonly records: number;
    readonly differing: number;
    readonly vanished: number;
    readonly missing: number | null;
    readonly unsent: number | null;
    readonly refused: number | null;
    readonly calls: number | null;
    readonly equal: boolean | null;
    readonly says: string;
  } | null;
  readonly notices: {
    readonly message: string;
    readonly remedy: string;
  }[];
  readonly progress: {
    readonly reading: "load" | "backfill" | "sweep" | "backlog";
    readonly rows_done: number;
    readonly rows_total: number | null;
    readonly ends_at: string | null;
  } | null;
  readonly compared_ids: string[];
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
  readonly fields: {
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
    readonly reference_to: string[];
    readonly parent_keys: {
      readonly name: string;
      readonly object: string;
      readonly label: string;
    }[];
  }[];
  readonly matching: number | null;
};

export type ReadOwnTokenData = {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly scopes: ("read" | "operate" | "admin")[];
  readonly state: "valid" | "invited" | "expired" | "revoked";
  readonly created_at: string;
  readonly valid_until: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
};

export type ReadRestorePlanData = {
  readonly pause: string | null;
  readonly tokens: {
    readonly id: string;
    readonly name: string;
    readonly owner: string;
    readonly created_at: string;
    readonly last_used_at: string | null;
  }[];
  readonly webhooks: {
    readonly id: string;
    readonly description: string;
    readonly active: boolean;
    readonly created_at: string;
  }[];
  readonly mappings: {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly pg_table: string;
    readonly state: "in_step" | "restored_copy" | "config_behind";
    readonly since: string | null;
    readonly groups: {
      readonly group: string | null;
      readonly rows: number;
      readonly samples: {
        readonly trigger_log_id: number;
        readonly record_id: number;
        readonly action: string;
        readonly sfid: string | null;
        readonly message: string | null;
      }[];
      readonly means: string;
      readonly decision: "salesforce" | "ours" | "leave";
    }[];
    readonly changed_since: {
      readonly setting: string;
      readonly database: string;
      readonly here: string;
    }[];
  }[];
};

export type ReadRowStoryData = {
  readonly mapping_id: string;
  readonly sf_object: string;
  readonly table_name: string;
  readonly record_id: number | null;
  readonly sfid: string | null;
  readonly salesforce_url: string | null;
  readonly row: "present" | "absent";
  readonly record: "present" | "absent" | "deleted" | "unknown";
  readonly salesforce_error: string | null;
  readonly last_modified_by: string | null;
  readonly last_modified_at: string | null;
  readonly values: {
    readonly field: string;
    readonly column: string;
    readonly postgres: string | null;
    readonly salesforce: string | null;
    readonly equal: boolean | null;
  }[];
  readonly remedy: string | null;
  readonly refused: {
    readonly change_id: number;
    readonly message: string | null;
    readonly columns: {
      readonly column: string;
      readonly field: string;
      readonly rule: string;
    }[];
  } | null;
  readonly restore: {
    readonly deleted_in: "postgres" | "salesforce";
    readonly deleted_by: string | null;
    readonly deleted_at: string | null;
    readonly until: string | null;
    readonly can: boolean;
    readonly why: string | null;
  } | null;
  readonly waits: string | null;
  readonly events: {
    readonly at: string;
    readonly from: "postgres" | "salesforce" | "bridge";
    readonly kind: "change" | "attempt" | "conflict" | "pulled" | "deleted" | "inbound_error";
    readonly text: string;
    readonly by: string | null;
    readonly state: "NEW" | "PENDING" | "SUCCESS" | "FAILED" | null;
    readonly change_id: number | null;
    readonly fields: {
      readonly column: string;
      readonly before: string | null;
      readonly after: string | null;
    }[];
  }[];
};

export type ReadThroughputData = {
  readonly from: string;
  readonly to: string;
  readonly step_seconds: number;
  readonly mappings: {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly accepted: number;
    readonly refused: number;
    readonly pulled: number;
    readonly lag_seconds: {
      readonly p50: number;
      readonly p95: number;
    } | null;
    readonly steps: {
      readonly at: string;
      readonly accepted: number;
      readonly refused: number;
      readonly pulled: number;
      readonly cycles: {
        readonly well: number;
        readonly failed: number;
        readonly stopped: number;
      };
    }[];
  }[];
};

export type ReadWebhookData = {
  readonly id: string;
  readonly url: string;
  readonly events: ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly given_up: boolean;
  readonly previous_secret_valid_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

export type ReadWorkspaceData = {
  readonly id: string;
  readonly name: string;
  readonly connected: boolean;
  readonly created_at: string;
  readonly pause: {
    readonly since: string;
    readonly by: string;
    readonly reason: string | null;
    readonly scope: "workspace" | "deployment";
  } | null;
};

export type RecordFailedEvent = {
  readonly id: string;
  readonly event: "record.failed";
  readonly workspace_id: string;
  readonly occurred_at: string;
  readonly data: {
    readonly trigger_log_id: number;
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly table_name: string;
    readonly record_id: number;
    readonly sfid: string | null;
    readonly action: string;
    readonly error: string;
    readonly test?: boolean;
  };
};

export type Refusal = {
  readonly success: false;
  readonly error: {
    readonly code: "VALIDATION_ERROR" | "UNAUTHORIZED" | "FORBIDDEN" | "WORKSPACE_NOT_FOUND" | "MAPPING_NOT_FOUND" | "BASELINE_NOT_FOUND" | "WEBHOOK_NOT_FOUND" | "DELIVERY_NOT_FOUND" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "CURSOR_EXPIRED" | "PRECONDITION_FAILED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "IDEMPOTENCY_MISMATCH" | "RATE_LIMITED" | "INTERNAL_ERROR" | "UNAVAILABLE";
    readonly message: string;
    readonly details?: {
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
  readonly staying: {
    readonly deletes: "row" | "record";
    readonly sfid: string | null;
    readonly record_id: number | null;
    readonly reason: string;
  }[];
  readonly lost_columns: string[];
  readonly lost_children: string[];
  readonly next: string | null;
};

export type ReloadMappingData = {
  readonly reloading: boolean;
  readonly mapping_id: string;
};

export type RemoveDoorbellData = {
  readonly removed: true;
};

export type RenameWorkspaceBody = {
  readonly name: string;
};

export type RenameWorkspaceData = {
  readonly id: string;
  readonly name: string;
  readonly connected: boolean;
  readonly created_at: string;
  readonly pause: {
    readonly since: string;
    readonly by: string;
    readonly reason: string | null;
    readonly scope: "workspace" | "deployment";
  } | null;
};

export type ReplayWebhookData = {
  readonly queued: number;
  readonly next: string | null;
};

export type RestoreMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly when_quiet_seconds: number | null;
  readonly sf_notify_enabled: boolean;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly keep_history: boolean;
  readonly check_before_save: "auto" | "on" | "off";
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

export type RestoreRowData = {
  readonly mapping_id: string;
  readonly table_name: string;
  readonly record_id: number | null;
  readonly sfid: string | null;
  readonly restored: "now" | "by_next_cycle";
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
  readonly scopes: ("read" | "operate" | "admin")[];
  readonly state: "valid" | "invited" | "expired" | "revoked";
  readonly created_at: string;
  readonly valid_until: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
};

export type RotateWebhookSecretData = {
  readonly id: string;
  readonly url: string;
  readonly events: ("sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held")[];
  readonly description: string;
  readonly active: boolean;
  readonly failing_since: string | null;
  readonly given_up: boolean;
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
  readonly findings: {
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
  readonly records_refused: number;
  readonly fields: {
    readonly field: string;
    readonly rows: number;
  }[];
  readonly samples: {
    readonly sfid: string;
    readonly record_id: number;
    readonly differences: {
      readonly field: string;
      readonly postgres: string | null;
      readonly salesforce: string | null;
      readonly winner: "postgres" | "salesforce";
      readonly refused: string | null;
    }[];
  }[];
  readonly digest: string | null;
  readonly confirmed: boolean;
};

export type SwitchPauseBody = {
  readonly paused: boolean;
  readonly reason?: string;
};

export type SwitchPauseData = {
  readonly id: string;
  readonly name: string;
  readonly connected: boolean;
  readonly created_at: string;
  readonly pause: {
    readonly since: string;
    readonly by: string;
    readonly reason: string | null;
    readonly scope: "workspace" | "deployment";
  } | null;
};

export type SyncBrokenEvent = {
  readonly id: string;
  readonly event: "sync.broken";
  readonly workspace_id: string;
  readonly occurred_at: string;
  readonly data: {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly reason: string;
    readonly message: string;
    readonly since: string;
    readonly failed_cycles: number;
    readonly test?: boolean;
  };
};

export type SyncFailureSpikeEvent = {
  readonly id: string;
  readonly event: "sync.failure_spike";
  readonly workspace_id: string;
  readonly occurred_at: string;
  readonly data: {
    readonly failed_count: number;
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly test?: boolean;
  };
};

export type SyncRecoveredEvent = {
  readonly id: string;
  readonly event: "sync.recovered";
  readonly workspace_id: string;
  readonly occurred_at: string;
  readonly data: {
    readonly mapping_id: string;
    readonly sf_object: string;
    readonly broken_since: string;
    readonly duration_seconds: number;
    readonly test?: boolean;
  };
};

export type TestPostgresData = {
  readonly ok: boolean;
  readonly findings: {
    readonly check: string;
    readonly ok: boolean;
    readonly message: string;
    readonly remedy: string | null;
  }[];
};

export type TestSalesforceData = {
  readonly ok: boolean;
  readonly findings: {
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
  readonly when_quiet_seconds?: number | null;
  readonly sf_notify_enabled?: boolean;
  readonly upsert_field?: string | null;
  readonly conflict_policy?: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture?: "origin" | "always";
  readonly delete_limit?: string;
  readonly sweep_days?: number;
  readonly check_before_save?: "auto" | "on" | "off";
  readonly keep_history?: boolean;
  readonly batch_size?: number;
  readonly filter?: string | null;
};

export type UpdateMappingData = {
  readonly id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly sync_direction: "bidirectional" | "sf_to_pg" | "pg_to_sf";
  readonly active: boolean;
  readonly fields: string[];
  readonly upsert_field: string | null;
  readonly sf_polling_seconds: number;
  readonly when_quiet_seconds: number | null;
  readonly sf_notify_enabled: boolean;
  readonly conflict_policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  readonly capture: "origin" | "always";
  readonly delete_limit: string;
  readonly sweep_days: number;
  readonly keep_history: boolean;
  readonly check_before_save: "auto" | "on" | "off";
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

export type WriteRowBody = {
  readonly values: Readonly<Record<string, string | null>>;
  readonly was?: Readonly<Record<string, string | null>>;
};

export type WriteRowData = {
  readonly mapping_id: string;
  readonly sf_object: string;
  readonly table_name: string;
  readonly record_id: number;
  readonly change_id: number;
};

type Headers = Readonly<Record<string, string>>;
type Refused<Status extends PropertyKey> = {
  readonly [Each in Status]: { headers: Headers; content: { "application/json": Refusal } };
};

export interface paths {
  readonly "/api/metrics": {
    readonly get: {
      parameters: { path?: never; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "text/plain": unknown } } } & Refused<405 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadWorkspaceData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
    readonly patch: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody: { content: { "application/json": RenameWorkspaceBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: RenameWorkspaceData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/audit-log": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "limit"?: number; readonly "offset"?: number; readonly "actor"?: string; readonly "action"?: string; readonly "from"?: string | string; readonly "to"?: string | string; readonly "before_id"?: string; readonly "format"?: "csv" | "json"; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListAuditLogData[];
            readonly meta: Meta;
          }; "text/csv": string } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/changes": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "since"?: string; readonly "limit"?: number; readonly "table"?: string; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListChangesData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 410 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/config/baseline": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: SaveBaselineData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/config/drift": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadDriftData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/config/export": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ExportConfigData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/config/import": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "dry_run"?: "true" | "false"; }; header?: { readonly "Idempotency-Key"?: string; readonly "If-Match"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": ImportConfigBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ImportConfigData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/connections": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadConnectionsData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/connections/postgres": {
    readonly patch: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody: { content: { "application/json": ChangePostgresBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ChangePostgresData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | "5XX">;
    };
    readonly put: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "dry_run"?: "true" | "false"; }; header?: never; cookie?: never };
      requestBody: { content: { "application/json": SetPostgresBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: SetPostgresData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/connections/postgres/adopt-heroku-connect": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "dry_run"?: "true" | "false"; }; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: AdoptHerokuConnectData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/connections/postgres/proposals": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListProposalsData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/connections/postgres/retention": {
    readonly patch: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody: { content: { "application/json": ChangeRetentionBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ChangeRetentionData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/connections/postgres/test": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: TestPostgresData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/connections/salesforce": {
    readonly put: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody: { content: { "application/json": SetSalesforceBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: SetSalesforceData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/connections/salesforce/authorize": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": AuthorizeSalesforceBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: AuthorizeSalesforceData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/connections/salesforce/complete": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": CompleteSalesforceBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: CompleteSalesforceData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/connections/salesforce/test": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: TestSalesforceData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/doorbell": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "rotate"?: "true" | "false"; }; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: MakeDoorbellData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadDoorbellData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
    readonly delete: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: RemoveDoorbellData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/fleet": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadFleetData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/health": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "incidents"?: "true" | "false"; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadHealthData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": CreateMappingBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: CreateMappingData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | "5XX">;
    };
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "include"?: "inactive"; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListMappingsData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}": {
    readonly delete: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: { readonly "If-Match"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: DeleteMappingData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 412 | 429 | "5XX">;
    };
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadMappingData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
    readonly patch: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: { readonly "If-Match"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": UpdateMappingBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: UpdateMappingData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/abort": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: AbortPollData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/accept-restore": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": AcceptRestoreBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: AcceptRestoreData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/activate": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: { readonly "digest"?: string; }; header?: { readonly "Idempotency-Key"?: string; readonly "If-Match"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ActivateMappingData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 412 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/capture": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: { readonly "dry_run"?: "true" | "false"; }; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": CaptureMappingBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: CaptureMappingData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/compare": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: CompareMappingData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/confirm-deletes": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: { readonly "only"?: string; }; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ConfirmDeletesData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/cycles/{mark}": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; readonly "mark": string; }; query?: { readonly "wait"?: number; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadCycleData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/deactivate": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; readonly "If-Match"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: DeactivateMappingData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 412 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/dry-run": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadDryRunData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: StartDryRunData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/held-deletes": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: { readonly "limit"?: number; readonly "offset"?: number; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListHeldDeletesData[];
            readonly meta: Meta;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/poll-now": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: PollNowData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/push-existing": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: PushExistingData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/reject-deletes": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: { readonly "dry_run"?: "true" | "false"; readonly "only"?: string; }; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": RejectDeletesBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: RejectDeletesData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/reload": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReloadMappingData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/restore": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; readonly "If-Match"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: RestoreMappingData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 412 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/retry-inbound": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: { readonly "sfid"?: string; }; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: RetryInboundData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/mappings/{mapping_id}/rows": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; readonly "mapping_id": string; }; query?: { readonly "state"?: "failed" | "conflict" | "waiting" | "no_record" | "synced"; readonly "sort"?: "key" | "state"; readonly "find"?: string; readonly "column"?: string; readonly "after"?: string; readonly "limit"?: number; readonly "sides"?: "true" | "false"; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListRowsData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/activity": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "limit"?: number; readonly "offset"?: number; readonly "before_id"?: number; readonly "state"?: "NEW" | "PENDING" | "SUCCESS" | "FAILED"; readonly "table"?: string; readonly "sfid"?: string; readonly "row"?: number; readonly "key"?: string; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListActivityData[];
            readonly meta: Meta;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/activity/{change_id}": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; readonly "change_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadChangeData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/budget": {
    readonly patch: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody: { content: { "application/json": ChangeBudgetBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ChangeBudgetData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | "5XX">;
    };
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "sf_polling_seconds"?: number; readonly "when_quiet_seconds"?: number; readonly "mapping_id"?: string; readonly "sync_direction"?: "bidirectional" | "sf_to_pg" | "pg_to_sf"; readonly "filtered"?: "true" | "false"; readonly "sf_notify_enabled"?: "true" | "false"; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadBudgetData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/conflicts": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "limit"?: number; readonly "offset"?: number; readonly "mapping_id"?: string; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListConflictsData[];
            readonly meta: Meta;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/conflicts/{conflict_id}/use-other-value": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "conflict_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: UseOtherValueData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/errors": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "limit"?: number; readonly "offset"?: number; readonly "before_id"?: number; readonly "table"?: string; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListErrorsData[];
            readonly meta: Meta;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/errors/dismiss": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": DismissRowsBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: DismissRowsData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/errors/retry": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": RetryRowsBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: RetryRowsData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/errors/{row_id}/retry": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "row_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: RetryRowData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/failures": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "table"?: string; readonly "fingerprint"?: string; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListFailuresData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/inbound-errors": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "limit"?: number; readonly "offset"?: number; readonly "mapping_id"?: string; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListInboundErrorsData[];
            readonly meta: Meta;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/mappings": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "deleted"?: "true" | "false"; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListMappingStatesData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/monitoring/throughput": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "minutes"?: number; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadThroughputData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/nudge": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: { readonly "table"?: string; }; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: NudgeData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/objects": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListObjectsData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/objects/{object_name}": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; readonly "object_name": string; }; query?: { readonly "parents"?: "true" | "false"; readonly "filter"?: string; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadObjectData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/pause": {
    readonly put: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody: { content: { "application/json": SwitchPauseBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: SwitchPauseData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/restore": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: BeginRestoreData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadRestorePlanData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/rows/{table}/{key}": {
    readonly patch: {
      parameters: { path: { readonly "workspace_id": string; readonly "table": string; readonly "key": string; }; query?: never; header?: never; cookie?: never };
      requestBody: { content: { "application/json": WriteRowBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: WriteRowData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/rows/{table}/{key}/restore": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "table": string; readonly "key": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: RestoreRowData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/rows/{table}/{key}/story": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; readonly "table": string; readonly "key": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadRowStoryData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/tokens": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": CreateTokenBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: CreateTokenData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | "5XX">;
    };
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListTokensData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/tokens/accept": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: AcceptInvitationData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/tokens/current": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadOwnTokenData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/tokens/{token_id}": {
    readonly delete: {
      parameters: { path: { readonly "workspace_id": string; readonly "token_id": string; }; query?: { readonly "in_hours"?: number; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: RevokeTokenData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/webhooks": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody: { content: { "application/json": CreateWebhookBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: CreateWebhookData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | "5XX">;
    };
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListWebhooksData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/webhooks/{webhook_id}": {
    readonly patch: {
      parameters: { path: { readonly "workspace_id": string; readonly "webhook_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody: { content: { "application/json": ChangeWebhookBody } };
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ChangeWebhookData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | "5XX">;
    };
    readonly delete: {
      parameters: { path: { readonly "workspace_id": string; readonly "webhook_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: DeleteWebhookData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; readonly "webhook_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadWebhookData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/webhooks/{webhook_id}/deliveries": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; readonly "webhook_id": string; }; query?: { readonly "limit"?: number; readonly "offset"?: number; readonly "before_id"?: string; readonly "status"?: "pending" | "successful" | "failed"; readonly "event"?: "sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held"; readonly "subjects"?: "true" | "false"; }; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ListDeliveriesData[];
            readonly meta: Meta;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/webhooks/{webhook_id}/deliveries/{delivery_id}": {
    readonly get: {
      parameters: { path: { readonly "workspace_id": string; readonly "webhook_id": string; readonly "delivery_id": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReadDeliveryData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "webhook_id": string; readonly "delivery_id": string; }; query?: never; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: RetryDeliveryData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/webhooks/{webhook_id}/replay": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "webhook_id": string; }; query: { readonly "since": string | string; readonly "before_id"?: string; }; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: ReplayWebhookData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/webhooks/{webhook_id}/rotate-secret": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "webhook_id": string; }; query?: { readonly "overlap_seconds"?: number; }; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: RotateWebhookSecretData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/api/v1/t/{workspace_id}/webhooks/{webhook_id}/test": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "webhook_id": string; }; query?: { readonly "event"?: "sync.broken" | "sync.recovered" | "sync.failure_spike" | "mapping.activated" | "mapping.deactivated" | "record.failed" | "deletes.held"; }; header?: { readonly "Idempotency-Key"?: string; }; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": {
            readonly success: true;
            readonly data: TestWebhookData;
          } } } } & Refused<400 | 401 | 403 | 404 | 405 | 409 | 422 | 429 | "5XX">;
    };
  };
  readonly "/docs/errors": {
    readonly get: {
      parameters: { path?: never; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "text/html": unknown } } } & Refused<405 | "5XX">;
    };
  };
  readonly "/openapi": {
    readonly get: {
      parameters: { path?: never; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "text/html": unknown } } } & Refused<405 | "5XX">;
    };
  };
  readonly "/openapi.json": {
    readonly get: {
      parameters: { path?: never; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "application/json": unknown } } } & Refused<405 | "5XX">;
    };
  };
  readonly "/ring/{workspace_id}/{ring_token}": {
    readonly post: {
      parameters: { path: { readonly "workspace_id": string; readonly "ring_token": string; }; query?: never; header?: never; cookie?: never };
      requestBody?: never;
      responses: { 200: { headers: Headers; content: { "text/xml": unknown } } } & Refused<404 | 405 | 429 | "5XX">;
    };
  };
}
