import { Client } from "pg";
import type { Run } from "./run.ts";

/** A change as the list of errors shows it. */
interface Failed {
  readonly id: number;
  readonly table_name: string;
  readonly _ab_err: string;
}

/** Where this list ends. */
const PAGE = 200;

/**
 * What a person does about changes that ended in doubt: looks at the records that the error names, gives the row the sfid
 * of the one that it is, and retries. Answers for how many rows that was done, and the changes that were retried.
 */
export async function settleByHand(run: Run): Promise<{ readonly rows: number; readonly retried: readonly number[] }> {
  const doubtful = (await failedChanges(run)).filter(({ _ab_err }) => _ab_err.startsWith("IN_DOUBT"));
  const rows = Map.groupBy(doubtful, (change) => `${change.table_name} ${rowIn(change)}`);
  for (const changes of rows.values()) {
    const [first] = changes;
    if (first) await link(run, first);
    for (const { id } of changes.toSorted((one, other) => one.id - other.id))
      await run.stage.api("POST", `/monitoring/errors/${id}/retry`);
  }
  return { rows: rows.size, retried: doubtful.map(({ id }) => id) };
}

async function failedChanges({ stage }: Run): Promise<Failed[]> {
  const found: Failed[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = (await stage.api("GET", `/monitoring/errors?limit=${PAGE}&offset=${offset}`)) as Failed[];
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}

const rowIn = ({ _ab_err }: Failed) => Number(/ row (\d+) /.exec(_ab_err)?.[1]);

async function link(run: Run, failed: Failed): Promise<void> {
  const { table_name: table, _ab_err } = failed;
  const rowId = rowIn(failed);
  const client = new Client({ connectionString: run.stage.databaseUrl, application_name: "operator" });
  await client.connect();
  try {
    const { rows } = await client.query<{ tag: string }>(
      `SELECT tag__c AS tag FROM salesforce.${table} WHERE id = $1 AND sfid IS NULL`,
      [rowId],
    );
    const ids = _ab_err.match(/\b\w{18}\b/g) ?? [];
    const object = run.mappings.find((one) => one.table === table)?.object ?? "";
    const tags = await run.colleagues.tagsOf(object, ids);
    const id = ids.find((one) => rows[0] && tags.get(one) === rows[0].tag);
    if (id) await client.query(`UPDATE salesforce.${table} SET sfid = $1 WHERE id = $2`, [id, rowId]);
  } finally {
    await client.end();
  }
}
