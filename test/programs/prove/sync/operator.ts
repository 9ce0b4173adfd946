import { orgAsk, queryAll } from "../../ask.ts";
import type { Run } from "./run.ts";

/** A change that ended in doubt. */
interface Doubtful {
  readonly id: number;
  readonly table: string;
  readonly row: number;
  readonly error: string;
}

const DOUBTFUL = `
  SELECT id::int, table_name AS "table", record_id::int AS row, sf_message AS error FROM salesforce._trigger_log
  WHERE state = 'FAILED' AND starts_with(sf_message, 'IN_DOUBT') ORDER BY id`;

/**
 * What a person does about changes that ended in doubt: looks at the records that the error names, gives the row the sfid
 * of the one that it is, and retries. Answers for how many rows that was done, and the changes that were retried.
 */
export async function settleByHand(run: Run): Promise<{ readonly rows: number; readonly retried: readonly number[] }> {
  const doubtful = await run.queries.query<Doubtful>(DOUBTFUL);
  const rows = Map.groupBy(doubtful, ({ table, row }) => `${table} ${row}`);
  for (const changes of rows.values()) {
    for (const change of changes.slice(0, 1)) await link(run, change);
    for (const { id } of changes) await run.stage.api("POST", `/monitoring/errors/${id}/retry`);
  }
  return { rows: rows.size, retried: doubtful.map(({ id }) => id) };
}

async function link({ stage, queries, mappings }: Run, { table, row, error }: Doubtful): Promise<void> {
  const ids = error.match(/\b\w{18}\b/g) ?? [];
  const object = mappings.find((one) => one.table === table)?.object;
  const soql = `SELECT Id, Tag__c FROM ${object} WHERE Id IN (${ids.map((id) => `'${id}'`).join(", ")})`;
  const records = await queryAll<{ readonly Id: string; readonly Tag__c: string }>(
    orgAsk(stage.org.url, stage.org.accessToken),
    soql,
  );
  for (const { Id, Tag__c } of records)
    await queries.query(
      `UPDATE salesforce.${table} SET sfid = '${Id}' WHERE id = ${row} AND sfid IS NULL AND tag__c = '${Tag__c}'`,
    );
}
