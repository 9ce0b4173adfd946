import { ask, orgAsk, queryAll } from "../../ask.ts";
import { DEEDS, epochOf } from "./application.ts";
import { sumOf, totalOf } from "./counts.ts";
import type { Calls, Evidence, Held, Save } from "./judge/evidence.ts";
import { type Proved, VALUES } from "./mapped-objects.ts";
import type { Run } from "./run.ts";
import type { OrgWrite } from "./wire/passage.ts";

/** Reads both sides by SQL and REST of its own, and what the proof itself has recorded. */
export async function readEvidence(run: Run, calls: Calls, retried: Evidence["retried"] = []): Promise<Evidence> {
  const { stage, mappings, colleagues, migrator, receiver, trouble, parts, restorer } = run;
  const { query } = run.queries;
  const waiting = await query<{ readonly id: string }>("SELECT id::text FROM salesforce._bridge_outbox");
  const records: Evidence["records"][number][] = [];
  for (const mapping of mappings) records.push(...(await recordsOf(run, mapping)));
  return {
    rows: await query(mappings.map(rowsOf).join(" UNION ALL ")),
    records,
    log: await query(LOG),
    totals: await query('SELECT table_name AS "table", success::int, failed::int FROM salesforce._bridge_totals'),
    retried,
    conflicts: await query(CONFLICTS),
    announced: await query(ANNOUNCED),
    waitingToBeAnnounced: waiting.map(({ id }) => id),
    heard: receiver.received.map(({ body }) => heardIn(body)),
    application: await query(DEEDS),
    uncaptured: migrator.uncaptured,
    merged: colleagues.merged,
    colleagues: colleagues.deeds,
    seen: await query(SEEN),
    saves: stage.wire.ledger.writes.flatMap(savesIn),
    lateReports: lateReports(stage),
    // Where a part was struck, the process at the point continued.
    struck: [
      ...trouble.done.flatMap(({ whom, pid, at }) => (whom === "function" ? [{ whom: pid, at }] : [])),
      ...parts.strikes,
    ],
    restored: restorer.restored,
    calls,
  };
}

/** What cycles said of saves that came after the lease was lost. */
export function lateReports({ notes }: Pick<Run["stage"], "notes">): Evidence["lateReports"] {
  const late = notes.filter(({ line }) => line.includes("saves came after the lease was lost"));
  return late.map(({ at, line }) => {
    const { sf_object } = JSON.parse(line) as { readonly sf_object: string };
    return { table: sf_object.toLowerCase(), at };
  });
}

/** The functions whose calls the engine books by mapping. */
const CALLERS = ["run-cycle", "load-mapping", "provision-mapping"];

/**
 * The books of calls, without a call that the org counts. In peace only answered calls count, which are those that the org
 * has counted.
 */
export async function readCalls({ stage, queries, colleagues }: Run, isQuiet: boolean): Promise<Calls> {
  const { org, wire } = stage;
  const byWorker = Object.entries(isQuiet ? wire.ledger.calls : wire.ledger.sent);
  const by = (are: boolean) =>
    sumOf(byWorker.flatMap(([worker, counts]) => (CALLERS.includes(worker) === are ? [counts] : [])));
  const { used } = await ask<{ used: number }>(`${org.url}/_sim/calls`, org.accessToken, "GET");
  const booked = await queries.query<{ readonly label: string; readonly calls: number }>(
    "SELECT key AS label, sum(value::bigint)::int AS calls FROM salesforce._bridge_state, jsonb_each_text(api_calls) GROUP BY key",
  );
  return {
    engine: Object.fromEntries(booked.map(({ label, calls }) => [label, calls])),
    wire: by(true),
    org: used - colleagues.calls() - totalOf(by(false)),
    isQuiet,
  };
}

const LOG = `
  SELECT id::int, table_name AS "table", record_id::int AS "recordId", action, state, sf_message AS message,
    coalesce("values", '{}') AS "values" FROM salesforce._trigger_log ORDER BY id`;

const CONFLICTS = `
  SELECT sfid, record_id::int AS "recordId", field AS "column", postgres, salesforce, winner
  FROM salesforce._bridge_conflicts ORDER BY id`;

const ANNOUNCED = `
  SELECT event_id AS "eventId", event, log_id::int AS "logId", ${epochOf("at")} AS at FROM proof.announced ORDER BY seq`;

const SEEN = `
  SELECT table_name AS "table", CASE by WHEN 'bridge' THEN by ELSE 'application' END AS by, record_id::int AS "recordId",
    old, new AS now, ${epochOf("at")} AS at FROM proof.seen ORDER BY seq`;

function rowsOf({ table }: Proved): string {
  const values = VALUES.map((field) => `'${field.toLowerCase()}', ${field}`).join(", ");
  return `SELECT '${table}' AS "table", id::text, sfid, tag__c AS tag, jsonb_build_object(${values}) AS "values" FROM salesforce."${table}"`;
}

async function recordsOf({ stage }: Run, { object, table }: Proved): Promise<Evidence["records"]> {
  const soql = `SELECT Id, IsDeleted, Tag__c, ${VALUES.join(", ")} FROM ${object}`;
  const orgRecords = await queryAll<OrgRecord>(orgAsk(stage.org.url, stage.org.accessToken), soql, "queryAll");
  return orgRecords.map(({ Id: id, IsDeleted: isDeleted, Tag__c: tag, ...record }) => {
    const values: Held["values"] = Object.fromEntries(
      VALUES.map((field) => [field.toLowerCase(), record[field] ?? null]),
    );
    return { table, id, sfid: id, tag, values, isDeleted };
  });
}

type OrgRecord = Readonly<
  Record<"Id" | "Tag__c", string> & { IsDeleted: boolean } & Partial<Record<(typeof VALUES)[number], string | null>>
>;

function heardIn(body: string): Evidence["heard"][number] {
  const { id, data } = JSON.parse(body) as { id: string; data: { trigger_log_id?: number } };
  return { eventId: id, logId: data.trigger_log_id ?? null };
}

/** A save by record. Names of fields are put in lower case, as columns are. */
function savesIn({ object, records, results, ...write }: OrgWrite): Save[] {
  return records.map((record, index) => {
    const result = results?.[index];
    const { Id, type: _, Tag__c: tag, ...fields } = record;
    return {
      ...write,
      table: object.toLowerCase(),
      sfid: result?.id || Id || null,
      tag: tag ?? null,
      values: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value])),
      success: result ? result.success : null,
    };
  });
}
