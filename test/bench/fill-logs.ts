import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import pg from "pg";
import { writeEntry } from "../../lib/adapters/dynamodb/audit-item.ts";
import { COUNTER, partitionsOf } from "../../lib/adapters/dynamodb/audit-keys.ts";
import type { AuditAction } from "../../lib/model/audit.ts";
import { newId } from "../../lib/model/id.ts";
import { tableVariable } from "../../lib/model/resources.ts";

export const LOG_ROWS = 1_000_000;
export const AUDIT_ENTRIES = 100_000;

/** Of the log's rows, one in twenty failed and ten thousand wait, those of a table that no cycle works on. */
export async function fillTriggerLog(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`
    INSERT INTO salesforce._trigger_log (state, action, table_name, record_id, sfid, "values", last_operation, sf_message, processed_at)
    SELECT state, 'UPDATE', CASE WHEN state = 'NEW' THEN 'elsewhere' WHEN n % 3 = 0 THEN 'account' ELSE 'contact' END,
      1000000 + n, lpad(n::text, 18, '0'), '{"lastname": "Lovelace", "email": "ada@example.com"}',
      CASE state WHEN 'SUCCESS' THEN 'UPDATED' WHEN 'FAILED' THEN 'FAILED' END,
      CASE state WHEN 'FAILED' THEN 'REQUIRED_FIELD_MISSING: Required fields are missing: [LastName]' END,
      CASE WHEN state <> 'NEW' THEN now() END
    FROM (SELECT n, CASE WHEN n % 100 = 0 THEN 'NEW' WHEN n % 20 = 1 THEN 'FAILED' ELSE 'SUCCESS' END AS state
          FROM generate_series(1, ${LOG_ROWS}) AS n) AS changes`);
  await client.query(`
    INSERT INTO salesforce._bridge_totals AS t (table_name, success, failed)
    SELECT table_name, count(*) FILTER (WHERE state = 'SUCCESS'), count(*) FILTER (WHERE state = 'FAILED')
    FROM salesforce._trigger_log WHERE record_id > 1000000 GROUP BY table_name
    ON CONFLICT (table_name) DO UPDATE SET success = t.success + excluded.success, failed = t.failed + excluded.failed`);
  await client.query("VACUUM ANALYZE salesforce._trigger_log");
  await client.end();
}

const ACTIONS: readonly AuditAction[] = [
  "mapping.updated",
  "mapping.poll_triggered",
  "token.created",
  "config.imported",
];

/** Entries of ten actors and four actions, as the service itself would have kept them beside those that are there. */
export async function fillAuditLog(dataDir: string, workspaceId: string): Promise<void> {
  const { environment } = JSON.parse(readFileSync(join(dataDir, "operator.json"), "utf8")) as {
    readonly environment: Record<string, string>;
  };
  Object.assign(process.env, environment);
  const table = environment[tableVariable("audit")] ?? "";
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const counts = new Map<string, number>();
  let batch: Record<string, unknown>[] = [];
  const flush = async (items: readonly Record<string, unknown>[]) => {
    const RequestItems = { [table]: items.map((Item) => ({ PutRequest: { Item } })) };
    await client.send(new BatchWriteCommand({ RequestItems }));
  };
  const began = Date.now() - AUDIT_ENTRIES;
  const open: Promise<void>[] = [];
  for (let at = 0; at < AUDIT_ENTRIES; at += 1) {
    const actor = `actor${at % 10}@example.com`;
    const action = ACTIONS[at % ACTIONS.length] ?? "mapping.updated";
    const entry = {
      id: newId("aud"),
      workspaceId,
      actor,
      action,
      resourceId: newId("map"),
      detail: { sf_object: "Contact", pg_table: "contact", changed: ["sf_polling_seconds"] },
      createdAt: new Date(began + at),
    };
    for (const pk of partitionsOf(workspaceId, actor, action)) {
      const sequence = (counts.get(pk) ?? 0) + 1;
      counts.set(pk, sequence);
      batch.push(writeEntry(pk, sequence, entry));
      if (batch.length < 25) continue;
      open.push(flush(batch));
      batch = [];
      if (open.length === 8) await Promise.all(open.splice(0));
    }
  }
  const counters = [...counts].map(([pk, entries]) => ({ pk, sk: COUNTER, entries }));
  for (let at = 0; at < counters.length; at += 25) open.push(flush(counters.slice(at, at + 25)));
  if (batch.length > 0) open.push(flush(batch));
  await Promise.all(open);
  client.destroy();
}
