import { Client } from "pg";
import { ask, orgAsk, queryAll } from "../../ask.ts";
import type { Calls, Conflict, Deed, Evidence, Held, Logged, Save, Seen, Values } from "./judge/evidence.ts";
import type { OrgWrite } from "./wire/passage.ts";

/** The state of both sides, and what the proof itself has recorded. */
export interface Sources {
  readonly databaseUrl: string;
  readonly orgUrl: string;
  readonly accessToken: string;
  readonly objects: readonly string[];
  readonly columns: readonly string[];
  readonly colleagues: readonly Deed[];
  readonly merged: Evidence["merged"];
  readonly uncaptured: Evidence["uncaptured"];
  readonly writes: readonly OrgWrite[];
  readonly retried: Evidence["retried"];
  readonly heard: Evidence["heard"];
  readonly lateReports: Evidence["lateReports"];
  readonly struck: Evidence["struck"];
  readonly restored: Evidence["restored"];
  readonly wireCalls: Readonly<Record<string, number>>;
  readonly colleaguesCalls: number;
  readonly isQuiet: boolean;
}

/** Reads both sides by SQL and REST of its own. */
export async function readEvidence(sources: Sources): Promise<Evidence> {
  const client = new Client({ connectionString: sources.databaseUrl });
  await client.connect();
  const query = async <R>(text: string) => (await client.query(text)).rows as R[];
  const tables = sources.objects.map((object) => object.toLowerCase());
  try {
    const rows: Held[] = [];
    for (const table of tables)
      rows.push(
        ...(await query<Row>(`SELECT * FROM salesforce.${table}`)).map((row) => heldRow(table, row, sources.columns)),
      );
    const totals = await query<Row>("SELECT table_name, success, failed FROM salesforce._bridge_totals");
    const announced = await query<Row>("SELECT event_id, event, log_id, at FROM proof.announced ORDER BY seq");
    const waiting = await query<Row>("SELECT id FROM salesforce._bridge_outbox");
    const used = await usedOf(sources);
    const records = await readRecords(sources);
    return {
      rows,
      records,
      log: (
        await query<Row>(
          "SELECT id, table_name, record_id, action, state, sf_message, values FROM salesforce._trigger_log ORDER BY id",
        )
      ).map(logged),
      totals: totals.map((row) => ({
        table: String(row["table_name"]),
        success: Number(row["success"]),
        failed: Number(row["failed"]),
      })),
      retried: sources.retried,
      conflicts: (await query<Row>("SELECT * FROM salesforce._bridge_conflicts ORDER BY id")).map(conflict),
      announced: announced.map((row) => ({
        eventId: String(row["event_id"]),
        event: String(row["event"]),
        logId: row["log_id"] === null ? null : Number(row["log_id"]),
        at: (row["at"] as Date).getTime(),
      })),
      waitingToBeAnnounced: waiting.map(({ id }) => String(id)),
      heard: sources.heard,
      application: (await query<Row>("SELECT * FROM proof.deeds ORDER BY seq")).map(deedOf),
      uncaptured: sources.uncaptured,
      merged: sources.merged,
      colleagues: sources.colleagues,
      seen: (await query<Row>("SELECT * FROM proof.seen ORDER BY seq")).map(seen),
      saves: sources.writes.flatMap((write) => savesIn(write)),
      lateReports: sources.lateReports,
      struck: sources.struck,
      restored: sources.restored,
      calls: await readCalls(query, sources, used - sources.colleaguesCalls),
    };
  } finally {
    await client.end();
  }
}

/** The books of calls alone; asks the org for nothing that it counts. */
export async function readBooksOfCalls(sources: Sources): Promise<Calls> {
  const client = new Client({ connectionString: sources.databaseUrl });
  await client.connect();
  try {
    const query = async <R>(text: string) => (await client.query(text)).rows as R[];
    return await readCalls(query, sources, (await usedOf(sources)) - sources.colleaguesCalls);
  } finally {
    await client.end();
  }
}

type Row = Readonly<Record<string, unknown>>;

const textOf = (value: unknown) => (value === null || value === undefined ? null : String(value));

function heldRow(table: string, row: Row, columns: readonly string[]): Held {
  const values = Object.fromEntries(columns.map((column) => [column.toLowerCase(), textOf(row[column.toLowerCase()])]));
  return { table, id: String(row["id"]), sfid: textOf(row["sfid"]), tag: String(row["tag__c"]), values };
}

const logged = (row: Row): Logged => ({
  id: Number(row["id"]),
  table: String(row["table_name"]),
  recordId: Number(row["record_id"]),
  action: String(row["action"]),
  state: String(row["state"]),
  message: textOf(row["sf_message"]),
  values: (row["values"] ?? {}) as Values,
});

const conflict = (row: Row): Conflict => ({
  sfid: String(row["sfid"]),
  recordId: Number(row["record_id"]),
  column: textOf(row["field"]),
  postgres: textOf(row["postgres"]),
  salesforce: textOf(row["salesforce"]),
  winner: String(row["winner"]),
});

/** A line of the application's ledger. */
export function deedOf(row: Row): Deed {
  const at = (row["at"] as Date).getTime();
  return {
    table: String(row["table_name"]),
    tag: String(row["tag"]),
    recordId: Number(row["record_id"]),
    action: row["action"] as Deed["action"],
    values: row["vals"] as Values,
    begunAt: at,
    endedAt: at,
    isSure: true,
  };
}

const seen = (row: Row): Seen => ({
  table: String(row["table_name"]),
  by: row["by"] === "bridge" ? "bridge" : "application",
  recordId: Number(row["record_id"]),
  old: row["old"] as Values | null,
  now: row["new"] as Values | null,
  at: (row["at"] as Date).getTime(),
});

/** A save by record. Names of fields are put in lower case, as columns are. */
function savesIn({ sender, operation, object, records, results, sentAt, answeredAt, wasHeld }: OrgWrite): Save[] {
  return records.map((record, index) => {
    const result = results?.[index];
    const { Id, type: _, Tag__c: tag, ...fields } = record;
    return {
      table: object.toLowerCase(),
      operation,
      sfid: result?.id || Id || null,
      tag: tag ?? null,
      values: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value])),
      sentAt,
      answeredAt,
      success: result ? result.success : null,
      sender,
      wasHeld,
    };
  });
}

async function readCalls(
  query: <R>(text: string) => Promise<R[]>,
  { wireCalls, isQuiet }: Sources,
  org: number,
): Promise<Calls> {
  const rows = await query<{ label: string; calls: string }>(
    "SELECT key AS label, sum(value::bigint) AS calls FROM salesforce._bridge_state, jsonb_each_text(api_calls) GROUP BY key",
  );
  return {
    engine: Object.fromEntries(rows.map(({ label, calls }) => [label, Number(calls)])),
    wire: wireCalls,
    org,
    isQuiet,
  };
}

/** The org's own count of calls. */
const usedOf = async ({ orgUrl, accessToken }: Sources) =>
  (await ask<{ used: number }>(`${orgUrl}/_sim/calls`, accessToken, "GET")).used;

async function readRecords({ objects, columns, orgUrl, accessToken }: Sources): Promise<Evidence["records"]> {
  const records: Evidence["records"][number][] = [];
  for (const object of objects) {
    const soql = `SELECT Id, IsDeleted, Tag__c, ${columns.join(", ")} FROM ${object}`;
    for (const record of await queryAll<Row>(orgAsk(orgUrl, accessToken), soql, "queryAll")) {
      const id = String(record["Id"]);
      const values = Object.fromEntries(columns.map((column) => [column.toLowerCase(), textOf(record[column])]));
      const isDeleted = record["IsDeleted"] === true;
      records.push({ table: object.toLowerCase(), id, sfid: id, tag: String(record["Tag__c"]), values, isDeleted });
    }
  }
  return records;
}
