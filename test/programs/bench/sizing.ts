import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SQSEvent } from "aws-lambda";
import { assemble } from "../../../lib/local/assemble.ts";
import { createTestClock } from "../../../lib/local/clock.ts";
import { startHost } from "../../../lib/local/cloud/lambda/start-host.ts";
import { startCloud } from "../../../lib/local/cloud/start-cloud.ts";
import { operatorEnvironment } from "../../../lib/local/operator-file.ts";
import { readOptions } from "../../../lib/local/read-options.ts";
import { JOB_RECORDS } from "../../../lib/model/change/ways.ts";
import { PAGE_SIZE } from "../../../lib/model/mapping/soql.ts";
import { CYCLES_AT_ONCE, type CyclesMessage } from "../../../lib/model/messages.ts";
import { entryOf } from "../../support/worlds/carry-out.ts";
import { createTestWorkspace, type TestWorkspace } from "../../support/worlds/workspace.ts";
import { bridgeAsk } from "../ask.ts";
import { type Figure, report, say } from "./figures.ts";
import { type Bench, type BenchOrg, type Database, onBench } from "./sync/bench.ts";
import { MAPPED_FIELDS, moreFields } from "./sync/bench-objects.ts";
import { updateByCollections } from "./sync/plain-client.ts";

const HELP = `npm run bench:sizing [-- --quick] [--fields 300] [--records 600] [--rows 400] [--json]

What functions take of their memory at the most that one call can be asked. Each bundle runs in a process of its own with
the heap of its template. A call of run-cycle works on thirty mappings of three workspaces at once, each with a whole page
to pull and rows to push for a whole job; load-mapping loads a table by the Bulk API. Linux reports the most that a process
had resident. Ends with 1 when that is more than four fifths.

  --quick    small sizes, to see that it works
  --fields   fields of a mapping beside the usual twenty
  --records  records of each object to pull
  --rows     rows of each table to push
  --json     the figures as JSON`;

const options = readOptions(HELP, {
  quick: { type: "boolean", default: false },
  fields: { type: "string", default: "0" },
  records: { type: "string", default: String(PAGE_SIZE) },
  rows: { type: "string", default: String(JOB_RECORDS) },
  json: { type: "boolean", default: false },
});
const WORKSPACES = 3;
/** Records of each object that change, rows of each table that are written, and records of the table that is loaded. */
const [CHANGED, WRITTEN, LARGE] = options.quick
  ? [200, 400, 2_000]
  : [Number(options.records), Number(options.rows), 30_000];
const MORE = moreFields(Number(options.fields));
const MOST_PERCENT = 80;

const OBJECTS = Array.from({ length: CYCLES_AT_ONCE }, (_, at) => `Wide${at + 1}__c`);
const TABLES = OBJECTS.map((name) => `salesforce.${name.toLowerCase()}`);
const LARGE_OBJECT = "Large__c";

const folder = mkdtempSync(join(tmpdir(), "bridge-sizing-"));
// The clock is stopped, so nothing beats but what is asked for.
const cloud = await startCloud({ dataDir: folder, clock: createTestClock(new Date()) });
const log = (line: object) => process.stderr.write(`${JSON.stringify(line)}\n`);
const environment = { RATE_LIMIT_PER_MINUTE: "100000" };
const host = await startHost({ cloud, assembly: await assemble(), isolate: true, log, environment });
Object.assign(process.env, operatorEnvironment(cloud.environment));
try {
  await onBench(async (bench) => {
    const records = { ...Object.fromEntries(OBJECTS.map((name) => [name, CHANGED])), [LARGE_OBJECT]: LARGE };
    const org = await bench.createOrg(records, MORE);
    const all = await Promise.all(Array.from({ length: WORKSPACES }, () => prepare(bench, org)));
    say("loaded");
    await change(org, all);
    say("changed");
    await cycle(all);
    for (const one of all) await check(one);
    report(figures(), options);
  });
} finally {
  await host.close();
  await cloud.close();
  rmSync(folder, { recursive: true, force: true });
}

interface Prepared extends Database {
  readonly workspace: TestWorkspace;
  readonly ids: readonly string[];
}

/** A workspace whose tables are loaded. */
async function prepare({ createDatabase }: Bench, org: BenchOrg): Promise<Prepared> {
  const { url, client } = await createDatabase();
  const workspace = await createTestWorkspace({ postgres: { url, schema: "salesforce" }, salesforce: org.connection });
  const fields = [...MAPPED_FIELDS, ...MORE.map(({ name }) => name)];
  const mappings = [...OBJECTS, LARGE_OBJECT].map((object) => entryOf({ object, fields, upsertField: "Key__c" }));
  await bridgeAsk(host.baseUrl, workspace)("POST", "/config/import", { version: 1, mappings });
  await host.settle();
  const { rows } = await client.query<{ mapping_id: string }>(
    "SELECT mapping_id FROM salesforce._bridge_state WHERE table_name LIKE 'wide%'",
  );
  return { workspace, url, client, ids: rows.map(({ mapping_id }) => mapping_id) };
}

/** Every record of the org, and new rows in every workspace. */
async function change(org: BenchOrg, all: readonly Prepared[]): Promise<void> {
  for (const [at, table] of TABLES.entries()) {
    const known = (await all[0]?.client.query<{ sfid: string }>(`SELECT sfid FROM ${table}`))?.rows ?? [];
    const updates = known.map(({ sfid }) => ({ id: sfid, value: "Changed" }));
    await updateByCollections(org, OBJECTS[at] ?? "", updates);
    for (const { client } of all)
      await client.query(
        `INSERT INTO ${table} (key__c, first__c, street__c, email__c, amount__c)
         SELECT gen_random_uuid()::text, 'First ' || n, repeat('x', 200), 'person.' || n || '@customer.example', n
         FROM generate_series(1, ${WRITTEN}) n`,
      );
  }
}

/** One call for every mapping of every workspace: what a batch of the beat is at the most at work on at once. */
async function cycle(all: readonly Prepared[]): Promise<void> {
  const Records = all.map(({ workspace, ids: [mapping_id = "", ...also] }, at) => {
    const message: CyclesMessage = { workspace_id: workspace.id, mapping_id, also, kind: "poll", slot: null };
    return { messageId: String(at), body: JSON.stringify(message) };
  });
  const answer = await host.invoke("run-cycle", { Records } as SQSEvent);
  if (JSON.stringify(answer) !== '{"batchItemFailures":[]}')
    throw new Error(`cycles failed: ${JSON.stringify(answer)}`);
}

/** Throws unless every record was pulled. */
async function check({ client, workspace }: Prepared): Promise<void> {
  const count = async (what: string) => {
    const counts = TABLES.map((table) => `(SELECT count(*) FROM ${table} WHERE ${what})`);
    return Number((await client.query<{ sum: string }>(`SELECT ${counts.join(" + ")} AS sum`)).rows[0]?.sum);
  };
  const [pulled, pushed] = [await count("last__c = 'Changed'"), await count("_ab_lastop = 'INSERTED'")];
  say(`of ${workspace.id} ${pulled} records are pulled, and ${pushed} rows pushed so far`);
  if (pulled !== OBJECTS.length * CHANGED) throw new Error("not every record was pulled");
}

/** The most that any process of a function had resident. */
function figures(): Figure[] {
  const peaks = new Map<string, Figure>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const said = (file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8");
    try {
      const [status, environment] = [said("status"), said("environ").split("\0")];
      const variable = (name: string) => environment.find((line) => line.startsWith(`${name}=`))?.split("=", 2)[1];
      const name = variable("AWS_LAMBDA_FUNCTION_NAME");
      const isOurs = Number(/PPid:\s+(\d+)/.exec(status)?.[1]) === process.pid;
      if (!isOurs || name === undefined) continue;
      const memory = Number(variable("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"));
      const percent = (100 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1])) / 1024 / memory;
      const value = Math.max(percent, peaks.get(name)?.value ?? 0);
      peaks.set(name, { name: `${name}, of ${memory} MB`, value, unit: "%", atMost: MOST_PERCENT });
    } catch (error) {
      // Of a process that ended meanwhile, or that is another user's, nothing can be read.
      if (!["ENOENT", "ESRCH", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  return [...peaks.values()].toSorted((one, other) => one.name.localeCompare(other.name));
}
