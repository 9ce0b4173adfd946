import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import pg from "pg";
import { deliveries } from "../../../functions/services/composition.ts";
import { writeEntry } from "../../../lib/adapters/dynamodb/audit/audit-item.ts";
import { COUNTER, partition } from "../../../lib/adapters/dynamodb/audit/audit-keys.ts";
import { afterAttempt, begin, newDelivery } from "../../../lib/model/delivery/delivery.ts";
import { newId } from "../../../lib/model/id.ts";
import { tableVariable } from "../../../lib/model/resources.ts";
import type { AuditAction, AuditEntry } from "../../../lib/model/workspace/audit.ts";

/** Of the log's rows one in twenty failed, and the newest two thousand wait, of a table that no cycle works on. */
export async function fillTriggerLog(dataDir: string, databaseUrl: string, rows: number): Promise<void> {
  // A checkpoint is for superusers.
  const url = new URL(databaseUrl);
  url.username = "postgres";
  url.password = readFileSync(join(dataDir, "postgres", "superuser-password"), "utf8").trim();
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`
    INSERT INTO salesforce._trigger_log (state, action, table_name, record_id, sfid, "values", last_operation, sf_message, processed_at)
    SELECT state, 'UPDATE', CASE WHEN state = 'NEW' THEN 'elsewhere' WHEN n % 3 = 0 THEN 'account' ELSE 'contact' END,
      1000000 + n, lpad(n::text, 18, '0'), '{"lastname": "Lovelace", "email": "ada@example.com"}',
      CASE state WHEN 'SUCCESS' THEN 'UPDATED' WHEN 'FAILED' THEN 'FAILED' END,
      CASE state WHEN 'FAILED' THEN 'REQUIRED_FIELD_MISSING: Required fields are missing: [LastName]' END,
      CASE WHEN state <> 'NEW' THEN now() END
    FROM (SELECT n, CASE WHEN n > ${rows - 2000} THEN 'NEW' WHEN n % 20 = 1 THEN 'FAILED' ELSE 'SUCCESS' END AS state
          FROM generate_series(1, ${rows}) AS n) AS changes`);
  await client.query(`
    INSERT INTO salesforce._bridge_totals AS t (table_name, success, failed)
    SELECT table_name, count(*) FILTER (WHERE state = 'SUCCESS'), count(*) FILTER (WHERE state = 'FAILED')
    FROM salesforce._trigger_log WHERE record_id > 1000000 GROUP BY table_name
    ON CONFLICT (table_name) DO UPDATE SET success = t.success + excluded.success, failed = t.failed + excluded.failed`);
  await client.query("VACUUM ANALYZE salesforce._trigger_log");
  await client.query("CHECKPOINT"); // what was written for the filling must not disturb the measuring
  await client.end();
}

const ACTIONS: readonly AuditAction[] = [
  "mapping.updated",
  "mapping.poll_triggered",
  "token.created",
  "config.imported",
];

/**
 * Entries of ten actors and four actions, as the service itself keeps them, in the partitions that are asked for:
 * everything, and actor with action.
 */
export async function fillAuditLog(dataDir: string, workspaceId: string, entries: number): Promise<void> {
  const TableName = useCloudOf(dataDir)[tableVariable("audit")] ?? "";
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const expiresAt = Math.floor(Date.now() / 1000) + 86_400;
  const counts = new Map<string, number>();
  const items: object[] = [];
  for (let at = 0; at < entries; at += 1) {
    const [actor, action] = [`actor${at % 10}@example.com`, ACTIONS[at % ACTIONS.length] ?? "mapping.updated"];
    const entry: AuditEntry = {
      ...{ id: newId("aud"), workspaceId, actor, action, resourceId: newId("map") },
      detail: { sf_object: "Contact", pg_table: "contact", changed: ["sf_polling_seconds"] },
      createdAt: new Date(Date.now() - entries + at),
    };
    for (const filter of [
      { actor: null, action: null },
      { actor, action },
    ]) {
      const pk = partition({ workspaceId, ...filter });
      const sequence = (counts.get(pk) ?? 0) + 1;
      counts.set(pk, sequence);
      items.push(writeEntry(pk, sequence, entry, expiresAt));
    }
  }
  for (const [pk, counted] of counts)
    items.push({ pk, sk: COUNTER, entries: counted, first: 1, first_expires_at: expiresAt });
  for (let at = 0; at < items.length; at += WRITES) {
    const TransactItems = items.slice(at, at + WRITES).map((Item) => ({ Put: { TableName, Item } }));
    await client.send(new TransactWriteCommand({ TransactItems }));
  }
  client.destroy();
}

/** DynamoDB takes at most 100 writes in one transaction. */
const WRITES = 100;

/** As many deliveries of one webhook as twenty pages hold, each made at once. */
const DELIVERIES = 1000;

export async function fillDeliveries(dataDir: string, workspaceId: string, webhookId: string): Promise<void> {
  useCloudOf(dataDir);
  const began = Date.now() - DELIVERIES * 1000;
  const outcome = { durationMs: 80, code: 200, body: "ok", truncated: false, problem: null };
  const made = Array.from({ length: DELIVERIES }, (_, at) => {
    const createdAt = new Date(began + at * 1000);
    const names = { id: newId("dlv"), workspaceId, webhookId, eventId: newId("evt") };
    const begun = begin(newDelivery({ ...names, event: "sync.broken", body: "{}", createdAt }), "automatic", createdAt);
    if (!begun.latest) throw new Error("a delivery that began has no attempt");
    return afterAttempt(begun, begun.latest, { ...outcome, endedAt: createdAt });
  });
  await deliveries().add(made);
}

/** Lets this process work on the cloud of an instance; the variables that say where it is. */
function useCloudOf(dataDir: string): Readonly<Record<string, string>> {
  const { environment } = JSON.parse(readFileSync(join(dataDir, "operator.json"), "utf8")) as {
    readonly environment: Readonly<Record<string, string>>;
  };
  Object.assign(process.env, environment);
  return environment;
}
