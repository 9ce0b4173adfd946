import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SQSEvent } from "aws-lambda";
import { Client } from "pg";
import { build } from "../../../lib/infra/build.ts";
import { synthesize } from "../../../lib/infra/synthesize.ts";
import { createTestClock } from "../../../lib/local/clock.ts";
import { type Host, startHost } from "../../../lib/local/cloud/lambda/start-host.ts";
import { startCloud } from "../../../lib/local/cloud/start-cloud.ts";
import { operatorEnvironment } from "../../../lib/local/operator-file.ts";
import { readOptions } from "../../../lib/local/read-options.ts";
import { JOB_RECORDS } from "../../../lib/model/change/ways.ts";
import { PAGE_SIZE } from "../../../lib/model/mapping/soql.ts";
import { CYCLES_AT_ONCE, type CyclesMessage } from "../../../lib/model/messages.ts";
import { createTestWorkspace, type TestWorkspace } from "../../support/worlds/workspace.ts";
import { startBenchServer } from "./sync/bench-database.ts";
import { MAPPED_FIELDS, moreFields } from "./sync/bench-objects.ts";
import { type BenchOrg, startBenchOrg } from "./sync/bench-org.ts";
import { updateBySoap } from "./sync/plain-updates.ts";

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
const MOST_SHARE = 0.8;

const OBJECTS = Array.from({ length: CYCLES_AT_ONCE }, (_, at) => `Wide${at + 1}__c`);
const LARGE_OBJECT = "Large__c";

const folder = mkdtempSync(join(tmpdir(), "bridge-sizing-"));
const bundles = join(folder, "functions");
// The clock is stopped, so nothing beats but what is asked for.
const cloud = await startCloud({ dataDir: join(folder, "cloud"), clock: createTestClock(new Date()) });
const [server, org] = await Promise.all([
  startBenchServer(),
  startBenchOrg(recordsOf(), MORE),
  build({ out: bundles }),
]);
const assembly = synthesize({ bundles, outdir: join(folder, "cdk.out") });
const log = (line: object) => process.stderr.write(`${JSON.stringify(line)}\n`);
const host = await startHost({ cloud, assembly, isolate: true, log, environment: { RATE_LIMIT_PER_MINUTE: "100000" } });
Object.assign(process.env, operatorEnvironment(cloud.environment));
try {
  const all = await Promise.all(Array.from({ length: WORKSPACES }, () => prepare(host)));
  tell("loaded");
  const [first] = all;
  if (first) await first.changeRecords(org);
  for (const one of all) await one.insertRows();
  tell("changed");
  await cycle(host, all);
  for (const one of all) await one.check();
  report();
} finally {
  await host.close();
  org.end();
  await Promise.all([cloud.close(), server.close()]);
  rmSync(folder, { recursive: true, force: true });
}

function recordsOf(): Record<string, number> {
  return { ...Object.fromEntries(OBJECTS.map((name) => [name, CHANGED])), [LARGE_OBJECT]: LARGE };
}

interface Prepared {
  readonly workspace: TestWorkspace;
  readonly client: Client;
  readonly ids: readonly string[];
  changeRecords(org: BenchOrg): Promise<void>;
  insertRows(): Promise<void>;
  /** Returns what has arrived, and throws unless every record has. */
  check(): Promise<void>;
}

/** A workspace whose tables are loaded. */
async function prepare(onHost: Host): Promise<Prepared> {
  const url = await server.createDatabase();
  const workspace = await createTestWorkspace({ postgres: { url, schema: "salesforce" }, salesforce: org.connection });
  const mappings = [...OBJECTS, LARGE_OBJECT].map((object_name) => ({
    object_name,
    config: {
      access: "read_write",
      sf_polling_seconds: 10,
      fields: Object.fromEntries([...MAPPED_FIELDS, ...MORE.map(({ name }) => name)].map((field) => [field, {}])),
      upsert_field: "Key__c",
    },
  }));
  const answer = await fetch(`${onHost.baseUrl}/api/v1/t/${workspace.id}/config/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${workspace.token}`, "content-type": "application/json" },
    body: JSON.stringify({ version: 1, mappings }),
  });
  if (!answer.ok) throw new Error(`the import answered ${answer.status}: ${await answer.text()}`);
  await onHost.settle();
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined); // the server ends it, at the end
  await client.connect();
  const { rows } = await client.query<{ mapping_id: string }>(
    "SELECT mapping_id FROM salesforce._bridge_state WHERE table_name LIKE 'wide%'",
  );
  const sum = async (what: string) => {
    const counts = OBJECTS.map((name) => `(SELECT count(*) FROM salesforce.${name.toLowerCase()} WHERE ${what})`);
    const { rows: counted } = await client.query<{ sum: string }>(`SELECT ${counts.join(" + ")} AS sum`);
    return Number(counted[0]?.sum);
  };
  return {
    workspace,
    client,
    ids: rows.map(({ mapping_id }) => mapping_id),
    async changeRecords(changed) {
      for (const name of OBJECTS) {
        const ids = await client.query<{ sfid: string }>(`SELECT sfid FROM salesforce.${name.toLowerCase()}`);
        await updateBySoap(
          changed,
          name,
          ids.rows.map(({ sfid }) => ({ id: sfid, value: "Changed" })),
        );
      }
    },
    async insertRows() {
      for (const name of OBJECTS)
        await client.query(
          `INSERT INTO salesforce.${name.toLowerCase()} (key__c, first__c, street__c, email__c, amount__c)
           SELECT gen_random_uuid()::text, 'First ' || n, repeat('x', 200), 'person.' || n || '@customer.example', n
           FROM generate_series(1, ${WRITTEN}) n`,
        );
    },
    async check() {
      const [pulled, pushed] = [await sum("last__c = 'Changed'"), await sum("_ab_lastop = 'INSERTED'")];
      tell(`of ${workspace.id} ${pulled} records are pulled, and ${pushed} rows pushed so far`);
      if (pulled !== OBJECTS.length * CHANGED) throw new Error("not every record was pulled");
    },
  };
}

/** One call for every mapping of every workspace: what a batch of the beat is at the most at work on at once. */
async function cycle(onHost: Host, all: readonly Prepared[]): Promise<void> {
  const Records = all.map(({ workspace, ids: [mapping_id = "", ...also] }, at) => {
    const message: CyclesMessage = { workspace_id: workspace.id, mapping_id, also, kind: "poll", slot: null };
    return { messageId: String(at), body: JSON.stringify(message) };
  });
  const answer = await onHost.invoke("run-cycle", { Records } as SQSEvent);
  if (JSON.stringify(answer) !== '{"batchItemFailures":[]}')
    throw new Error(`cycles failed: ${JSON.stringify(answer)}`);
}

function report(): void {
  const peaks = [...peaksOfFunctions()].sort().map(([name, peak]) => ({ name, ...peak }));
  const over = peaks.filter(({ memory, resident }) => resident > MOST_SHARE * memory).map(({ name }) => name);
  if (options.json) console.log(JSON.stringify({ functions: peaks, over }, null, 2));
  else {
    console.log(`${"function".padEnd(24)}   memory  resident   share`);
    for (const { name, memory, resident } of peaks)
      console.log(
        `${name.padEnd(24)}  ${String(memory).padStart(4)} MB  ${resident.toFixed(0).padStart(5)} MB  ${((100 * resident) / memory).toFixed(0).padStart(4)} %`,
      );
    console.log(over.length === 0 ? "kept" : `MISSED: ${over.join(", ")}`);
  }
  if (over.length > 0) process.exitCode = 1;
}

/** The most that any process of a function had resident, in MB. */
function peaksOfFunctions(): Map<string, { readonly memory: number; readonly resident: number }> {
  const peaks = new Map<string, { memory: number; resident: number }>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const said = (file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8");
    try {
      const status = said("status");
      const [, resident = 0] = /VmHWM:\s+(\d+)/.exec(status) ?? [];
      const variables = new Map(
        said("environ")
          .split("\0")
          .map((line) => line.split("=", 2) as [string, string]),
      );
      const name = variables.get("AWS_LAMBDA_FUNCTION_NAME");
      const isOurs = Number(/PPid:\s+(\d+)/.exec(status)?.[1]) === process.pid;
      if (!isOurs || name === undefined) continue;
      const most = Math.max(Number(resident) / 1024, peaks.get(name)?.resident ?? 0);
      peaks.set(name, { memory: Number(variables.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")), resident: most });
    } catch (error) {
      // Of a process that ended meanwhile, or that is another user's, nothing can be read.
      if (!["ENOENT", "ESRCH", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  return peaks;
}

function tell(what: string): void {
  process.stderr.write(`${performance.now().toFixed(0).padStart(7)} ms  ${what}\n`);
}
