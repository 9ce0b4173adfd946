/**
 * What can be done, in the audit log's dotted form `<resource>.<verb>`: to which kind of resource, and in words, `{}` being
 * the resource's name.
 */
export const AUDIT_ACTIONS = {
  "mapping.created": ["mapping", "created the mapping {}"],
  "mapping.updated": ["mapping", "updated the mapping {}"],
  "mapping.activated": ["mapping", "activated the mapping {}"],
  "mapping.deactivated": ["mapping", "paused the mapping {}"],
  "mapping.deleted": ["mapping", "deleted the mapping {}"],
  "mapping.restored": ["mapping", "restored the mapping {}"],
  "mapping.reloaded": ["mapping", "had every record of {} read again"],
  "mapping.captured": ["mapping", "had changes of {} captured again"],
  "mapping.compared": ["mapping", "started the dry run of {}"],
  "mapping.sweep_requested": ["mapping", "had both sides of {} compared"],
  "mapping.dry_run_confirmed": ["mapping", "confirmed the dry run of {}"],
  "mapping.restore_accepted": ["mapping", "accepted the restore of {}"],
  "mapping.poll_triggered": ["mapping", "polled {}"],
  "mapping.poll_aborted": ["mapping", "aborted the cycle of {}"],
  "rows.retried": ["mapping", "retried failed changes of {}"],
  "rows.dismissed": ["mapping", "dismissed failed changes of {}"],
  "rows.pushed": ["mapping", "pushed existing rows of {}"],
  "rows.written": ["mapping", "corrected a row of {}"],
  "rows.restored": ["mapping", "restored a row of {}"],
  "records.retried": ["mapping", "had records of {} read again"],
  "conflicts.overruled": ["mapping", "used the other value in a conflict of {}"],
  "deletes.confirmed": ["mapping", "released held deletes of {}"],
  "deletes.rejected": ["mapping", "rejected held deletes of {}"],
  "config.imported": ["config", "imported a configuration"],
  "config.import_lost": ["config", "lost an import of a configuration"],
  "config.baseline_saved": ["config", "saved the baseline"],
  "token.created": ["token", "created the token {}"],
  "token.revoked": ["token", "revoked the token {}"],
  "invitation.created": ["token", "invited {}"],
  "invitation.accepted": ["token", "accepted the invitation"],
  "webhook.created": ["webhook", "created the webhook {}"],
  "webhook.updated": ["webhook", "updated the webhook {}"],
  "webhook.deleted": ["webhook", "deleted the webhook {}"],
  "webhook.secret_prepared": ["webhook", "prepared a new secret of the webhook {}"],
  "webhook.secret_promoted": ["webhook", "promoted the new secret of the webhook {}"],
  "webhook.secret_rotated": ["webhook", "rotated the secret of the webhook {}"],
  "webhook.tested": ["webhook", "sent a test to the webhook {}"],
  "webhook.delivery_retried": ["webhook", "sent a delivery of the webhook {} again"],
  "webhook.replayed": ["webhook", "replayed missed deliveries of the webhook {}"],
  "pepper.rotated": ["pepper", "rotated the pepper"],
  "pepper.former_ended": ["pepper", "ended the former pepper"],
  "secrets.resealed": ["secrets", "encrypted the stored secrets again"],
  "doorbell.created": ["doorbell", "created the doorbell"],
  "doorbell.rotated": ["doorbell", "rotated the doorbell"],
  "doorbell.removed": ["doorbell", "removed the doorbell"],
  "connection.postgres_changed": ["connection", "changed the connection to PostgreSQL"],
  "connection.salesforce_authorized": ["connection", "connected Salesforce"],
  "workspace.created": ["workspace", "created the workspace {}"],
  "workspace.renamed": ["workspace", "renamed the workspace {}"],
  "workspace.budget_changed": ["workspace", "changed the share of the org's API calls"],
  "workspace.paused": ["workspace", "paused the workspace"],
  "workspace.resumed": ["workspace", "resumed the workspace"],
  "workspace.restore_begun": ["workspace", "began a restore"],
  "workspace.deleted": ["workspace", "deleted the workspace {}"],
} as const satisfies Record<string, readonly [resourceType: string, says: string]>;

/** `created the token ci`: what an entry's actor did, perhaps by a newer version. */
export const didOf = (action: string, name: string): string =>
  ((AUDIT_ACTIONS as Readonly<Record<string, readonly [string, string]>>)[action]?.[1] ?? `did ${action} to {}`)
    .replace("{}", name)
    .replace("  ", " ")
    .trim();
